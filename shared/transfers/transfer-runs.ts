import { ObjectId } from 'mongodb';
import { clock } from '../clock.ts';
import { queueTask } from '../work/work-queue.ts';
import { discardExport } from './discard-export.ts';
import { onTransfers, type TransferRecord } from './transfer-record.ts';
import { lease, mostTries, uploadEnd, whenLost } from './transfer-times.ts';

/** A run may do no more: its transfer was cancelled or is gone, or another run has taken it over. */
export class TransferTaken extends Error {
  override readonly name = 'TransferTaken';
}

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

/** Changes a transfer that is still this run's own, else → `TransferTaken`. */
const change = async ({ _id, leasedUntil }: TransferRecord, update: object): Promise<void> => {
  const { matchedCount } = await onTransfers((transfers) =>
    transfers.updateOne({ _id, active: true, leasedUntil }, update),
  );
  if (matchedCount === 0) throw new TransferTaken();
};

/**
 * Writes down how far a run has come. What was done before the run could know that its transfer had been cancelled
 * counts too; then → `TransferTaken`.
 */
export const saveProgress = async <R extends TransferRecord>(record: R, progress: Partial<R>): Promise<void> => {
  const { _id, leasedUntil } = record;
  const update: object = { $set: { ...progress, tries: 0, updatedAt: new Date(clock.now()) } };
  const before = await onTransfers((transfers) =>
    transfers.findOneAndUpdate({ _id, leasedUntil }, update, { projection: { active: 1 } }),
  );
  if (!before?.active) throw new TransferTaken();
};

export type TransferEnd =
  | { readonly state: 'done' | 'cancelled' }
  | { readonly state: 'failed'; readonly failure: string };

/** What ends a transfer: it takes no place of its project's any more, and an import needs its file no more. */
export const endOf = ({ kind, createdAt }: TransferRecord, end: TransferEnd): object => ({
  $set: {
    ...end,
    updatedAt: new Date(clock.now()),
    ...(kind === 'import' && { fileEndsAt: uploadEnd(createdAt) }),
  },
  $unset: { active: '', slot: '' },
});

/** Ends a transfer. */
export const endTransfer = (record: TransferRecord, end: TransferEnd): Promise<void> =>
  change(record, endOf(record, end));

/** Ends a transfer that cannot go on, and removes what there is of an export's file. */
export const failTransfer = async (record: TransferRecord, failure: string): Promise<void> => {
  await endTransfer(record, { state: 'failed', failure });
  await discardExport(record);
};

/** Ends a run before its transfer has ended, and has the next one carry on. */
export const sendOn = async (record: TransferRecord): Promise<void> => {
  await giveBack(record);
  await queueTask({ task: 'transfer', transferId: record._id.toHexString() });
};

/** Lets a run that failed be followed by another at once, instead of when its lease ends. */
export const giveBack = (record: TransferRecord): Promise<void> =>
  change(record, { $set: { state: 'queued', leasedUntil: new Date(0), dueAt: whenLost() } });
