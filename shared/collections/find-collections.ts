import type { Db } from 'mongodb';
import { absenceMs, forgetWhenSaved, ShortCache } from '../core/cache.ts';
import { AppError } from '../core/errors.ts';
import type { PageRequest } from '../core/values.ts';
import { onManaged, onProject } from '../persistence/mongo.ts';
import { maxTimeMS } from '../persistence/raw-documents.ts';
import { findPage } from '../persistence/records.ts';
import type { Project } from '../projects/project.ts';
import { allFields, type Collection, type Field, type RowSecurity, type ValueType } from './collection.ts';
import {
  activeIn,
  type CollectionRecord,
  collectionNotFound,
  collectionRecords,
  requireRecord,
  toCollection,
} from './collection-record.ts';
import { usersCollection } from './names.ts';
import { withoutFieldRules } from './schema/field-rights.ts';
import { isInTrash } from './trash-conditions.ts';

/** About what a parsed field takes of memory, in bytes, besides its texts. */
const fieldBytes = 150;

/** The texts that a field keeps besides, those of its elements included; their checks take as much again. */
const textBytes = ({ default: fallback = '', ...value }: Field): number => {
  let bytes = String(fallback).length;
  for (let at: ValueType | undefined = value; at; at = at.items) {
    if (at.enum || at.pattern) bytes += 2 * JSON.stringify([at.enum, at.pattern]).length;
  }
  return bytes;
};

/** How many bytes of collections one cache of a process may remember. */
const maxBytes = 24 * 1024 * 1024;

/** About how many bytes of memory a collection takes that a process remembers: nearly all of it is the schema. */
export const collectionBytes = ({ schema }: Collection): number =>
  allFields(schema ?? []).reduce((sum, field) => sum + fieldBytes + textBytes(field), fieldBytes);

/** What a cache has to know of the answers that it remembers. */
interface Remembered<T> {
  readonly isMiss: (found: T) => boolean;
  readonly bytesOf: (found: T) => number;
  readonly projectIdOf: (found: T) => string | undefined;
}

/**
 * A cache of projects and collections. Settings take effect within 5 s everywhere (contract 1), so nothing is kept for
 * longer, and that something does not exist for half a second. Misses are cached separately, so that a flood of
 * invented keys and names does not evict what exists. What this process saves of a project is forgotten at once.
 */
export const collectionCache = <T>({ isMiss, bytesOf, projectIdOf }: Remembered<T>): ShortCache<T> => {
  const misses = { isMiss, size: 500, ttlMs: absenceMs };
  const cache = new ShortCache<T>(5000, 2000, misses, { of: bytesOf, most: maxBytes });
  forgetWhenSaved((projectId) => cache.forget((_key, found) => projectIdOf(found) === projectId));
  return cache;
};

interface Found {
  readonly collections: ReadonlyMap<string, Collection>;
  readonly projectId: string;
  /** How many names were asked for. */
  readonly wanted: number;
}

const cache = collectionCache<Found>({
  isMiss: ({ collections, wanted }) => collections.size < wanted,
  bytesOf: ({ collections }) => collections.values().reduce((sum, collection) => sum + collectionBytes(collection), 0),
  projectIdOf: ({ projectId }) => projectId,
});

/**
 * The active collections of a project among `names`, by exact name; a name that is not in the answer is not registered.
 * One query at most every 5 s for the same set of names, every half second where some are not there; no query for none.
 */
export const findCollections = async (
  project: Project,
  names: readonly string[],
): Promise<ReadonlyMap<string, Collection>> => {
  const wanted = [...new Set(names)].sort();
  if (wanted.length === 0) return new Map();
  const { collections } = await cache.get(JSON.stringify([project.id, ...wanted]), async () => {
    const found = await collectionRecords.find({ ...activeIn(project), name: { $in: wanted } });
    return {
      collections: new Map(found.map((record) => [record.name, toCollection(record)])),
      projectId: project.id,
      wanted: wanted.length,
    };
  });
  return collections;
};

/** One of them as it is now; not registered → 404 `COLLECTION_NOT_FOUND`. */
export const loadCollection = async (project: Project, name: string): Promise<Collection> =>
  toCollection(await requireRecord(project, name));

/** The same, which may be 5 s old; what was not there is looked for again, as it may have been made since. */
export const requireCollection = async (project: Project, name: string): Promise<Collection> =>
  (await findCollections(project, [name])).get(name) ?? loadCollection(project, name);

/** Runs an operation on the database that holds a collection: `users` is in ours even where the documents are not. */
export const onCollection = <T>(
  project: Project,
  name: string,
  operation: (db: Db) => Promise<T>,
  limitMs?: number,
): Promise<T> => (name === usersCollection ? onManaged : onProject)(project, operation, limitMs);

/**
 * About how many active documents a collection holds, or `withTrash` all, at the same cost at any size: the database's
 * own count, less the trash, by the command `count`, which costs MongoDB half of what an aggregation does.
 */
export const estimateDocuments = (project: Project, name: string, withTrash = false): Promise<number> =>
  onCollection(project, name, async (db) => {
    const [all, trashed] = await Promise.all([
      db.collection(name).estimatedDocumentCount({ maxTimeMS }),
      withTrash ? 0 : db.collection(name).count(isInTrash, { maxTimeMS }),
    ]);
    return Math.max(0, all - trashed);
  });

/** The stored URI of the database that holds a collection, where it is the developer's own. */
export const customerUriOf = ({ placement }: Project, name: string): string | undefined =>
  placement.kind === 'external' && name !== usersCollection ? placement.encryptedUri : undefined;

/** `null` while the project's own database does not answer: all else of a collection is ours, and there. */
const documentsIn = async (project: Project, name: string): Promise<number | null> => {
  try {
    return await estimateDocuments(project, name);
  } catch (error) {
    if (error instanceof AppError && error.code === 'OWN_DATABASE_UNAVAILABLE') return null;
    throw error;
  }
};

/** Row security as it is answered; rules are for developers only. */
const rowSecurityView = ({ readSince: _since, rules, ownerField, ...rls }: RowSecurity, withRules: boolean) => ({
  ...rls,
  ownerField: ownerField === '' ? null : ownerField,
  ...(withRules && rls.mode === 'rules' && rls.enabled && { rules: { ...rules } }),
});

/**
 * A collection as the dashboard returns it (contract 6, "Records"): with the estimated number of its active documents,
 * for which it asks the database once, and whether it has a changes feed.
 */
export const summarize = async (project: Project, record: CollectionRecord) => ({
  name: record.name,
  schema: record.schema && [...record.schema],
  rls: rowSecurityView(toCollection(record).rls, true),
  // Absent where it is `none` and was never said.
  ...(record.searchLanguage && { searchLanguage: record.searchLanguage }),
  ...(record.closed && { closed: true }),
  ...(record.uniqueLists?.length && { unique: [...record.uniqueLists] }),
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
    throw new AppError('SECRET_KEY_REQUIRED', 'Only the secret key can read the schema of users.');
  }
  if (!collection) throw collectionNotFound(name);
  const fields = collection.schema ?? [];
  return {
    name: collection.name,
    model: [...(keyKind === 'secret' ? fields : withoutFieldRules(fields))],
    ...(collection.closed && { closed: true }),
    rls: rowSecurityView(collection.rls, false),
  };
};
