import type { Collection } from '../../collections/collection.ts';
import { clock } from '../../core/clock.ts';
import type { Caller, Project } from '../../projects/project.ts';
import { writeCondition } from '../row-security.ts';
import { changeDocument } from '../write/change-document.ts';
import { mergingWhere } from '../write/merge-fields.ts';
import { isStillActive } from './trash-conditions.ts';

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

/** Moves an active document to the trash, in one command; one that stays as it is MongoDB reports as not modified. */
const trash = (project: Project, collection: Collection, caller: Caller, id: string): Promise<true> =>
  changeDocument(project, collection, caller, id, {
    state: 'active',
    write: async (documents, _filter, _id) => {
      const may = { $and: [isStillActive, writeCondition(collection, caller)] };
      const trashed = mergingWhere(may, { isDeleted: true, deletedAt: new Date(clock.now()) });
      return (await documents.updateOne({ _id }, trashed)).modifiedCount === 1 ? true : null;
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
