import type { Document as MongoDocument } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import { clock } from '../../core/clock.ts';
import type { Caller, Project } from '../../projects/project.ts';
import { writeCondition } from '../row-security.ts';
import { changeDocument } from '../write/change-document.ts';

/** Trashes a document where `may` holds; else MongoDB reports it as not modified. */
const trashing = (may: MongoDocument): MongoDocument[] => [
  {
    $set: {
      isDeleted: { $cond: [may, true, '$isDeleted'] },
      deletedAt: { $cond: [may, new Date(clock.now()), '$deletedAt'] },
    },
  },
];

/** Deletes a document for good, in one command, where it is in the state; otherwise → 404. */
const deletePermanently = (
  project: Project,
  collection: Collection,
  caller: Caller,
  id: string,
  state: 'any' | 'trashed',
): Promise<true> =>
  changeDocument(project, collection, caller, id, {
    state,
    write: async (documents, filter) => ((await documents.deleteOne(filter)).deletedCount === 1 ? true : null),
  });

/** Trashes an active document, in one command. Conditions in the update: a filter by `_id` alone is a fifth cheaper. */
const trash = (project: Project, collection: Collection, caller: Caller, id: string): Promise<true> =>
  changeDocument(project, collection, caller, id, {
    state: 'active',
    write: async (documents, _filter, _id) => {
      const may = { $and: [{ $ne: ['$isDeleted', true] }, writeCondition(collection, caller)] };
      return (await documents.updateOne({ _id }, trashing(may))).modifiedCount === 1 ? true : null;
    },
  });

/**
 * Moves an active document to the trash, or with `permanent` removes it for good, active or trashed; returns what was
 * done, for people. Missing → 404, also where it is in the trash already; another user's → 403 `NOT_OWNER`.
 * Specification, "Document lifecycle".
 */
export const deleteDocument = async (
  project: Project,
  collection: Collection,
  caller: Caller,
  id: string,
  permanent: boolean,
): Promise<string> => {
  if (permanent) await deletePermanently(project, collection, caller, id, 'any');
  else await trash(project, collection, caller, id);
  return permanent ? 'Document permanently deleted' : 'Document moved to trash';
};

/** Removes a trashed document for good; missing, or not in the trash → 404, malformed id → 400. */
export const deleteTrashedDocument = async (project: Project, collection: Collection, id: string): Promise<string> => {
  await deletePermanently(project, collection, { kind: 'secret' }, id, 'trashed');
  return 'Document permanently deleted';
};
