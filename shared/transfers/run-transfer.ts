import { clock } from '../core/clock.ts';
import { describeError, log } from '../core/log.ts';
import { workFor } from '../core/request.ts';
import { managedBucket } from '../files/bucket.ts';
import { type PageJob, type Requeued, requeue, workThroughPages } from '../persistence/jobs.ts';
import { queueTasks } from '../persistence/work-queue.ts';
import { runExport } from './export.ts';
import { runImport } from './import.ts';
import {
  abortUpload,
  claimTransfer,
  discardExport,
  failTransfer,
  releaseTransfer,
  TransferFailure,
  TransferLost,
  wakeNext,
} from './runs.ts';
import { maxTries, runMs, type TransferRecord, transferKey, transferRecords, whenLost } from './transfer.ts';

const work = async (record: TransferRecord, withinMs: number): Promise<void> => {
  const transfer = record._id.toHexString();
  if (record.tries > maxTries) {
    const failure = 'It failed repeatedly. Retry later.';
    // Each failed run has logged the cause.
    log.warn({ job: 'transfer', transfer, failure });
    return failTransfer(record, failure);
  }
  try {
    await (record.kind === 'export' ? runExport(record, withinMs) : runImport(record, withinMs));
  } catch (error) {
    if (error instanceof TransferLost) throw error;
    if (error instanceof TransferFailure) return failTransfer(record, error.message);
    await releaseTransfer(record).catch((cause: unknown) => {
      // A cancelled run can fail in any way, because its file is being deleted.
      if (cause instanceof TransferLost) throw cause;
      log.warn({ transfer, error: describeError(cause) });
    });
    throw error;
  }
};

/**
 * Runs for some minutes and queues the rest. Waits if the owner has two running. Stops before the next part or batch if
 * cancelled.
 */
export const runTransfer = async (id: string, withinMs = runMs): Promise<void> => {
  const record = await claimTransfer(id);
  if (!record) return;
  workFor(record.requestId);
  try {
    await work(record, withinMs);
  } catch (error) {
    if (!(error instanceof TransferLost)) throw error;
    log.info({ job: 'transfer', transfer: id, message: 'It was cancelled, or another run has it' });
    await discardExport(record);
  } finally {
    await wakeNext(record);
  }
};

const now = (): Date => new Date(clock.now());
const among = (records: readonly TransferRecord[]) => ({ _id: { $in: records.map(({ _id }) => _id) } });

/** Transfers without progress for too long. */
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

/** Files are deleted first, because without its record nobody would find a file. */
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

/** Finished imports whose upload link has expired. */
const importedFiles: PageJob<TransferRecord> = {
  ...inPages,
  dueAt: 'fileEndsAt',
  due: () => ({ fileEndsAt: { $lte: now() } }),
  step: removeFiles,
};

/** Requeues stalled transfers and deletes expired ones. Three indexed queries if there is nothing to do. */
export const maintainTransfers = async (): Promise<{ readonly queued: number; readonly removed: number }> => {
  const queued = await requeue(lostTransfers);
  const removed = await workThroughPages(oldTransfers);
  const files = await workThroughPages(importedFiles);
  if (removed + files > 0) log.info({ job: 'maintain-transfers', removed, files });
  return { queued, removed };
};
