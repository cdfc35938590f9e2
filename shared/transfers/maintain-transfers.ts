import { clock } from '../core/clock.ts';
import { log } from '../core/log.ts';
import { queueTasks, taskBatch } from '../work/work-queue.ts';
import { removeImportedFiles, removeTransfers } from './remove-transfers.ts';
import { onTransfers } from './transfer-record.ts';
import { whenLost } from './transfer-times.ts';

const batchesPerRun = 100;

const requeueSome = async (): Promise<{ readonly queued: number; readonly more: boolean }> => {
  const lost = await onTransfers((transfers) =>
    transfers
      .find(
        { active: true, dueAt: { $lte: new Date(clock.now()) } },
        { projection: { _id: 1 }, sort: { dueAt: 1 }, limit: taskBatch, maxTimeMS: 5000 },
      )
      .toArray(),
  );
  if (lost.length === 0) return { queued: 0, more: false };
  const ids = lost.map(({ _id }) => _id);
  const taken = await queueTasks(ids.map((id) => ({ task: 'transfer', transferId: id.toHexString() })));
  if (taken < ids.length) return { queued: 0, more: false };
  await onTransfers((transfers) =>
    transfers.updateMany({ _id: { $in: ids }, active: true }, { $max: { dueAt: whenLost() } }),
  );
  return { queued: taken, more: ids.length === taskBatch };
};

/**
 * Requeues stalled exports and imports, removes expired ones with their files, and the files of finished imports. Costs
 * three indexed queries if there is nothing to do.
 */
export const maintainTransfers = async (): Promise<{ readonly queued: number; readonly removed: number }> => {
  let queued = 0;
  for (let batch = 0; batch < batchesPerRun; batch++) {
    const some = await requeueSome();
    queued += some.queued;
    if (!some.more) break;
  }
  const removed = await removeTransfers();
  const files = await removeImportedFiles();
  if (queued + removed + files > 0) log.info({ job: 'maintain-transfers', queued, removed, files });
  return { queued, removed };
};
