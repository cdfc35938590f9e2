import { ObjectId } from 'mongodb';
import { clock } from '../core/clock.ts';
import { orLog } from '../core/log.ts';
import { unlessTaken } from '../core/until-written.ts';
import { changeHeld, claim, isFree, release } from '../work/lease.ts';
import { queueTask } from '../work/work-queue.ts';
import { queueTransfer } from './new-transfer.ts';
import { discardExport } from './transfer-file.ts';
import { leasedTransfers, type TransferRecord, transferRecords } from './transfer-record.ts';
import { lease, uploadEnd, whenLost } from './transfer-times.ts';

/** How many transfers of one owner run at once: fewer than the queue has runs, so that nobody has them all. */
const mostRunning = 2;

const active = (id: string) => ({ _id: new ObjectId(id), active: true as const });

/** The unique index on turns decides; `taken` where another transfer of its owner has this one. */
const claimTurn = (id: string, turn: number): Promise<TransferRecord | null | 'taken'> => {
  const until = lease();
  const change = {
    $set: { state: 'running', turn, dueAt: until, updatedAt: new Date(clock.now()) },
    $unset: { waits: '' },
    $inc: { tries: 1 },
  } as const;
  return unlessTaken(claim(leasedTransfers, active(id), until, change), () => 'taken');
};

/**
 * Claims a transfer for this run; `null` if it has ended, another run holds it, or it has to wait: as many of its owner
 * are running as may. One that waits is queued again by the next of them that stops, or by the schedule.
 */
export const claimTransfer = async (id: string): Promise<TransferRecord | null> => {
  for (let turn = 0; turn < mostRunning; turn++) {
    const claimed = await claimTurn(id, turn);
    if (claimed !== 'taken') return claimed;
  }
  await transferRecords.updateOne(isFree(leasedTransfers, active(id)), { $set: { waits: true, dueAt: whenLost() } });
  return null;
};

/** Queues the transfer of the same owner that has waited longest; the schedule makes up for failures. */
export const wakeNext = async ({ ownerId }: TransferRecord): Promise<void> => {
  await orLog('warn', { message: 'A transfer waits for the schedule' }, async () => {
    const next = await transferRecords.findOneAndUpdate(
      { ownerId, waits: true, active: true },
      { $unset: { waits: '' }, $set: { dueAt: whenLost() } },
      { sort: { dueAt: 1 }, projection: { _id: 1 } },
    );
    if (next) await queueTransfer(next);
  });
};

/** Thrown when a run must stop: its transfer was cancelled or deleted, or another run has taken it over. */
export class TransferLost extends Error {
  override readonly name = 'TransferLost';
}

const orLost = async (changed: Promise<boolean>): Promise<void> => {
  if (!(await changed)) throw new TransferLost();
};

/**
 * Saves the progress of a run, also of one that was cancelled before it could know: then → `TransferLost`. Returns the
 * record as it is then.
 */
export const saveProgress = async <R extends TransferRecord>(record: R, progress: Partial<R>): Promise<R> => {
  const { _id, leasedUntil } = record;
  const update: object = { $set: { ...progress, tries: 0, updatedAt: new Date(clock.now()) } };
  const before = await transferRecords.findOneAndUpdate({ _id, leasedUntil }, update, { projection: { active: 1 } });
  if (!before?.active) throw new TransferLost();
  return { ...record, ...progress };
};

type TransferEnd = { readonly state: 'done' | 'cancelled' } | { readonly state: 'failed'; readonly failure: string };

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
