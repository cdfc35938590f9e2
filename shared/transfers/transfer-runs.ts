import { clock } from '../core/clock.ts';
import { queueTask } from '../work/work-queue.ts';
import { discardExport } from './export/discard-export.ts';
import { onTransfers, type TransferRecord } from './transfer-record.ts';
import { maxTries, uploadEnd, whenLost } from './transfer-times.ts';
import { wakeNext } from './turns.ts';

/** Thrown when a run must stop: its transfer was cancelled or deleted, or another run has taken it over. */
export class TransferLost extends Error {
  override readonly name = 'TransferLost';
}

/** Whether too many runs have failed to try again. */
export const hasFailedTooOften = ({ tries }: TransferRecord): boolean => tries > maxTries;

/** Changes a transfer that is still this run's own, else → `TransferLost`. */
const change = async ({ _id, leasedUntil }: TransferRecord, update: object): Promise<void> => {
  const { matchedCount } = await onTransfers((transfers) =>
    transfers.updateOne({ _id, active: true, leasedUntil }, update),
  );
  if (matchedCount === 0) throw new TransferLost();
};

/**
 * Saves the progress of a run. Work done before the run could learn of a cancellation counts too; then →
 * `TransferLost`.
 */
export const saveProgress = async <R extends TransferRecord>(record: R, progress: Partial<R>): Promise<void> => {
  const { _id, leasedUntil } = record;
  const update: object = { $set: { ...progress, tries: 0, updatedAt: new Date(clock.now()) } };
  const before = await onTransfers((transfers) =>
    transfers.findOneAndUpdate({ _id, leasedUntil }, update, { projection: { active: 1 } }),
  );
  if (!before?.active) throw new TransferLost();
};

/** How a transfer ended; `failure` is for people. */
export type TransferEnd =
  | { readonly state: 'done' | 'cancelled' }
  | { readonly state: 'failed'; readonly failure: string };

/** The update that ends a transfer: it frees its slot, and an import's file may be removed. */
export const endOf = ({ kind, createdAt }: TransferRecord, end: TransferEnd): object => ({
  $set: {
    ...end,
    updatedAt: new Date(clock.now()),
    ...(kind === 'import' && { fileEndsAt: uploadEnd(createdAt) }),
  },
  $unset: { active: '', slot: '', turn: '', waits: '' },
});

/** Ends a transfer. */
export const endTransfer = (record: TransferRecord, end: TransferEnd): Promise<void> =>
  change(record, endOf(record, end));

/** Ends a transfer that cannot go on, and removes what there is of an export's file. */
export const failTransfer = async (record: TransferRecord, failure: string): Promise<void> => {
  await endTransfer(record, { state: 'failed', failure });
  await discardExport(record);
};

/** Ends a run early and queues the next one, which carries on. */
export const requeue = async (record: TransferRecord): Promise<void> => {
  await release(record);
  await wakeNext(record);
  await queueTask({ task: 'transfer', transferId: record._id.toHexString() });
};

/** Releases the transfer, so that another run can start at once instead of when the lease ends. */
export const release = (record: TransferRecord): Promise<void> =>
  change(record, { $set: { state: 'queued', leasedUntil: new Date(0), dueAt: whenLost() }, $unset: { turn: '' } });
