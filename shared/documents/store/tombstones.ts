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
import { onProject } from '../../persistence/mongo.ts';
import { maxTimeMS } from '../../persistence/raw-documents.ts';
import { currentTransaction } from '../../persistence/transaction.ts';
import type { AccessContext } from '../access/access.ts';
import { type Counting, counting, countings, type Document, isAt, revisionField } from '../document.ts';
import { allOf, type Condition } from '../query/condition.ts';
import { movedNow, tombstoned } from './stamps.ts';

/** The parts of a collection that deletions need. */
export type Emptied = Pick<Collection, 'name' | 'rls' | 'feed' | 'partition' | 'effects'>;

/**
 * The update that makes documents tombstones, which stay in the changes feed for 30 days. This write decides: after
 * it, no one sees the documents. A second write removes their contents, because one update cannot both use MongoDB's
 * clock and remove unnamed fields.
 */
const burial = (counting: Counting, more: MongoDocument = {}): MongoDocument => ({
  ...tombstoned(counting),
  $set: { isDeleted: true, deletedAt: new Date(clock.now()), _gone: false, ...more, ...counting.operators.$set },
});

/** A tombstone whose contents are not removed yet. */
const isFull: Condition = { _gone: false };

/** Keeps only the fields that the feed shows, and those that decide who sees the tombstone. */
const emptied = ({ rls, partition }: Emptied): MongoDocument[] => {
  const ownerField = ownerFieldOf(rls);
  return [
    {
      $replaceWith: {
        _id: '$_id',
        ...(ownerField !== undefined && { [ownerField]: `$${ownerField}` }),
        ...(partition !== undefined && { [partition]: `$${partition}` }),
        isDeleted: { $literal: true },
        deletedAt: '$deletedAt',
        _rev: '$_rev',
        _pos: '$_pos',
        _gone: { $literal: true },
        // Emails that are not queued yet.
        _effects: '$_effects',
      },
    },
  ];
};

/** Removes the contents of tombstones that were just written, or that an interrupted write left. */
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
 * purge does it. `more`: hidden fields that it gets.
 */
export const writeTombstone = async (
  documents: Documents,
  collection: Emptied,
  _id: ObjectId,
  condition: Condition,
  counting: Counting,
  more: MongoDocument = {},
): Promise<boolean> => {
  // Distinguishes the tombstones of this call from those of another call that are not emptied yet.
  const _by = newId();
  const bury: AnyBulkWriteOperation = {
    updateOne: { filter: allOf([condition, counting.where]), update: burial(counting, { ...more, _by }) },
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

/** Marks the tombstone of an insert that was undone. */
const undoneField = '_undone';

/**
 * Undoes an insert if the document is still at the revision: removes it, or with a changes feed makes it a tombstone
 * whose id can be used again. Returns false if the document has changed.
 */
export const undoInsert = async (
  documents: Documents,
  collection: Emptied,
  { _id, createdAt }: Document,
  revision: number,
): Promise<boolean> => {
  const own = { _id, createdAt, ...isAt(revision) };
  if (!collection.feed?.on) {
    if ((await documents.deleteOne(own)).deletedCount === 1) return true;
  } else if (await writeTombstone(documents, collection, _id, allOf([own, isNotGone]), counting)) {
    const buried = { _id, _gone: true, ...isAt(revision + 1) };
    await documents.updateOne(buried, { $set: { [undoneField]: true } });
    return true;
  }
  return (await documents.countDocuments({ _id, ...isNotGone }, { maxTimeMS })) === 0;
};

/**
 * Stores a new document in place of the tombstone of an undone insert with the same id. Returns it with its
 * revision, which is higher; `undefined` if the id is taken.
 */
export const reuseId = async (
  { project, collection }: Pick<AccessContext, 'project' | 'collection'>,
  { _id, _rev: _first, _pos: _position, ...fields }: Document,
): Promise<Document | undefined> => {
  // After an error the transaction has ended. Inserts are undone only without transactions.
  if (!collection.feed || currentTransaction.getStore()) return undefined;
  const ownerField = ownerFieldOf(collection.rls);
  const isOwned = ownerField === undefined || Object.hasOwn(fields, ownerField);
  const update: MongoDocument = {
    $set: fields,
    $unset: { _gone: '', [undoneField]: '', ...(!isOwned && { [ownerField]: '' }) },
    $inc: { [revisionField]: 1 },
    ...(collection.feed.on && movedNow),
  };
  const stored = await onProject(project, (db) =>
    db
      .collection(collection.name)
      .findOneAndUpdate({ _id, _gone: true, [undoneField]: true }, update, { returnDocument: 'after' }),
  );
  return (stored as Document | null) ?? undefined;
};
