import type { ObjectId } from 'mongodb';
import { onProject } from '../../clients/mongo.ts';
import type { Collection } from '../../collections/collection.ts';
import { clock } from '../../core/clock.ts';
import { logFailure } from '../../core/log.ts';
import { isWatched, nudge } from '../changes/nudge.ts';
import { buryOne } from '../changes/tombstones.ts';
import { type Document, documentId } from '../document.ts';
import { revisionField, revisionOf } from '../revision.ts';
import type { Visit } from '../row-security.ts';
import { changeDocument, setFields } from '../write/change-document.ts';

/** What is asked of a document that a write deletes: its revision, and whose it was. */
const ofDeleted = ({ rls }: Collection) => ({ isDeleted: 1, [rls.ownerField]: 1, [revisionField]: 1 }) as const;

/** Tells those who watch of a tombstone, which the command that made it does not answer. */
const tellOf = async (visit: Visit, _id: ObjectId): Promise<void> => {
  const { project, collection } = visit;
  if (!isWatched(collection)) return;
  try {
    const projection = ofDeleted(collection);
    const tombstone = await onProject(project, (db) => db.collection(collection.name).findOne({ _id }, { projection }));
    if (tombstone) await nudge(visit, [tombstone as Document]);
  } catch (error) {
    logFailure({ message: 'Nobody was told of a deletion', project: project.id }, error);
  }
};

/**
 * Deletes a document for good, in one command, where it is in the state; otherwise → 404. Where there is a changes feed
 * a tombstone takes its place.
 */
const deletePermanently = async (
  visit: Visit,
  id: string,
  state: 'any' | 'trashed',
  ifMatch?: number,
): Promise<void> => {
  const { collection } = visit;
  const isFed = collection.feed?.on === true;
  const _id = documentId(id);
  await changeDocument(visit, id, {
    state,
    ifMatch,
    write: async (documents, filter, { counting }) => {
      const isDone = isFed
        ? await buryOne(documents, collection, _id, filter, counting)
        : (await documents.deleteOne(filter)).deletedCount === 1;
      return isDone ? true : null;
    },
  });
  if (isFed) await tellOf(visit, _id);
};

/**
 * Moves an active document to the trash, or with `permanent` removes it for good, active or trashed. Missing → 404,
 * also where it is in the trash already; another user's → 403 `NOT_OWNER`; another revision than `ifMatch` → 412.
 * Returns what it did, for people, and the revision of a document that is in the trash now. Specification, "Document
 * lifecycle".
 */
export const deleteDocument = async (visit: Visit, id: string, permanent: boolean, ifMatch?: number) => {
  if (permanent) {
    await deletePermanently(visit, id, 'any', ifMatch);
    return { message: 'Document permanently deleted' };
  }
  const fields = { isDeleted: true, deletedAt: new Date(clock.now()) };
  const change = { state: 'active', ifMatch, fields, projection: ofDeleted(visit.collection) } as const;
  const trashed = await setFields(visit, id, { ...change, isFused: ifMatch === undefined });
  return { message: 'Document moved to trash', revision: revisionOf(trashed) };
};

/** Removes a trashed document for good; missing, or not in the trash → 404, malformed id → 400. */
export const deleteTrashedDocument = async (visit: Visit, id: string): Promise<string> => {
  await deletePermanently(visit, id, 'trashed');
  return 'Document permanently deleted';
};
