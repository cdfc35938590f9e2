import { setTimeout as pause } from 'node:timers/promises';
import type { CollationOptions, Db, IndexDescription, IndexDescriptionInfo } from 'mongodb';
import { AppError, isClientError } from '../../core/errors.ts';
import { onDuplicateKey } from '../../core/retry.ts';
import { mapConcurrent } from '../../persistence/jobs.ts';
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

/** MongoDB's NamespaceNotFound and IndexNotFound: it was asked to drop a collection or an index that is not there. */
export const isAlreadyGone = (error: unknown): boolean => hasCode(error, 26, 27);

/** MongoDB's IndexBuildAborted and BackgroundOperationInProgressForNamespace: another edit is at the same indexes. */
const isBusy = (error: unknown): boolean => hasCode(error, 276, 12_587);

const busyMs = 100;
const busyTries = 50;

/** Does something to the indexes of a collection, again for some seconds while another edit is at them. */
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

/** Drops an index of a collection, where there is one of this name. */
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

/** A text index is stored under keys of MongoDB's own, and a collection has at most one. */
const isText = (key: IndexDescription['key']): boolean =>
  keysOf(key).some(([path, kind]) => path === '_fts' || kind === 'text');

const hasKeysOf = (existing: IndexDescriptionInfo, wanted: IndexDescription): boolean =>
  JSON.stringify(keysOf(existing.key)) === JSON.stringify(keysOf(wanted.key)) ||
  (isText(existing.key) && isText(wanted.key) && !wanted.name?.startsWith(searchPrefix));

/** In no order, as an object holds keys that look like numbers first. */
const sortedKeys = (key: IndexDescription['key']): string => JSON.stringify(keysOf(key).map(String).sort());

/** Whether it is this one: of its name, and of its keys, of which the owner's field may be another by now. */
const isStill = (existing: IndexDescriptionInfo, wanted: IndexDescription): boolean =>
  existing.name === wanted.name && (isText(existing.key) || sortedKeys(existing.key) === sortedKeys(wanted.key));

const documentsIn = ({ partialFilterExpression }: IndexDescription | IndexDescriptionInfo): string =>
  JSON.stringify(partialFilterExpression ?? {});

/** MongoDB compares texts byte by byte unless an index has a collation. */
const collationOf = ({ collation }: IndexDescription | IndexDescriptionInfo): string => {
  const { locale, strength = 3 } = (collation ?? { locale: 'simple' }) as Partial<CollationOptions>;
  return locale === 'simple' ? '' : `${locale} ${strength}`;
};

/** An index of the developer's own may already do what one of ours would, and MongoDB refuses a second such. */
const serves = (existing: IndexDescriptionInfo, wanted: IndexDescription): boolean =>
  hasKeysOf(existing, wanted) &&
  (existing.name === wanted.name ||
    (documentsIn(existing) === documentsIn(wanted) &&
      !existing.sparse &&
      collationOf(existing) === collationOf(wanted) &&
      (!wanted.unique || existing.unique === true)));

/** MongoDB's IndexOptionsConflict and IndexKeySpecsConflict: the same keys, or the same name, stand already. */
export const isIndexConflict = (error: unknown): boolean => hasCode(error, 85, 86);

/** MongoDB's CannotCreateIndex: a collection has 64 indexes, or the version does not know what one needs. */
const cannotCreateIndex = 67;

const cannotHold = (name: string, cause: unknown): AppError =>
  schemaConflict(
    `The database cannot hold an index that "${name}" needs: it has 64 already, or is older than MongoDB 6.0. Delete indexes, or update the database.`,
    [],
    cause,
  );

/** Builds those that are lacking. One of the database's own that stands in the way → 409 `INDEX_EXISTS`. */
export const buildMissing = async (db: Db, name: string, wanted: readonly IndexDescription[]): Promise<void> => {
  const existing = await existingIndexes(db, name);
  const missing = wanted.filter((index) => !existing.some((candidate) => serves(candidate, index)));
  if (missing.length === 0) return;
  try {
    await onceFree(() => db.collection(name).createIndexes(missing));
  } catch (cause) {
    if (hasCode(cause, cannotCreateIndex)) throw cannotHold(name, cause);
    if (!isIndexConflict(cause)) throw cause;
    const message = `An index that the database has of its own on "${name}" stands in the way of one that is needed. Drop it there first.`;
    throw new AppError('INDEX_EXISTS', message, { cause });
  }
};

/** Builds those of the wanted indexes that are missing, and resolves once they are built. */
export const buildIndexes = (
  project: Project,
  name: string,
  wanted: readonly IndexDescription[],
  limitMs = buildLimitMs,
): Promise<void> => onCollection(project, name, (db) => buildMissing(db, name, wanted), limitMs);

/** Drops the service's own indexes that are not wanted any more, and those named `former`; others stay. */
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

/** Every index that a collection should have: the service's own, and those of the developer's that are built. */
export const wantedIndexes = (record: CollectionRecord): readonly IndexDescription[] => [
  ...managedIndexes(toCollection(record)),
  ...ownOf(record).map((index) => toIndexDescription(index, record)),
];

/** Names under which the developer's own indexes may still be built from before row security was switched. */
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
    const errors = (error.errors ?? []).map(({ field }) => ({ field, message: `${field} must be unique` }));
    throw schemaConflict('Two documents share a value that is to be unique. Change one of them first.', errors, error);
  });

/** Builds unique indexes, which must hold before an edit does. A value that came in twice → 409 `SCHEMA_CONFLICT`. */
export const buildConstraints = (project: Project, collection: Collection, limitMs: number): Promise<void> =>
  build(
    project,
    collection.name,
    managedIndexes(collection).filter(({ unique }) => unique),
    limitMs,
  );

/**
 * Leaves the indexes as the record now has them, whoever wrote it last. Drops first: with all that row security
 * exchanges there would be more than the 64 that a collection may have. Returns that record. `leftMs` says at each step
 * how long it may take, or throws.
 */
export const tidyIndexes = async (project: Project, name: string, leftMs?: () => number): Promise<CollectionRecord> => {
  const current = await requireRecord(project, name);
  const wanted = wantedIndexes(current);
  await dropObsoleteIndexes(project, name, wanted, formerNames(current), leftMs?.());
  await build(project, name, wanted, leftMs?.());
  return current;
};

/** A collection that a database could not be made ready for. */
export interface Unprepared {
  readonly collection: string;
  readonly error: AppError;
}

/** Collections prepared side by side: as many as a customer's database gets connections. */
const workers = 2;

/** The refusal where the time of a request is over before all indexes are built: 503, to be sent again. */
export const outOfTime = ({ placement }: Project): AppError =>
  new AppError(
    placement.kind === 'managed' ? 'SERVICE_UNAVAILABLE' : 'OWN_DATABASE_UNAVAILABLE',
    'The indexes of the collections are still being built in that database. Send this again in a minute; what is built stays.',
    { retryAfter: 60 },
  );

/**
 * Makes the database that a project is placed in ready for its collections: builds what indexes they lack there, those
 * of the developer's own too. Returns the collections whose documents there do not allow it. `users` stay where they
 * are. May be repeated; not done within `limitMs` → 503 `SERVICE_UNAVAILABLE`, of an
 * own database `OWN_DATABASE_UNAVAILABLE`.
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
