import { onProject } from '../../clients/mongo.ts';
import type { Collection } from '../../collections/collection.ts';
import type { Caller, Project } from '../../projects/project.ts';
import { type Document, documentId, documentNotFound } from '../document.ts';
import { presentStored } from '../present.ts';
import { mayRead, visibilityFilter } from '../row-security.ts';
import { isTrashed } from '../trash/trash-conditions.ts';
import { populateDocument } from './populate.ts';
import { refPaths } from './populate-path.ts';

/** Options of reading one document. */
export interface GetDocumentOptions {
  readonly includeDeleted: boolean;
  /** `Ref` fields to replace by their documents, at most 5. */
  readonly populate?: readonly string[];
}

/**
 * Reads one document by its id. Missing, trashed (unless `includeDeleted`) and, in a private collection, another user's
 * → 404; malformed id → 400; private without a user → 401. Asks by `_id` alone and decides the rest here: MongoDB's
 * fastest path.
 */
export const getDocument = async (
  project: Project,
  collection: Collection,
  caller: Caller,
  id: string,
  { includeDeleted, populate = [] }: GetDocumentOptions,
): Promise<Document> => {
  visibilityFilter(collection, caller, includeDeleted);
  refPaths(collection, populate);
  const _id = documentId(id);
  const document = await onProject(project, (db) =>
    db.collection<Document>(collection.name).findOne({ _id }, { maxTimeMS: 5000 }),
  );
  if (!document || (isTrashed(document) && !includeDeleted) || !mayRead(collection, caller, document)) {
    throw documentNotFound();
  }
  const shown = presentStored(project, document);
  return populate.length === 0
    ? shown
    : populateDocument({ project, collection, caller, paths: populate, includeDeleted }, shown);
};
