import { clock } from '../core/clock.ts';
import { changeHeld, release } from '../work/lease.ts';
import { queueTask } from '../work/work-queue.ts';
import { discardExport } from './export/discard-export.ts';
import { leasedTransfers, onTransfers, type TransferRecord } from './transfer-record.ts';
import { maxTries, uploadEnd, whenLost } from './transfer-times.ts';
import { wakeNext } from './turns.ts';

/** Thrown when a run must stop: its transfer was cancelled or deleted, or another run has taken it over. */
export class TransferLost extends Error {
  override readonly name = 'TransferLost';
}

export const hasFailedTooOften = ({ tries }: TransferRecord): boolean => tries > maxTries;

const orLost = async (changed: Promise<boolean>): Promise<void> => {
  if (!(await changed)) throw new TransferLost();
};

/** Saves the progress of a run, also of one that was cancelled before it could know: then → `TransferLost`. */
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

/** Ends a transfer that is still this run's own, else → `TransferLost`. */
export const endTransfer = (record: TransferRecord, end: TransferEnd): Promise<void> =>
  orLost(changeHeld(leasedTransfers, record, endOf(record, end)));

/** Ends a transfer that cannot go on, and removes what there is of an export's file. */
export const failTransfer = async (record: TransferRecord, failure: string): Promise<void> => {
  await endTransfer(record, { state: 'failed', failure });
  await discardExport(record);
};

/** Releases a transfer that is still this run's own, for another run to carry on at once; else → `TransferLost`. */
export const releaseTransfer = (record: TransferRecord): Promise<void> =>
  orLost(release(leasedTransfers, record, { $set: { state: 'queued', dueAt: whenLost() }, $unset: { turn: '' } }));

/** Ends a run early and queues the next one, which carries on. */
export const requeueTransfer = async (record: TransferRecord): Promise<void> => {
  await releaseTransfer(record);
  await wakeNext(record);
  await queueTask({ task: 'transfer', transferId: record._id.toHexString() });
};
