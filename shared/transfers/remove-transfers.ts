import { clock } from '../core/clock.ts';
import { managedBucket } from '../files/managed-bucket.ts';
import { type PageJob, workThroughPages } from '../work/page-job.ts';
import { abortUpload } from './transfer-file.ts';
import { onTransfers, type TransferRecord, transferKey } from './transfer-record.ts';

const now = (): Date => new Date(clock.now());
const among = (records: readonly TransferRecord[]) => ({ _id: { $in: records.map(({ _id }) => _id) } });

/** The files first, for good: a record that is gone would leave nobody to know of them. */
const remove = async (records: readonly TransferRecord[]): Promise<number> => {
  for (const record of records) {
    if (record.kind === 'export' && record.uploadId) await abortUpload(transferKey(record), record.uploadId);
  }
  await managedBucket.remove(records.map(transferKey));
  await onTransfers((transfers) => transfers.deleteMany({ ...among(records), expiresAt: { $lte: now() } }));
  return records.length;
};

const removeFiles = async (records: readonly TransferRecord[]): Promise<number> => {
  await managedBucket.remove(records.map(transferKey));
  await onTransfers((transfers) => transfers.updateMany(among(records), { $unset: { fileEndsAt: '' } }));
  return records.length;
};

const inPages = { on: onTransfers, page: 100, limitMs: 60_000 };

/** Exports and imports that are kept no longer. */
export const oldTransfers: PageJob<TransferRecord> = {
  ...inPages,
  dueAt: 'expiresAt',
  due: () => ({ expiresAt: { $lte: now() }, fileEndsAt: { $not: { $gt: now() } } }),
  step: remove,
};

/** Imports that have ended, whose files nobody can upload again. */
export const importedFiles: PageJob<TransferRecord> = {
  ...inPages,
  dueAt: 'fileEndsAt',
  due: () => ({ fileEndsAt: { $lte: now() } }),
  step: removeFiles,
};

/** Removes exports and imports that are kept no longer, files and all; returns how many. */
export const removeTransfers = (): Promise<number> => workThroughPages(oldTransfers);

/** Removes the files of imports that have ended; returns how many. */
export const removeImportedFiles = (): Promise<number> => workThroughPages(importedFiles);
