import { clock } from '../core/clock.ts';
import { log } from '../core/log.ts';
import { type Requeued, requeue } from '../work/requeue.ts';
import { queueTasks } from '../work/work-queue.ts';
import { removeImportedFiles, removeTransfers } from './remove-transfers.ts';
import { onTransfers, type TransferRecord } from './transfer-record.ts';
import { whenLost } from './transfer-times.ts';

/** Exports and imports that have come no further for too long. */
export const lostTransfers: Requeued<TransferRecord> = {
  name: 'maintain-transfers',
  on: onTransfers,
  dueAt: 'dueAt',
  due: () => ({ active: true, dueAt: { $lte: new Date(clock.now()) } }),
  open: { active: true },
  send: (ids) => queueTasks(ids.map((transferId) => ({ task: 'transfer', transferId }))),
  lostAt: whenLost,
  limitMs: 60_000,
};

/**
 * Requeues stalled exports and imports, removes expired ones with their files, and the files of finished imports. Costs
 * three indexed queries if there is nothing to do.
 */
export const maintainTransfers = async (): Promise<{ readonly queued: number; readonly removed: number }> => {
  const queued = await requeue(lostTransfers);
  const removed = await removeTransfers();
  const files = await removeImportedFiles();
  if (removed + files > 0) log.info({ job: 'maintain-transfers', removed, files });
  return { queued, removed };
};
