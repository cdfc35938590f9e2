import { type Db, MongoServerError } from 'mongodb';
import { clock } from '../../core/clock.ts';
import { AppError, isClientError } from '../../core/errors.ts';
import { retryOnConflict } from '../../core/retry.ts';
import { cutText } from '../../core/text.ts';
import { type PageRequest, pageFrom } from '../../core/values.ts';
import { claimStale, type Leased } from '../../persistence/lease.ts';
import { isOutage } from '../../persistence/mongo-errors.ts';
import type { Project } from '../../projects/project.ts';
import { type CollectionRecord, collectionRecords, requireRecord } from '../collection-record.ts';
import { onCollection } from '../find-collections.ts';
import { buildIndexes, buildLimitMs, dropIfThere, isIndexConflict, wantedIndexes } from './build.ts';
import { type CustomIndex, type NewIndex, namesOf, parseNewIndex, toIndexDescription } from './custom-index.ts';

const maxIndexes = 20;
/** Longer than any build is awaited; an older reservation was interrupted. */
const leaseMs = 30_000;

type Reserved = Pick<CustomIndex, 'name' | 'since'>;

const removeIndex = ({ _id }: CollectionRecord, { name, since }: Reserved): Promise<unknown> =>
  collectionRecords.updateOne({ _id, state: 'active' }, { $pull: { indexes: { name, since } } });

const setIndex = async (
  which: Pick<CollectionRecord, '_id'> & Partial<CollectionRecord>,
  { name, since }: Reserved,
  change: Partial<CustomIndex>,
) => {
  const changes = Object.entries(change).map(([key, value]) => [`indexes.$.${key}`, value] as const);
  const { matchedCount } = await collectionRecords.updateOne(
    { ...which, indexes: { $elemMatch: { name, since } } },
    { $set: Object.fromEntries(changes) },
  );
  return matchedCount > 0;
};

/** If the outcome of a build is unknown, lets the next caller clean up immediately. */
const releaseIndex = ({ _id }: CollectionRecord, index: Reserved): Promise<unknown> =>
  setIndex({ _id }, index, { since: new Date(0) });

const confirmIndex = async ({ _id, rls }: CollectionRecord, index: Reserved): Promise<void> => {
  if (await setIndex({ _id, rls }, index, { ready: true })) return;
  const message = 'Building the index took too long, or row security was changed meanwhile. Retry.';
  throw new AppError('SERVICE_UNAVAILABLE', message, { retryAfter: 1 });
};

/** Reserves the name and one of 20 slots with one conditional write. `drop` removes what an interrupted build left. */
const reserveIndex = async (
  record: CollectionRecord,
  wanted: Pick<CustomIndex, 'name' | 'keys'>,
  drop: (name: string) => Promise<void>,
): Promise<CustomIndex> => {
  const now = clock.now();
  for (const index of record.indexes ?? []) {
    if (index.ready || index.since.getTime() > now - leaseMs) continue;
    await drop(index.name);
    await removeIndex(record, index);
  }
  const index: CustomIndex = { ...wanted, ready: false, since: new Date(now) };
  const { matchedCount } = await collectionRecords.updateOne(
    {
      _id: record._id,
      state: 'active',
      'indexes.name': { $ne: index.name },
      [`indexes.${maxIndexes - 1}`]: { $exists: false },
    },
    { $push: { indexes: index } },
  );
  if (matchedCount > 0) return index;
  const current = await collectionRecords.findOne({ _id: record._id });
  throw current?.indexes?.some(({ name }) => name === index.name)
    ? new AppError('INDEX_EXISTS', `An index "${index.name}" exists already.`)
    : new AppError('INVALID_INDEX', `A collection may have at most ${maxIndexes} indexes of your own.`);
};

const toView = ({ name, keys }: Pick<CustomIndex, 'name' | 'keys'>) => ({ name, keys: Object.fromEntries(keys) });

export const listIndexes = async (project: Project, collectionName: string, request: PageRequest) => {
  const { indexes = [] } = await requireRecord(project, collectionName);
  return pageFrom(indexes.filter((index) => index.ready).map(toView), request);
};

/** Converts errors caused by the caller's keys; rethrows all others. */
const orRefusal = (cause: unknown): never => {
  if (!(cause instanceof MongoServerError) || isOutage(cause)) throw cause;
  const [code, message] = isIndexConflict(cause)
    ? ([
        'INDEX_EXISTS',
        'An index with this name or these keys exists already. A collection can have only one text index.',
      ] as const)
    : (['INVALID_INDEX', 'The documents of this collection cannot be indexed by these keys.'] as const);
  throw new AppError(code, message, { cause });
};

export const dropIndex = (project: Project, collectionName: string, name: string): Promise<void> =>
  onCollection(project, collectionName, async (db) => {
    for (const built of namesOf(name)) await dropIfThere(db, collectionName, built);
  });

/**
 * Resolves when the index is built. Throws 400 `INVALID_INDEX` for invalid keys and more than 20 indexes, 409
 * `INDEX_EXISTS`.
 */
export const createIndex = async (project: Project, collectionName: string, input: NewIndex) => {
  const wanted = parseNewIndex(input);
  const record = await requireRecord(project, collectionName);
  const index = await reserveIndex(record, wanted, (name) => dropIndex(project, collectionName, name));
  const built = [toIndexDescription(index, record)];
  const build = (db: Db) => db.collection(collectionName).createIndexes(built).catch(orRefusal);
  try {
    await onCollection(project, collectionName, build, buildLimitMs);
    await confirmIndex(record, index);
  } catch (error) {
    await (isClientError(error) ? removeIndex(record, index) : releaseIndex(record, index)).catch(() => undefined);
    throw error;
  }
  return toView(index);
};

/** Removes an index only if no edit came between, because that may have rebuilt it. */
const unchanged: Leased<CollectionRecord> = {
  records: collectionRecords,
  lease: 'editingSince',
  while: ['updatedAt', 'state'],
};

export const deleteIndex = async (project: Project, collectionName: string, name: string): Promise<void> => {
  const current = await retryOnConflict('The collection is being edited right now. Retry.', async () => {
    const record = await requireRecord(project, collectionName);
    const index = record.indexes?.find((candidate) => candidate.name === name && candidate.ready);
    if (!index) throw new AppError('INDEX_NOT_FOUND', `The collection has no index "${cutText(name, 100)}" of yours.`);
    await dropIndex(project, collectionName, name);
    return claimStale(unchanged, record, { $pull: { indexes: { name, since: index.since } } });
  });
  // The dropped index may have replaced one that the service needs.
  await buildIndexes(project, collectionName, wantedIndexes(current));
};
