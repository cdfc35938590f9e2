import { clock } from '../clock.ts';
import { log } from '../log.ts';
import { managedBucket } from '../storage/managed-bucket.ts';
import { queueTasks, taskBatch } from '../work/work-queue.ts';
import { abortUpload } from './transfer-file.ts';
import { onTransfers, type TransferRecord, transferKey } from './transfer-record.ts';
import { whenLost } from './transfer-times.ts';

const batchesPerRun = 100;
const removedAtOnce = 100;

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

const expired = (): Promise<TransferRecord[]> =>
  onTransfers((transfers) =>
    transfers
      .find(
        { expiresAt: { $lte: new Date(clock.now()) } },
        { sort: { expiresAt: 1 }, limit: removedAtOnce, maxTimeMS: 5000 },
      )
      .toArray(),
  );

/** The files first: a record that is gone would leave nobody to know of them. */
const removeSome = async (): Promise<number> => {
  const records = await expired();
  if (records.length === 0) return 0;
  for (const record of records) {
    if (record.kind === 'export' && record.uploadId) await abortUpload(transferKey(record), record.uploadId);
  }
  await managedBucket.remove(records.map(transferKey));
  await onTransfers((transfers) => transfers.deleteMany({ _id: { $in: records.map(({ _id }) => _id) } }));
  return records.length;
};

/**
 * Puts exports and imports that have not got on in time on the queue again, and removes those that are two days old with
 * their files. Costs two indexed queries where there is nothing to do.
 */
export const tendTransfers = async (): Promise<{ readonly queued: number; readonly removed: number }> => {
  let queued = 0;
  for (let batch = 0; batch < batchesPerRun; batch++) {
    const some = await requeueSome();
    queued += some.queued;
    if (!some.more) break;
  }
  let removed = 0;
  for (let batch = 0; batch < batchesPerRun; batch++) {
    const some = await removeSome();
    removed += some;
    if (some < removedAtOnce) break;
  }
  if (queued + removed > 0) log.info({ job: 'tend-transfers', queued, removed });
  return { queued, removed };
};
