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

const fieldBytes = 150;

/** Texts count twice, because their checks need as much memory again. */
const textBytes = ({ default: fallback = '', ...value }: Field): number => {
  let bytes = String(fallback).length;
  for (let at: ValueType | undefined = value; at; at = at.items) {
    if (at.enum || at.pattern) bytes += 2 * JSON.stringify([at.enum, at.pattern]).length;
  }
  return bytes;
};

const maxBytes = 24 * 1024 * 1024;

/** Approximate memory of a cached collection; nearly all of it is the schema. */
export const collectionBytes = ({ schema, effects }: Collection): number =>
  allFields(schema ?? []).reduce(
    (sum, field) => sum + fieldBytes + textBytes(field),
    fieldBytes + (effects ? 4 * JSON.stringify(effects).length : 0),
  );

interface Remembered<T> {
  readonly isMiss: (found: T) => boolean;
  readonly bytesOf: (found: T) => number;
  readonly projectIdOf: (found: T) => string | undefined;
}

/**
 * Settings take effect within 5 s, so entries live that long; misses live 0.5 s. Misses are cached separately, so that
 * a flood of invented names evicts nothing. Changes by this process invalidate entries immediately.
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
  readonly wanted: number;
}

const cache = collectionCache<Found>({
  isMiss: ({ collections, wanted }) => collections.size < wanted,
  bytesOf: ({ collections }) => collections.values().reduce((sum, collection) => sum + collectionBytes(collection), 0),
  projectIdOf: ({ projectId }) => projectId,
});

/**
 * Returns the active collections among `names`; unknown names are missing from the result. At most one query every 5 s
 * for the same names (0.5 s if some are unknown).
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

/** Reads the current record. Throws 404 `COLLECTION_NOT_FOUND`. */
export const loadCollection = async (project: Project, name: string): Promise<Collection> =>
  toCollection(await requireRecord(project, name));

/** May return a record up to 5 s old; a miss is read again. */
export const requireCollection = async (project: Project, name: string): Promise<Collection> =>
  (await findCollections(project, [name])).get(name) ?? loadCollection(project, name);

/** Chooses the database of a collection: `users` is always in ours. */
export const onCollection = <T>(
  project: Project,
  name: string,
  operation: (db: Db) => Promise<T>,
  limitMs?: number,
): Promise<T> => (name === usersCollection ? onManaged : onProject)(project, operation, limitMs);

/**
 * Estimates the number of documents at constant cost: the database's own count minus the trash. The command `count`
 * costs MongoDB half of an aggregation.
 */
export const estimateDocuments = (project: Project, name: string, withTrash = false): Promise<number> =>
  onCollection(project, name, async (db) => {
    const [all, trashed] = await Promise.all([
      db.collection(name).estimatedDocumentCount({ maxTimeMS }),
      withTrash ? 0 : db.collection(name).count(isInTrash, { maxTimeMS }),
    ]);
    return Math.max(0, all - trashed);
  });

/** The stored URI of the customer's database, if it contains the collection. */
export const customerUriOf = ({ placement }: Project, name: string): string | undefined =>
  placement.kind === 'external' && name !== usersCollection ? placement.encryptedUri : undefined;

/** `null` if the customer's database is unavailable; the rest of the collection is in ours. */
const documentsIn = async (project: Project, name: string): Promise<number | null> => {
  try {
    return await estimateDocuments(project, name);
  } catch (error) {
    if (error instanceof AppError && error.code === 'OWN_DATABASE_UNAVAILABLE') return null;
    throw error;
  }
};

/** Only developers see rules. */
const rowSecurityView = ({ readSince: _since, rules, ownerField, ...rls }: RowSecurity, withRules: boolean) => ({
  ...rls,
  ownerField: ownerField === '' ? null : ownerField,
  ...(withRules && rls.mode === 'rules' && rls.enabled && { rules: { ...rules } }),
});

/** Adds the estimated number of active documents, which costs one query. */
export const summarize = async (project: Project, record: CollectionRecord) => ({
  name: record.name,
  schema: record.schema && [...record.schema],
  rls: rowSecurityView(toCollection(record).rls, true),
  // Absent if it was never set.
  ...(record.searchLanguage && { searchLanguage: record.searchLanguage }),
  ...(record.closed && { closed: true }),
  ...(record.uniqueLists?.length && { unique: [...record.uniqueLists] }),
  ...(record.effects?.length && { effects: [...record.effects] }),
  ...(record.partition && { partition: record.partition }),
  changes: record.feed?.on ?? false,
  documents: await documentsIn(project, record.name),
  createdAt: record.createdAt,
  updatedAt: record.updatedAt,
});

/** Bytes of a collection's documents, the trash included; `null` if the database does not tell. One query. */
const bytesIn = (project: Project, name: string): Promise<number | null> =>
  onCollection(project, name, (db) => db.command({ collStats: name, maxTimeMS })).then(
    ({ size }) => (typeof size === 'number' ? size : null),
    () => null,
  );

/** `stats` adds the number of the developer's indexes, and the bytes of documents. */
export const listCollections = (project: Project, { stats, ...request }: PageRequest & { readonly stats?: unknown }) =>
  findPage(collectionRecords, activeIn(project), request, { sort: { name: 1 } }, async (record) => {
    if (!stats) return summarize(project, record);
    const [summary, bytes] = await Promise.all([summarize(project, record), bytesIn(project, record.name)]);
    return { ...summary, indexes: (record.indexes ?? []).filter(({ ready }) => ready).length, bytes };
  });

export const getCollection = async (project: Project, name: string) =>
  summarize(project, await requireRecord(project, name));

/** Returns an empty schema if there is none. The schema of `users` needs the secret key. */
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
