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

/** Every part but the last has so many bytes: S3 takes no fewer than 5 MiB. */
export const partBytes = 8 * MiB;

/** What S3 makes of parts may be more, but can be copied up to here alone. */
export const largestInParts = 5 * 1024 * MiB;

interface FilePart {
  /** From 1. */
  readonly number: number;
  /** Bytes. */
  readonly size: number;
}

/** A part that the storage has; `etag` is as the storage writes it. */
export interface StoredPart extends FilePart {
  readonly etag: string;
}

/** The parts of a file of `size` bytes, at most 640. */
export const partsOf = (size: number): readonly FilePart[] =>
  Array.from({ length: Math.ceil(size / partBytes) }, (_, at) => ({
    number: at + 1,
    size: Math.min(partBytes, size - at * partBytes),
  }));

/** Which of them are stored with the length that they must have, and which are missing. */
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

/** An object that is uploaded in parts, and the storage's id of that upload. */
export interface MultipartUpload {
  readonly key: string;
  readonly uploadId: string;
}

/** What tells one making of a part from another. */
type Version = Pick<StoredPart, 'number' | 'etag'>;

/** What a bucket does for objects that are uploaded in parts; failures are those of a `Bucket`. */
export interface MultipartBucket {
  begin(key: string, contentType: string, disposition?: string): Promise<string>;
  /** Writes a part, or replaces it: every one but the last has at least 5 MiB. */
  put(upload: MultipartUpload, number: number, bytes: Uint8Array): Promise<Version>;
  /** A URL to which exactly `size` bytes may be PUT as a part, for some seconds. Made without a network call. */
  presign(upload: MultipartUpload, part: FilePart, expiresIn: number): Promise<string>;
  /** The parts that are there; `undefined` where there is no such upload, as after it was completed. */
  list(upload: MultipartUpload): Promise<readonly StoredPart[] | undefined>;
  /**
   * Makes exactly these parts the object, where nothing is yet: `refused` where one of them has changed or something is
   * there already; `missing` where there is no such upload (any more).
   */
  complete(upload: MultipartUpload, parts: readonly Version[]): Promise<'completed' | 'refused' | 'missing'>;
  /** Gives an upload up; one that is not there does no harm. */
  abort(upload: MultipartUpload): Promise<void>;
}

/** More pages than any upload of ours has: a storage that never ends its list is not followed. */
const mostPages = 20;

const changed = new Set(['InvalidPart', 'InvalidPartOrder', 'EntityTooSmall', 'PreconditionFailed']);

/** Requests with S3's own headers alone, so that none has to be allowed to pages besides those of an upload. */
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
    for (let page = 0; page < mostPages; page++) {
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
