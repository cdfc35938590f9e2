import { describeError, log } from '../../core/log.ts';
import { managedBucket } from '../../files/managed-bucket.ts';
import { abortUpload } from '../transfer-file.ts';
import {
  type ExportRecord,
  onTransfers,
  type TransferRecord,
  type TransferState,
  transferKey,
} from '../transfer-record.ts';

const discarded: ReadonlySet<TransferState> = new Set(['failed', 'cancelled']);

/** Removes what there is of an export's file; what stays now goes once the record has expired. */
export const removeExportFile = async (record: ExportRecord): Promise<void> => {
  const key = transferKey(record);
  try {
    if (record.uploadId) await abortUpload(key, record.uploadId);
    await managedBucket.remove([key]);
  } catch (error) {
    log.warn({ message: 'The file of an export stays', key, error: describeError(error) });
  }
};

/** The same for an export that failed, was cancelled, or is gone. Of other transfers it removes nothing. */
export const discardExport = async (record: TransferRecord): Promise<void> => {
  if (record.kind !== 'export') return;
  const now = await onTransfers((transfers) => transfers.findOne({ _id: record._id }, { maxTimeMS: 5000 }));
  if (!now || discarded.has(now.state)) await removeExportFile(now?.kind === 'export' ? now : record);
};
