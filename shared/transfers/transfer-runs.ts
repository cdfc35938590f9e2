import { ObjectId } from 'mongodb';
import { clock } from '../clock.ts';
import { queueTask } from '../work/work-queue.ts';
import { onTransfers, type TransferRecord } from './transfer-record.ts';
import { lease, mostTries, whenLost } from './transfer-times.ts';

/** Gives this run a transfer to itself; `null` where it has ended, or another run has it. */
export const claimTransfer = (id: string): Promise<TransferRecord | null> => {
  const leasedUntil = lease();
  const now = new Date(clock.now());
  return onTransfers((transfers) =>
    transfers.findOneAndUpdate(
      { _id: new ObjectId(id), active: true, leasedUntil: { $lte: now } },
      { $set: { state: 'running', leasedUntil, dueAt: leasedUntil, updatedAt: now }, $inc: { tries: 1 } },
      { returnDocument: 'after' },
    ),
  );
};

/** Whether so many runs of a transfer have failed that another one will not help. */
export const isHopeless = ({ tries }: TransferRecord): boolean => tries > mostTries;

/** Changes a transfer that is still this run's own; one that has run out of its time may do no more. */
const change = async ({ _id, leasedUntil }: TransferRecord, update: object): Promise<void> => {
  const { matchedCount } = await onTransfers((transfers) =>
    transfers.updateOne({ _id, active: true, leasedUntil }, update),
  );
  if (matchedCount === 0) throw new Error('Another run has taken the transfer over, or it is gone');
};

/** Writes down how far a run has come. */
export const saveProgress = <R extends TransferRecord>(record: R, progress: Partial<R>): Promise<void> =>
  change(record, { $set: { ...progress, tries: 0, updatedAt: new Date(clock.now()) } });

/** Ends a transfer. */
export const finishTransfer = <R extends TransferRecord>(
  record: R,
  end: { readonly state: 'done' } | { readonly state: 'failed'; readonly failure: string },
): Promise<void> => change(record, { $set: { ...end, updatedAt: new Date(clock.now()) }, $unset: { active: '' } });

/** Ends a run before its transfer has ended, and has the next one carry on. */
export const sendOn = async (record: TransferRecord): Promise<void> => {
  await change(record, { $set: { state: 'queued', leasedUntil: new Date(0), dueAt: whenLost() } });
  await queueTask({ task: 'transfer', transferId: record._id.toHexString() });
};

/** Lets a run that failed be followed by another at once, instead of when its lease ends. */
export const giveBack = (record: TransferRecord): Promise<void> =>
  change(record, { $set: { state: 'queued', leasedUntil: new Date(0), dueAt: whenLost() } });
