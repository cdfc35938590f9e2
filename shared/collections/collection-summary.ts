import { findPage } from '../clients/find-page.ts';
import { AppError } from '../core/errors.ts';
import type { Page, PageRequest } from '../core/page.ts';
import type { Project } from '../projects/project.ts';
import type { Collection, Field, RowSecurity } from './collection.ts';
import { type CollectionRecord, toCollection } from './collection-record.ts';
import { activeIn, collectionNotFound, collectionRecords, requireRecord } from './control-collections.ts';
import { estimateDocuments } from './on-collection.ts';
import type { SearchLanguage } from './schema/search-rules.ts';

/** A collection as the dashboard returns it (contract 6, "Records"); `documents` counts the active ones, roughly. */
export interface CollectionSummary extends Pick<CollectionRecord, 'name' | 'createdAt' | 'updatedAt'> {
  readonly schema: Field[] | null;
  readonly rls: RowSecurity;
  /** Absent where it is `none` and was never said. */
  readonly searchLanguage?: SearchLanguage;
  /** Whether it has a changes feed. */
  readonly changes: boolean;
  readonly documents: number;
}

/** A collection with the estimated number of its active documents; asks the database once. */
export const summarize = async (project: Project, record: CollectionRecord): Promise<CollectionSummary> => ({
  name: record.name,
  schema: record.schema && [...record.schema],
  rls: toCollection(record).rls,
  ...(record.searchLanguage && { searchLanguage: record.searchLanguage }),
  changes: record.feed?.on ?? false,
  documents: await estimateDocuments(project, record.name),
  createdAt: record.createdAt,
  updatedAt: record.updatedAt,
});

/** A page of a project's collections, by name. */
export const listCollections = async (project: Project, request: PageRequest): Promise<Page<CollectionSummary>> => {
  const found = await findPage(collectionRecords, activeIn(project), request, { sort: { name: 1 } });
  return { ...found, items: await Promise.all(found.items.map((record) => summarize(project, record))) };
};

/** One collection of a project by its exact name; none → 404 `COLLECTION_NOT_FOUND`. */
export const getCollection = async (project: Project, name: string): Promise<CollectionSummary> =>
  summarize(project, await requireRecord(project, name));

/** What `GET /api/schemas/:collection` shows of a collection; `model` is empty for a schema-free one. */
interface CollectionView {
  readonly name: string;
  readonly model: Field[];
  readonly rls: RowSecurity;
}

/** The schema of a collection for any key; `users` only for the secret one (contract 2, "Schema read"). */
export const getSchema = (
  name: string,
  collection: Collection | undefined,
  keyKind: 'publishable' | 'secret',
): CollectionView => {
  if (name.toLowerCase() === 'users' && keyKind !== 'secret') {
    throw new AppError('SECRET_KEY_REQUIRED', 'The schema of users is only shown to the secret key.');
  }
  if (!collection) throw collectionNotFound(name);
  return { name: collection.name, model: [...(collection.schema ?? [])], rls: collection.rls };
};
