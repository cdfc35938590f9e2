import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListPartsCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { ifThere, unlessRefused } from '../persistence/s3.ts';
import type { OnBucket } from './bucket.ts';

const MiB = 1024 * 1024;

/** All parts except the last; S3 requires at least 5 MiB. */
export const partBytes = 8 * MiB;

/** S3 copies objects only up to this size. */
export const maxMultipartBytes = 5 * 1024 * MiB;

interface FilePart {
  /** From 1. */
  readonly number: number;
  /** Bytes. */
  readonly size: number;
}

/** `etag` includes its quotes. */
export interface StoredPart extends FilePart {
  readonly etag: string;
}

/** At most 640. */
export const partsOf = (size: number): readonly FilePart[] =>
  Array.from({ length: Math.ceil(size / partBytes) }, (_, at) => ({
    number: at + 1,
    size: Math.min(partBytes, size - at * partBytes),
  }));

/** Splits the parts into those stored with the right length and the missing ones. */
export const sortParts = (size: number, stored: readonly StoredPart[]) => {
  const known = new Map(stored.map((part) => [part.number, part]));
  const arrived: StoredPart[] = [];
  const missing: FilePart[] = [];
  for (const part of partsOf(size)) {
    const found = known.get(part.number);
    if (found?.size === part.size) arrived.push(found);
    else missing.push(part);
  }
  return { arrived, missing };
};

export interface MultipartUpload {
  readonly key: string;
  readonly uploadId: string;
}

type Version = Pick<StoredPart, 'number' | 'etag'>;

/** Uploads in parts; errors are those of `Bucket`. */
export interface MultipartBucket {
  begin(key: string, contentType: string, disposition?: string): Promise<string>;
  /** All parts except the last need at least 5 MiB. */
  put(upload: MultipartUpload, number: number, bytes: Uint8Array): Promise<Version>;
  /** URL to PUT exactly `size` bytes for `expiresIn` seconds. No network call. */
  presign(upload: MultipartUpload, part: FilePart, expiresIn: number): Promise<string>;
  /** `undefined` if there is no such upload, for example after it was completed. */
  list(upload: MultipartUpload): Promise<readonly StoredPart[] | undefined>;
  /** `refused`: a part has changed or the object exists. `missing`: no such upload. */
  complete(upload: MultipartUpload, parts: readonly Version[]): Promise<'completed' | 'refused' | 'missing'>;
  /** Missing uploads are ignored. */
  abort(upload: MultipartUpload): Promise<void>;
}

/** More than any upload needs; bounds a storage whose list never ends. */
const maxPages = 20;

const changed = new Set(['InvalidPart', 'InvalidPartOrder', 'EntityTooSmall', 'PreconditionFailed']);

/** Only S3's own headers, so that a bucket's CORS rules need no further ones. */
const signableHeaders = new Set(['content-length']);

const target = ({ key, uploadId }: MultipartUpload, Bucket: string) => ({ Bucket, Key: key, UploadId: uploadId });

export const multipartBucket = (on: OnBucket): MultipartBucket => ({
  begin: (Key, ContentType, ContentDisposition) =>
    on(async (client, Bucket) => {
      const { UploadId } = await client.send(
        new CreateMultipartUploadCommand({ Bucket, Key, ContentType, ContentDisposition }),
      );
      if (!UploadId) throw new Error('The storage gave no id for the upload');
      return UploadId;
    }),

  put: (upload, number, Body) =>
    on(async (client, Bucket) => {
      const command = new UploadPartCommand({ ...target(upload, Bucket), PartNumber: number, Body });
      const { ETag: etag = '' } = await client.send(command);
      return { number, etag };
    }),

  presign: (upload, { number, size }, expiresIn) =>
    on((client, Bucket) =>
      getSignedUrl(
        client,
        new UploadPartCommand({ ...target(upload, Bucket), PartNumber: number, ContentLength: size }),
        { expiresIn, signableHeaders },
      ),
    ),

  list: async (upload) => {
    const parts: StoredPart[] = [];
    let after: string | undefined;
    for (let page = 0; page < maxPages; page++) {
      const command = (Bucket: string) => new ListPartsCommand({ ...target(upload, Bucket), PartNumberMarker: after });
      const answer = await ifThere(on((client, Bucket) => client.send(command(Bucket))));
      if (!answer) return undefined;
      for (const { PartNumber: number = 0, Size: size = 0, ETag: etag = '' } of answer.Parts ?? []) {
        parts.push({ number, size, etag });
      }
      if (!answer.IsTruncated) return parts;
      after = answer.NextPartNumberMarker;
    }
    return parts;
  },

  complete: async (upload, parts) => {
    const Parts = parts.map(({ number, etag }) => ({ PartNumber: number, ETag: etag }));
    const done = on((client, Bucket) => {
      const command = { ...target(upload, Bucket), MultipartUpload: { Parts }, IfNoneMatch: '*' };
      return client.send(new CompleteMultipartUploadCommand(command)).catch((error: unknown) => {
        if (changed.has((error as Error).name)) return 'refused' as const;
        throw error;
      });
    });
    const completed = await unlessRefused(ifThere(done));
    return completed === 'refused' ? completed : completed ? 'completed' : 'missing';
  },

  abort: async (upload) => {
    await ifThere(on((client, Bucket) => client.send(new AbortMultipartUploadCommand(target(upload, Bucket)))));
  },
});
