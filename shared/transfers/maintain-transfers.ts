import { clock } from '../core/clock.ts';
import { log } from '../core/log.ts';
import { managedBucket } from '../files/bucket.ts';
import { type PageJob, type Requeued, requeue, workThroughPages } from '../work/page-job.ts';
import { queueTasks } from '../work/work-queue.ts';
import { abortUpload } from './transfer-file.ts';
import { type TransferRecord, transferKey, transferRecords } from './transfer-record.ts';
import { whenLost } from './transfer-times.ts';

const now = (): Date => new Date(clock.now());
const among = (records: readonly TransferRecord[]) => ({ _id: { $in: records.map(({ _id }) => _id) } });

/** Exports and imports that have come no further for too long. */
const lostTransfers: Requeued<TransferRecord> = {
  name: 'maintain-transfers',
  records: transferRecords,
  dueAt: 'dueAt',
  due: () => ({ active: true, dueAt: { $lte: now() } }),
  open: { active: true },
  send: (ids) => queueTasks(ids.map((transferId) => ({ task: 'transfer', transferId }))),
  lostAt: whenLost,
  limitMs: 60_000,
};

/** The files first, for good: a record that is gone would leave nobody to know of them. */
const remove = async (records: readonly TransferRecord[]): Promise<number> => {
  for (const record of records) await abortUpload(record);
  await managedBucket.remove(records.map(transferKey));
  await transferRecords.deleteMany({ ...among(records), expiresAt: { $lte: now() } });
  return records.length;
};

const removeFiles = async (records: readonly TransferRecord[]): Promise<number> => {
  await managedBucket.remove(records.map(transferKey));
  await transferRecords.updateMany(among(records), { $unset: { fileEndsAt: '' } });
  return records.length;
};

const inPages = { records: transferRecords, page: 100, limitMs: 60_000 };

const oldTransfers: PageJob<TransferRecord> = {
  ...inPages,
  dueAt: 'expiresAt',
  due: () => ({ expiresAt: { $lte: now() }, fileEndsAt: { $not: { $gt: now() } } }),
  step: remove,
};

/** Imports that have ended, whose files nobody can upload again. */
const importedFiles: PageJob<TransferRecord> = {
  ...inPages,
  dueAt: 'fileEndsAt',
  due: () => ({ fileEndsAt: { $lte: now() } }),
  step: removeFiles,
};

/** Requeues what stalled and removes what has expired; three indexed queries if there is nothing to do. */
export const maintainTransfers = async (): Promise<{ readonly queued: number; readonly removed: number }> => {
  const queued = await requeue(lostTransfers);
  const removed = await workThroughPages(oldTransfers);
  const files = await workThroughPages(importedFiles);
  if (removed + files > 0) log.info({ job: 'maintain-transfers', removed, files });
  return { queued, removed };
};
