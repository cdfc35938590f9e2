import type { AnyBulkWriteOperation } from 'mongodb';
import { clock } from '../core/clock.ts';
import { newId } from '../core/new-id.ts';
import { type DeliveryRecord, type DeliveryTry, deliveryRecords } from '../events/delivery-record.ts';
import type { DueEvent, ProjectEvent } from './event-of.ts';
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

/** What a try makes of its row; `told`: what the rest of it is to know, where there is more to tell of its thing. */
interface Outcome {
  readonly set: Pick<DeliveryRecord, 'type' | 'attempts' | 'nextAt'> & Partial<Pick<DeliveryRecord, 'state'>>;
  readonly told: Partial<Pick<DeliveryRecord, 'sent'>>;
}

/** Nothing has happened to the thing since the row was read, nor may be about to. */
const asItWas = ({ _id, marks }: DeliveryRecord) => ({
  _id,
  marks,
  state: 'waiting' as const,
  'ahead.until': { $not: { $gt: new Date(clock.now()) } },
});

/** Has a row go on at once, or when whoever may be about to write its thing has done so. */
const goOn = async ({ _id }: DeliveryRecord, set: object = {}): Promise<void> => {
  const now = new Date(clock.now());
  const nextAt = { $max: { $concatArrays: [[now], { $ifNull: ['$ahead.until', []] }] } };
  await deliveryRecords.updateOne({ _id, state: 'waiting' }, [{ $set: { ...set, nextAt } }]);
};

/** More has happened to the thing of a row: what was sent enters the log, and the row goes on with the rest. */
const splitRow = async (row: DeliveryRecord, { set, told }: Outcome): Promise<void> => {
  const { ahead: _ahead, lastView: _view, ...entry } = row;
  await deliveryRecords.insertOne({ ...entry, ...set, ...told, _id: newId() });
  await goOn(row, { ...told, attempts: [], createdAt: new Date(clock.now()) });
};

/** A row that has nothing to tell (any more) goes, unless more has happened to its thing. */
export const dropRow = async (row: DeliveryRecord): Promise<void> => {
  const { deletedCount } = await deliveryRecords.deleteOne(asItWas(row));
  if (deletedCount === 0) await goOn(row);
};

/** What came of a try: the row of it, the event that was sent, and the receipt. */
export interface Tried extends DueEvent {
  readonly receipt: Receipt;
}

/** After the eighth try that one event fails, or a 410, its delivery has ended. */
const outcomeOf = ({ row, event, receipt }: Tried): Outcome => {
  const attempts = [...row.attempts, attemptOf(event, receipt)].slice(-maxAttempts);
  const { type } = event;
  if (isSuccess(receipt)) {
    return { set: { state: 'delivered', type, attempts, nextAt: null }, told: { sent: event.id } };
  }
  const tries = attempts.filter(({ of }) => of === event.id).length;
  if (tries >= maxTries || receipt.status === 410) {
    return { set: { state: 'failed', type, attempts, nextAt: null }, told: {} };
  }
  const nextAt = new Date(clock.now() + waitAfter(attempts.length, receipt.retryAfter));
  return { set: { type, attempts, nextAt }, told: {} };
};

const writeOf = (row: DeliveryRecord, { set, told }: Outcome): AnyBulkWriteOperation<DeliveryRecord> => ({
  updateOne:
    set.state === undefined
      ? { filter: { _id: row._id, state: 'waiting' }, update: { $set: set } }
      : { filter: asItWas(row), update: { $set: { ...set, ...told }, $unset: { lastView: '', ahead: '' } } },
});

/**
 * Writes down what came of tries, in one command. Something newer of a thing whose delivery has ended has tries of its
 * own.
 */
export const settleDeliveries = async (tries: readonly Tried[]): Promise<void> => {
  const settled = tries.map((one) => ({ row: one.row, outcome: outcomeOf(one) }));
  const writes = settled.map(({ row, outcome }) => writeOf(row, outcome));
  const { matchedCount } = await deliveryRecords.bulkWrite(writes, { ordered: false });
  if (matchedCount === writes.length) return;
  const ended = settled.filter(({ outcome }) => outcome.set.state !== undefined);
  const open = { _id: { $in: ended.map(({ row }) => row._id) }, state: 'waiting' as const };
  const left = await deliveryRecords.find(open, { projection: { _id: 1 } });
  const ids = new Set(left.map(({ _id }) => _id.toHexString()));
  for (const { row, outcome } of ended) if (ids.has(row._id.toHexString())) await splitRow(row, outcome);
};
