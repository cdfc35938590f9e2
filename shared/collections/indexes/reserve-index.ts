import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import type { CollectionRecord } from '../collection-record.ts';
import { collectionRecords } from '../control-collections.ts';
import type { OwnIndex } from './own-index.ts';

const maxIndexes = 20;
/** Longer than any build of an index is waited for; a reservation that is older was cut short. */
const leaseMs = 30_000;

type Reserved = Pick<OwnIndex, 'name' | 'since'>;

/** Takes an index out of the record: it was never built. */
export const removeIndex = ({ _id }: CollectionRecord, { name, since }: Reserved): Promise<unknown> =>
  collectionRecords.updateOne({ _id, state: 'active' }, { $pull: { indexes: { name, since } } });

const setIndex = async (
  which: Pick<CollectionRecord, '_id'> & Partial<CollectionRecord>,
  { name, since }: Reserved,
  change: Partial<OwnIndex>,
) => {
  const changes = Object.entries(change).map(([key, value]) => [`indexes.$.${key}`, value] as const);
  const { matchedCount } = await collectionRecords.updateOne(
    { ...which, indexes: { $elemMatch: { name, since } } },
    { $set: Object.fromEntries(changes) },
  );
  return matchedCount > 0;
};

/** Lets the next caller clean up at once where nobody knows whether the index was built. */
export const releaseIndex = ({ _id }: CollectionRecord, index: Reserved): Promise<unknown> =>
  setIndex({ _id }, index, { since: new Date(0) });

/** Marks the index as built; from now on it is listed. Its keys are those of the row security that `record` has. */
export const confirmIndex = async ({ _id, rls }: CollectionRecord, index: Reserved): Promise<void> => {
  if (await setIndex({ _id, rls }, index, { ready: true })) return;
  const message = 'Building the index took too long, or row security was changed meanwhile. Please try again.';
  throw new AppError('SERVICE_UNAVAILABLE', message, { retryAfter: 1 });
};

/** Reserves the name and one of 20 places by one conditional write. `drop` removes what a cut-short build left. */
export const reserveIndex = async (
  record: CollectionRecord,
  wanted: Pick<OwnIndex, 'name' | 'keys'>,
  drop: (name: string) => Promise<void>,
): Promise<OwnIndex> => {
  const now = clock.now();
  for (const index of record.indexes ?? []) {
    if (index.ready || index.since.getTime() > now - leaseMs) continue;
    await drop(index.name);
    await removeIndex(record, index);
  }
  const index: OwnIndex = { ...wanted, ready: false, since: new Date(now) };
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
