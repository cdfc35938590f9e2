import type { AnyBulkWriteOperation, ObjectId } from 'mongodb';
import { clock } from '../core/clock.ts';
import { newId } from '../core/new-id.ts';
import { unlessTaken, untilWritten } from '../core/until-written.ts';
import { type DeliveryRecord, deliveryRecords } from './delivery-record.ts';

/** News of a thing for one webhook. */
export interface News
  extends Pick<DeliveryRecord, 'projectId' | 'webhookId' | 'thing' | 'type'>,
    Partial<Pick<DeliveryRecord, 'isNew' | 'isReplay' | 'lastView' | 'file'>> {
  /** When it may be sent; what waits already keeps its time. */
  readonly from: Date;
  /** Who is about to write the thing, by `from` at the latest. */
  readonly ahead?: ObjectId;
}

const writeOf = (
  { webhookId, thing, projectId, type, from, isNew, ahead, ...said }: News,
  _id: ObjectId,
): AnyBulkWriteOperation<DeliveryRecord> => ({
  updateOne: {
    filter: { webhookId, thing, state: 'waiting' },
    update: {
      $inc: { marks: 1 },
      $set: said,
      ...(ahead && { $addToSet: { ahead: { by: ahead, until: from } } }),
      $setOnInsert: {
        _id,
        projectId,
        type,
        attempts: [],
        nextAt: from,
        createdAt: new Date(clock.now()),
        ...(isNew && { isNew }),
      },
    },
    upsert: true,
  },
});

/**
 * Has news wait: with the row of the same thing that waits already, or in a row of its own. Returns the ids of those.
 * May be repeated.
 */
export const letWait = async (news: readonly News[]): Promise<readonly ObjectId[]> => {
  if (news.length === 0) return [];
  const writes = news.map((one) => writeOf(one, newId()));
  // Two upserts of one thing can meet, of which the unique index then refuses one.
  const { upsertedIds } = await untilWritten('Too much is happening to these at once. Please try again.', () =>
    unlessTaken(deliveryRecords.bulkWrite(writes, { ordered: false }), () => null),
  );
  return Object.values(upsertedIds);
};
