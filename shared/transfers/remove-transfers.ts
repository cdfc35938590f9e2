import type { Filter } from 'mongodb';
import { clock } from '../core/clock.ts';
import { managedBucket } from '../files/managed-bucket.ts';
import { abortUpload } from './transfer-file.ts';
import { onTransfers, type TransferRecord, transferKey } from './transfer-record.ts';

const removedAtOnce = 100;

const find = (filter: Filter<TransferRecord>, field: 'expiresAt' | 'fileEndsAt'): Promise<TransferRecord[]> =>
  onTransfers((transfers) =>
    transfers.find(filter, { sort: { [field]: 1 }, limit: removedAtOnce, maxTimeMS: 5000 }).toArray(),
  );

/** The files first, for good: a record that is gone would leave nobody to know of them. */
const removeOutlived = async (): Promise<number> => {
  const now = new Date(clock.now());
  const records = await find({ expiresAt: { $lte: now }, fileEndsAt: { $not: { $gt: now } } }, 'expiresAt');
  if (records.length === 0) return 0;
  for (const record of records) {
    if (record.kind === 'export' && record.uploadId) await abortUpload(transferKey(record), record.uploadId);
  }
  await managedBucket.remove(records.map(transferKey));
  const chosen = { _id: { $in: records.map(({ _id }) => _id) }, expiresAt: { $lte: now } };
  await onTransfers((transfers) => transfers.deleteMany(chosen));
  return records.length;
};

const removeFiles = async (): Promise<number> => {
  const records = await find({ fileEndsAt: { $lte: new Date(clock.now()) } }, 'fileEndsAt');
  if (records.length === 0) return 0;
  await managedBucket.remove(records.map(transferKey));
  const chosen = { _id: { $in: records.map(({ _id }) => _id) } };
  await onTransfers((transfers) => transfers.updateMany(chosen, { $unset: { fileEndsAt: '' } }));
  return records.length;
};

const batchesPerRun = 100;

const repeated = async (removeSome: () => Promise<number>): Promise<number> => {
  let removed = 0;
  for (let batch = 0; batch < batchesPerRun; batch++) {
    const some = await removeSome();
    removed += some;
    if (some < removedAtOnce) break;
  }
  return removed;
};

/** Removes exports and imports that are kept no longer, files and all; returns how many. */
export const removeTransfers = (): Promise<number> => repeated(removeOutlived);

/** Removes the files of imports that have ended, once nobody can upload them again; returns how many. */
export const removeImportedFiles = (): Promise<number> => repeated(removeFiles);
