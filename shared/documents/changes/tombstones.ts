import type { Collection as Documents, Document as MongoDocument } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import { clock } from '../../core/clock.ts';
import { allOf, type Condition } from '../read/condition.ts';
import { type Counting, countings } from '../revision.ts';
import { isNotGone } from '../trash/trash-conditions.ts';
import { movedNow } from './stamp.ts';

/** A collection as far as deletions deal with it. */
export type Emptied = Pick<Collection, 'name' | 'rls' | 'feed'>;

/**
 * What makes documents into tombstones, which stay for the changes feed until they have been in the trash for its 30
 * days: the deciding write, after which nobody sees them any more. What they hold is removed right after it, as an
 * update cannot both take MongoDB's clock and remove fields that it does not name.
 */
export const burial = ({ operators }: Counting): MongoDocument => ({
  ...operators,
  ...movedNow,
  $set: { isDeleted: true, deletedAt: new Date(clock.now()), _gone: false, ...operators.$set },
});

/** Buried, with all that it held. */
const isFull: Condition = { _gone: false };

/** Leaves of tombstones nothing but what the feed tells of them, and to whom. */
const emptied = ({ rls }: Emptied): MongoDocument[] => [
  {
    $replaceWith: {
      _id: '$_id',
      ...(rls.enabled && { [rls.ownerField]: `$${rls.ownerField}` }),
      isDeleted: { $literal: true },
      deletedAt: '$deletedAt',
      _rev: '$_rev',
      _pos: '$_pos',
      _gone: { $literal: true },
    },
  },
];

/** Removes what tombstones hold that a write has just made, or that an earlier one left. */
export const emptyTombstones = async (documents: Documents, collection: Emptied, among: Condition): Promise<void> => {
  await documents.updateMany(allOf([among, isFull]), emptied(collection));
};

/** Makes those of the chosen documents into tombstones that match; returns how many. */
export const bury = async (
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
