import {
  type AnyBulkWriteOperation,
  type Collection as Documents,
  MongoBulkWriteError,
  type Document as MongoDocument,
  type ObjectId,
} from 'mongodb';
import { type Collection, ownerFieldOf } from '../../collections/collection.ts';
import { isNotGone } from '../../collections/trash-conditions.ts';
import { clock } from '../../core/clock.ts';
import { newId } from '../../core/ids.ts';
import { logFailure } from '../../core/log.ts';
import { type Counting, countings } from '../document.ts';
import { allOf, type Condition } from '../query/condition.ts';
import { tombstoned } from './stamps.ts';

/** The parts of a collection that deletions need. */
export type Emptied = Pick<Collection, 'name' | 'rls' | 'feed'>;

/**
 * The update that makes documents tombstones, which stay for the changes feed for the 30 days of the trash. It is
 * the deciding write: after it nobody sees them. Their contents are removed by a second write, because one update
 * cannot both take MongoDB's clock and remove fields that it does not name.
 */
const burial = (counting: Counting, more: MongoDocument = {}): MongoDocument => ({
  ...tombstoned(counting),
  $set: { isDeleted: true, deletedAt: new Date(clock.now()), _gone: false, ...more, ...counting.operators.$set },
});

/** A tombstone whose contents are not removed yet. */
const isFull: Condition = { _gone: false };

/** Keeps only what the feed shows of a tombstone, and to whom. */
const emptied = ({ rls }: Emptied): MongoDocument[] => {
  const ownerField = ownerFieldOf(rls);
  return [
    {
      $replaceWith: {
        _id: '$_id',
        ...(ownerField !== undefined && { [ownerField]: `$${ownerField}` }),
        isDeleted: { $literal: true },
        deletedAt: '$deletedAt',
        _rev: '$_rev',
        _pos: '$_pos',
        _gone: { $literal: true },
      },
    },
  ];
};

/** Removes the contents of tombstones that a write has just made, or that an earlier one left. */
export const emptyTombstones = async (documents: Documents, collection: Emptied, among: Condition): Promise<void> => {
  await documents.updateMany(allOf([among, isFull]), emptied(collection));
};

/** Makes the matching documents tombstones. Returns how many. */
export const writeTombstones = async (
  documents: Documents,
  collection: Emptied,
  chosen: Condition,
  condition: Condition,
): Promise<number> => {
  let buried = 0;
  for (const counting of countings) {
    const filter = allOf([chosen, condition, isNotGone, counting.where]);
    buried += (await documents.updateMany(filter, burial(counting), { hint: '_id_' })).modifiedCount;
  }
  await emptyTombstones(documents, collection, chosen);
  return buried;
};

/**
 * Makes a matching document a tombstone with one command, then removes its contents. If the second step fails, the
 * purge does it.
 */
export const writeTombstone = async (
  documents: Documents,
  collection: Emptied,
  _id: ObjectId,
  condition: Condition,
  counting: Counting,
): Promise<boolean> => {
  // Tells the tombstones of this call from those that another one has not emptied yet.
  const _by = newId();
  const bury: AnyBulkWriteOperation = {
    updateOne: { filter: { ...condition, ...counting.where }, update: burial(counting, { _by }) },
  };
  const empty: AnyBulkWriteOperation = { updateOne: { filter: { _id, _by }, update: emptied(collection) } };
  try {
    return (await documents.bulkWrite([bury, empty])).modifiedCount > 0;
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError) || error.result.modifiedCount === 0) throw error;
    logFailure({ message: 'A tombstone was left as it was', collection: collection.name }, error);
    return true;
  }
};
