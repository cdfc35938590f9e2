import { ObjectId } from 'mongodb';
import { clock } from '../core/clock.ts';
import { describeError, log } from '../core/log.ts';
import { unlessTaken } from '../core/until-written.ts';
import { claim, isFree } from '../work/lease.ts';
import { queueTransfer } from './new-transfer.ts';
import { leasedTransfers, onTransfers, type TransferRecord } from './transfer-record.ts';
import { lease, whenLost } from './transfer-times.ts';

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
  await onTransfers((transfers) =>
    transfers.updateOne(isFree(leasedTransfers, active(id)), { $set: { waits: true, dueAt: whenLost() } }),
  );
  return null;
};

/** Queues the transfer of the same owner that has waited longest; the schedule makes up for failures. */
export const wakeNext = async ({ ownerId }: TransferRecord): Promise<void> => {
  try {
    const next = await onTransfers((transfers) =>
      transfers.findOneAndUpdate(
        { ownerId, waits: true, active: true },
        { $unset: { waits: '' }, $set: { dueAt: whenLost() } },
        { sort: { dueAt: 1 }, projection: { _id: 1 } },
      ),
    );
    if (next) await queueTransfer(next);
  } catch (error) {
    log.warn({ message: 'A transfer waits for the schedule', error: describeError(error) });
  }
};
