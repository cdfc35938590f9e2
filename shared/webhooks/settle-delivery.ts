import type { Document } from 'mongodb';
import { clock } from '../core/clock.ts';
import { newId } from '../core/new-id.ts';
import { type DeliveryRecord, type DeliveryTry, deliveryRecords } from '../events/delivery-record.ts';
import type { ProjectEvent } from './event-of.ts';
import { isSuccess, type Receipt } from './post-event.ts';
import { maxTries, waitAfter } from './retry-times.ts';

/** More than the log needs of something that is written again and again while its receiver fails. */
const maxAttempts = 50;

const attemptOf = ({ id }: ProjectEvent, { status, ms, error }: Receipt): DeliveryTry => ({
  at: new Date(clock.now()),
  status,
  ms,
  ...(error !== undefined && { error }),
  of: id,
});

type End = Pick<DeliveryRecord, 'state' | 'type' | 'attempts'> & { readonly nextAt: null };

/** Nothing has happened to the thing since the row was read, nor may be about to. */
const asItWas = ({ _id, marks }: DeliveryRecord) => ({
  _id,
  marks,
  state: 'waiting' as const,
  unsettledUntil: { $not: { $gt: new Date(clock.now()) } },
});

/** Ends a row; where more has happened to its thing, what was sent enters the log and the row goes on with the rest. */
const endRow = async (row: DeliveryRecord, end: End, told: object): Promise<void> => {
  const done = { $set: { ...end, ...told }, $unset: { lastView: '', unsettledUntil: '' } } as Document;
  const { matchedCount } = await deliveryRecords.updateOne(asItWas(row), done);
  if (matchedCount > 0) return;
  const { unsettledUntil: _until, lastView: _view, ...entry } = row;
  await deliveryRecords.insertOne({ ...entry, ...told, ...end, _id: newId() });
  const now = new Date(clock.now());
  await deliveryRecords.updateOne({ _id: row._id, state: 'waiting' }, [
    {
      $set: {
        ...told,
        attempts: [],
        createdAt: now,
        nextAt: { $max: [now, { $ifNull: ['$unsettledUntil', now] }] },
      },
    },
  ]);
};

/** A row that has nothing to tell (any more) goes, unless more has happened to its thing. */
export const dropRow = async (row: DeliveryRecord): Promise<void> => {
  const { deletedCount } = await deliveryRecords.deleteOne(asItWas(row));
  if (deletedCount > 0) return;
  const now = new Date(clock.now());
  await deliveryRecords.updateOne({ _id: row._id, state: 'waiting' }, [
    { $set: { nextAt: { $max: [now, { $ifNull: ['$unsettledUntil', now] }] } } },
  ]);
};

/**
 * Writes down what came of a try. After the eighth that one event fails, or a 410, its delivery has ended; something
 * newer of the same thing has tries of its own.
 */
export const settleDelivery = async (row: DeliveryRecord, event: ProjectEvent, receipt: Receipt): Promise<void> => {
  const attempt = attemptOf(event, receipt);
  const attempts = [...row.attempts, attempt].slice(-maxAttempts);
  const { type } = event;
  if (isSuccess(receipt)) {
    await endRow(row, { state: 'delivered', type, attempts, nextAt: null }, { sent: event.id });
    return;
  }
  const tries = attempts.filter(({ of }) => of === event.id).length;
  if (tries >= maxTries || receipt.status === 410) {
    await endRow(row, { state: 'failed', type, attempts, nextAt: null }, {});
    return;
  }
  const nextAt = new Date(clock.now() + waitAfter(attempts.length, receipt.retryAfter));
  await deliveryRecords.updateOne({ _id: row._id, state: 'waiting' }, { $set: { type, attempts, nextAt } });
};
