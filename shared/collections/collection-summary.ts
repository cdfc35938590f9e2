import { findPage } from '../clients/find-page.ts';
import { AppError } from '../core/errors.ts';
import type { PageRequest } from '../core/page.ts';
import type { Project } from '../projects/project.ts';
import type { Collection } from './collection.ts';
import { type CollectionRecord, toCollection } from './collection-record.ts';
import { activeIn, collectionNotFound, collectionRecords, requireRecord } from './control-collections.ts';
import { estimateDocuments } from './on-collection.ts';

/** `null` while the project's own database does not answer: all else of a collection is ours, and there. */
const documentsIn = async (project: Project, name: string): Promise<number | null> => {
  try {
    return await estimateDocuments(project, name);
  } catch (error) {
    if (error instanceof AppError && error.code === 'OWN_DATABASE_UNAVAILABLE') return null;
    throw error;
  }
};

/**
 * A collection as the dashboard returns it (contract 6, "Records"): with the estimated number of its active documents,
 * for which it asks the database once, and whether it has a changes feed.
 */
export const summarize = async (project: Project, record: CollectionRecord) => ({
  name: record.name,
  schema: record.schema && [...record.schema],
  rls: toCollection(record).rls,
  // Absent where it is `none` and was never said.
  ...(record.searchLanguage && { searchLanguage: record.searchLanguage }),
  changes: record.feed?.on ?? false,
  documents: await documentsIn(project, record.name),
  createdAt: record.createdAt,
  updatedAt: record.updatedAt,
});

/** A page of a project's collections, by name. */
export const listCollections = (project: Project, request: PageRequest) =>
  findPage(collectionRecords, activeIn(project), request, { sort: { name: 1 } }, (record) =>
    summarize(project, record),
  );

/** One collection of a project by its exact name; none → 404 `COLLECTION_NOT_FOUND`. */
export const getCollection = async (project: Project, name: string) =>
  summarize(project, await requireRecord(project, name));

/**
 * The schema of a collection, empty where it has none; of `users` only for the secret key (contract 2, "Schema read").
 */
export const getSchema = (name: string, collection: Collection | undefined, keyKind: 'publishable' | 'secret') => {
  if (name.toLowerCase() === 'users' && keyKind !== 'secret') {
    throw new AppError('SECRET_KEY_REQUIRED', 'The schema of users is only shown to the secret key.');
  }
  if (!collection) throw collectionNotFound(name);
  return { name: collection.name, model: [...(collection.schema ?? [])], rls: collection.rls };
};
