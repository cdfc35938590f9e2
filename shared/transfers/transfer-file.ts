import { onFiles } from '../clients/s3.ts';
import { orLog } from '../core/log.ts';
import { managedBucket, type StoredObject } from '../files/bucket.ts';
import { type MultipartBucket, multipartBucket } from '../files/multipart-bucket.ts';
import { TransferFailure } from './transfer-context.ts';
import { type ExportRecord, type TransferRecord, transferKey, transferRecords } from './transfer-record.ts';

/** The parts that exports are written in. */
export const exportParts = (): MultipartBucket => multipartBucket(onFiles);

/** Gives up what an export has written of its file, where it has begun. */
export const abortUpload = async (record: TransferRecord): Promise<void> => {
  if (record.kind !== 'export' || record.uploadId === undefined) return;
  await exportParts().abort({ key: transferKey(record), uploadId: record.uploadId });
};

/** How much of an object is held at once: it comes in time also over a slow way. */
const pieceBytes = 4 * 1024 * 1024;

/**
 * The bytes of an object from one on, piece by piece. Where it is gone, or another is in its place → `TransferFailure`.
 */
export const objectPieces = async function* (
  key: string,
  { size, etag }: Pick<StoredObject, 'size' | 'etag'>,
  from: number,
): AsyncGenerator<Uint8Array> {
  for (let at = from; at < size; at += pieceBytes) {
    const piece = await managedBucket.read(key, etag, pieceBytes, at);
    if (!piece) throw new TransferFailure('The file was removed, or another was uploaded in its place.');
    yield piece;
  }
};

/** Removes what there is of an export's file; what stays now goes once the record has expired. */
export const removeExportFile = async (record: ExportRecord): Promise<void> => {
  const key = transferKey(record);
  await orLog('warn', { message: 'The file of an export stays', key }, async () => {
    await abortUpload(record);
    await managedBucket.remove([key]);
  });
};

/** The same for an export that failed, was cancelled, or is gone. Of other transfers it removes nothing. */
export const discardExport = async (record: TransferRecord): Promise<void> => {
  if (record.kind !== 'export') return;
  const now = await transferRecords.findOne({ _id: record._id });
  if (!now || now.state === 'failed' || now.state === 'cancelled')
    await removeExportFile(now?.kind === 'export' ? now : record);
};
