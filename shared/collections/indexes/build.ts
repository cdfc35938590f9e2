import { setTimeout as pause } from 'node:timers/promises';
import type { CollationOptions, Db, IndexDescription, IndexDescriptionInfo } from 'mongodb';
import { mapConcurrent } from '../../core/concurrency.ts';
import { AppError, isClientError } from '../../core/errors.ts';
import { onDuplicateKey } from '../../core/retry.ts';
import { hasCode } from '../../persistence/mongo-errors.ts';
import type { Project } from '../../projects/project.ts';
import type { Collection } from '../collection.ts';
import { activeRecords, type CollectionRecord, requireRecord, toCollection } from '../collection-record.ts';
import { onCollection } from '../find-collections.ts';
import { usersCollection } from '../names.ts';
import { schemaConflict } from '../schema/schema-changes.ts';
import { namesOf, toIndexDescription } from './custom-index.ts';
import { managedIndexes, managedPrefix, searchPrefix } from './indexes.ts';

/** Building an index reads the whole collection; API Gateway waits 30 s. */
export const buildLimitMs = 22_000;

export const isAlreadyGone = (error: unknown): boolean => hasCode(error, 26, 27);

/** IndexBuildAborted and BackgroundOperationInProgressForNamespace: another edit is changing the same indexes. */
const isBusy = (error: unknown): boolean => hasCode(error, 276, 12_587);

const busyMs = 100;
const busyTries = 50;

/** Retries for some seconds while another edit is changing the indexes. */
const onceFree = async (act: () => Promise<unknown>): Promise<void> => {
  for (let tries = 1; ; tries++) {
    try {
      await act();
      return;
    } catch (error) {
      if (!isBusy(error) || tries === busyTries) throw error;
      await pause(busyMs);
    }
  }
};

export const dropIfThere = async (db: Db, name: string, index: string): Promise<void> => {
  try {
    await onceFree(() => db.collection(name).dropIndex(index));
  } catch (error) {
    if (!isAlreadyGone(error)) throw error;
  }
};

const existingIndexes = async (db: Db, name: string): Promise<IndexDescriptionInfo[]> => {
  try {
    return await db.collection(name).listIndexes().toArray();
  } catch (error) {
    if (isAlreadyGone(error)) return [];
    throw error;
  }
};

const keysOf = (key: IndexDescription['key']): readonly (readonly [string, unknown])[] =>
  key instanceof Map ? [...key] : Object.entries(key);

/** MongoDB stores a text index under its own keys; a collection has at most one. */
const isText = (key: IndexDescription['key']): boolean =>
  keysOf(key).some(([path, kind]) => path === '_fts' || kind === 'text');

const hasKeysOf = (existing: IndexDescriptionInfo, wanted: IndexDescription): boolean =>
  JSON.stringify(keysOf(existing.key)) === JSON.stringify(keysOf(wanted.key)) ||
  (isText(existing.key) && isText(wanted.key) && !wanted.name?.startsWith(searchPrefix));

/** Sorted, because objects list numeric keys first. */
const sortedKeys = (key: IndexDescription['key']): string => JSON.stringify(keysOf(key).map(String).sort());

/** Compares name and keys, because the owner field may have changed. */
const isStill = (existing: IndexDescriptionInfo, wanted: IndexDescription): boolean =>
  existing.name === wanted.name && (isText(existing.key) || sortedKeys(existing.key) === sortedKeys(wanted.key));

const documentsIn = ({ partialFilterExpression }: IndexDescription | IndexDescriptionInfo): string =>
  JSON.stringify(partialFilterExpression ?? {});

/** Without a collation MongoDB compares bytes. */
const collationOf = ({ collation }: IndexDescription | IndexDescriptionInfo): string => {
  const { locale, strength = 3 } = (collation ?? { locale: 'simple' }) as Partial<CollationOptions>;
  return locale === 'simple' ? '' : `${locale} ${strength}`;
};

/** A developer's index may be equivalent to one of ours; MongoDB rejects a second one. */
const serves = (existing: IndexDescriptionInfo, wanted: IndexDescription): boolean =>
  hasKeysOf(existing, wanted) &&
  (existing.name === wanted.name ||
    (documentsIn(existing) === documentsIn(wanted) &&
      !existing.sparse &&
      collationOf(existing) === collationOf(wanted) &&
      (!wanted.unique || existing.unique === true)));

/** IndexOptionsConflict and IndexKeySpecsConflict: the keys or the name exist already. */
export const isIndexConflict = (error: unknown): boolean => hasCode(error, 85, 86);

/** CannotCreateIndex: there are 64 indexes, or the MongoDB version lacks a feature. */
const cannotCreateIndex = 67;

const cannotHold = (name: string, cause: unknown): AppError =>
  schemaConflict(
    `The database cannot hold an index that "${name}" needs: it has 64 already, or is older than MongoDB 6.0. Delete indexes, or update the database.`,
    [],
    cause,
  );

/** Throws 409 `INDEX_EXISTS` if an existing index of the customer's database conflicts. */
export const buildMissing = async (db: Db, name: string, wanted: readonly IndexDescription[]): Promise<void> => {
  const existing = await existingIndexes(db, name);
  const missing = wanted.filter((index) => !existing.some((candidate) => serves(candidate, index)));
  if (missing.length === 0) return;
  try {
    await onceFree(() => db.collection(name).createIndexes(missing));
  } catch (cause) {
    if (hasCode(cause, cannotCreateIndex)) throw cannotHold(name, cause);
    if (!isIndexConflict(cause)) throw cause;
    const message = `An index that the database already has on "${name}" conflicts with a required one. Drop it there first.`;
    throw new AppError('INDEX_EXISTS', message, { cause });
  }
};

export const buildIndexes = (
  project: Project,
  name: string,
  wanted: readonly IndexDescription[],
  limitMs = buildLimitMs,
): Promise<void> => onCollection(project, name, (db) => buildMissing(db, name, wanted), limitMs);

/** Drops the service's indexes that are not wanted, and those named `former`; others stay. */
const dropObsoleteIndexes = (
  project: Project,
  name: string,
  wanted: readonly IndexDescription[],
  former: readonly string[],
  limitMs?: number,
): Promise<void> =>
  onCollection(
    project,
    name,
    async (db) => {
      for (const index of await existingIndexes(db, name)) {
        if (index.name === undefined || wanted.some((one) => isStill(index, one))) continue;
        if (!index.name.startsWith(managedPrefix) && !former.includes(index.name)) continue;
        await dropIfThere(db, name, index.name);
      }
    },
    limitMs,
  );

const ownOf = ({ indexes = [] }: CollectionRecord) => indexes.filter(({ ready }) => ready);

export const wantedIndexes = (record: CollectionRecord): readonly IndexDescription[] => [
  ...managedIndexes(toCollection(record)),
  ...ownOf(record).map((index) => toIndexDescription(index, record)),
];

/** Names of developers' indexes that were built before row security changed. */
export const formerNames = (record: CollectionRecord): readonly string[] => {
  const wanted = new Set(wantedIndexes(record).map(({ name }) => name));
  return ownOf(record)
    .flatMap(({ name }) => namesOf(name))
    .filter((name) => !wanted.has(name));
};

const build = (
  project: Project,
  name: string,
  wanted: readonly IndexDescription[],
  limitMs: number | undefined,
): Promise<void> =>
  onDuplicateKey(buildIndexes(project, name, wanted, limitMs), (error) => {
    const errors = (error.errors ?? []).map(({ field = '' }) => ({ field, message: `${field} must be unique` }));
    throw schemaConflict(
      'Two documents have the same value in a unique field. Change one of them first.',
      errors,
      error,
    );
  });

/**
 * Builds unique indexes, which must exist before an edit takes effect. Throws 409 `SCHEMA_CONFLICT` for duplicate
 * values.
 */
export const buildConstraints = (project: Project, collection: Collection, limitMs: number): Promise<void> =>
  build(
    project,
    collection.name,
    managedIndexes(collection).filter(({ unique }) => unique),
    limitMs,
  );

/**
 * Makes the indexes match the current record, which it returns. Drops first, because a collection can have at most 64.
 * `leftMs` returns the remaining time, or throws.
 */
export const tidyIndexes = async (project: Project, name: string, leftMs?: () => number): Promise<CollectionRecord> => {
  const current = await requireRecord(project, name);
  const wanted = wantedIndexes(current);
  await dropObsoleteIndexes(project, name, wanted, formerNames(current), leftMs?.());
  await build(project, name, wanted, leftMs?.());
  return current;
};

export interface Unprepared {
  readonly collection: string;
  readonly error: AppError;
}

/** As many as a customer's database gets connections. */
const workers = 2;

/** 503; the caller can retry. */
export const outOfTime = ({ placement }: Project): AppError =>
  new AppError(
    placement.kind === 'managed' ? 'SERVICE_UNAVAILABLE' : 'OWN_DATABASE_UNAVAILABLE',
    'The indexes of the collections are still being built in that database. Retry in a minute: the indexes built so far are kept.',
    { retryAfter: 60 },
  );

/**
 * Builds all missing indexes in the project's database, except those of `users`. Returns collections whose documents
 * prevent it. Idempotent. Throws 503 `SERVICE_UNAVAILABLE` or `OWN_DATABASE_UNAVAILABLE` after `limitMs`.
 */
export const prepareDatabase = async (project: Project, limitMs: number): Promise<readonly Unprepared[]> => {
  const waiting = (await activeRecords(project, { sort: { slot: 1 } })).filter(({ name }) => name !== usersCollection);
  const end = performance.now() + limitMs;
  const unprepared: Unprepared[] = [];
  await mapConcurrent(waiting, workers, async (record) => {
    const leftMs = end - performance.now();
    if (leftMs < 100) throw outOfTime(project);
    try {
      await buildIndexes(project, record.name, wantedIndexes(record), leftMs);
    } catch (error) {
      if (performance.now() >= end) throw outOfTime(project);
      if (!isClientError(error)) throw error;
      unprepared.push({ collection: record.name, error });
    }
  });
  return unprepared;
};
