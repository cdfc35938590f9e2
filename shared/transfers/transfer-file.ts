import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { ifThere, onFiles } from '../clients/s3.ts';
import { orLog } from '../core/log.ts';
import { managedBucket, type StoredObject } from '../files/bucket.ts';
import { TransferFailure } from './transfer-context.ts';
import {
  type ExportRecord,
  type TransferRecord,
  type TransferState,
  transferKey,
  transferRecords,
} from './transfer-record.ts';
import { linkSeconds } from './transfer-times.ts';

export type Part = ExportRecord['parts'][number];

const contentType = 'application/octet-stream';

/** Begins an object that is written in parts; returns the id of the upload. */
export const beginUpload = (key: string): Promise<string> =>
  onFiles(async (client, Bucket) => {
    const { UploadId } = await client.send(
      new CreateMultipartUploadCommand({ Bucket, Key: key, ContentType: contentType }),
    );
    if (!UploadId) throw new Error('The storage gave no id for the upload');
    return UploadId;
  });

/** Writes one part: every one but the last has at least 5 MiB. Writing it again replaces it. */
export const uploadPart = (key: string, UploadId: string, PartNumber: number, Body: Uint8Array): Promise<Part> =>
  onFiles(async (client, Bucket) => {
    const { ETag = '' } = await client.send(new UploadPartCommand({ Bucket, Key: key, UploadId, PartNumber, Body }));
    return { PartNumber, ETag };
  });

/** Makes the parts the object. False where the storage knows no such upload, as after it was completed already. */
export const completeUpload = async (key: string, UploadId: string, parts: readonly Part[]): Promise<boolean> => {
  const upload = { Key: key, UploadId, MultipartUpload: { Parts: [...parts] } };
  const completed = onFiles((client, Bucket) => client.send(new CompleteMultipartUploadCommand({ Bucket, ...upload })));
  return (await ifThere(completed)) !== undefined;
};

/** Gives an upload up; one that the storage does not know does no harm. */
export const abortUpload = async (key: string, UploadId: string): Promise<void> => {
  await ifThere(
    onFiles((client, Bucket) => client.send(new AbortMultipartUploadCommand({ Bucket, Key: key, UploadId }))),
  );
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
    const Range = `bytes=${at}-${Math.min(at + pieceBytes, size) - 1}`;
    const piece = await ifThere(
      onFiles(async (client, Bucket) => {
        const { Body, ETag } = await client.send(new GetObjectCommand({ Bucket, Key: key, Range }));
        return ETag === etag ? Body?.transformToByteArray() : undefined;
      }),
    );
    if (!piece) throw new TransferFailure('The file was removed, or another was uploaded in its place.');
    yield piece;
  }
};

/** A link by which anybody can download an object, under this name, for an hour; no network call. */
export const downloadLink = (key: string, fileName: string, type: string): Promise<string> =>
  onFiles((client, Bucket) =>
    getSignedUrl(
      client,
      new GetObjectCommand({
        Bucket,
        Key: key,
        ResponseContentDisposition: `attachment; filename="${fileName}"`,
        ResponseContentType: type,
      }),
      { expiresIn: linkSeconds },
    ),
  );

const discarded: ReadonlySet<TransferState> = new Set(['failed', 'cancelled']);

/** Removes what there is of an export's file; what stays now goes once the record has expired. */
export const removeExportFile = async (record: ExportRecord): Promise<void> => {
  const key = transferKey(record);
  await orLog('warn', { message: 'The file of an export stays', key }, async () => {
    if (record.uploadId) await abortUpload(key, record.uploadId);
    await managedBucket.remove([key]);
  });
};

/** The same for an export that failed, was cancelled, or is gone. Of other transfers it removes nothing. */
export const discardExport = async (record: TransferRecord): Promise<void> => {
  if (record.kind !== 'export') return;
  const now = await transferRecords.findOne({ _id: record._id });
  if (!now || discarded.has(now.state)) await removeExportFile(now?.kind === 'export' ? now : record);
};
