import {
  CopyObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { ifThere, onFiles, unlessRefused, unlessStatus } from '../persistence/s3.ts';
import type { MultipartBucket } from './multipart.ts';

/** `etag` includes its quotes. */
export interface StoredObject {
  readonly size: number;
  readonly etag: string;
  readonly contentType: string;
}

/** Copies exactly the version `etag`, and only if the target does not exist. */
interface Copy {
  readonly from: string;
  readonly to: string;
  readonly etag: string;
  readonly contentType: string;
  /** `Content-Disposition` of the copy. */
  readonly disposition?: string | undefined;
}

/** `expiresIn` in seconds. */
interface UploadTerms {
  readonly contentType: string;
  readonly size: number;
  readonly expiresIn: number;
}

interface Download {
  readonly fileName: string;
  readonly contentType: string;
}

/** Throws 503 `SERVICE_UNAVAILABLE` (our bucket) or `STORAGE_UNAVAILABLE` (the customer's). */
export interface Bucket {
  /** URL to PUT exactly these bytes of this type. No network call. */
  presignUpload(key: string, terms: UploadTerms): Promise<string>;
  /** URL to GET an object for `expiresIn` seconds, up to a week; `as` saves it under a name. No network call. */
  presignDownload(key: string, expiresIn: number, as?: Download): Promise<string>;
  /** `null` if the object does not exist. */
  head(key: string): Promise<StoredObject | null>;
  /** `bytes` of exactly the version `etag`, starting at `from`; `undefined` if that version is gone. */
  read(key: string, etag: string, bytes: number, from?: number): Promise<Uint8Array | undefined>;
  /** `signal` cancels the request. */
  put(key: string, bytes: Uint8Array, contentType: string, signal?: AbortSignal): Promise<void>;
  /** `refused`: the source has changed or the target exists. `missing`: no source. */
  copy(copy: Copy): Promise<'copied' | 'refused' | 'missing'>;
  /** Missing objects are ignored. */
  remove(keys: readonly string[]): Promise<void>;
  /** Uploads in parts; only for customers' buckets, which take larger files. */
  readonly parts?: MultipartBucket;
}

/** Errors by which the storage decides (404, 409, 412) pass through; all others are translated. */
export type OnBucket = <T>(call: (client: S3Client, bucket: string) => Promise<T>) => Promise<T>;

/** Only signed if named here; then the storage rejects other types and sizes. */
const signableHeaders = new Set(['content-type', 'content-length']);

const copyCommand = (bucket: string, { from, to, etag, contentType, disposition }: Copy) =>
  new CopyObjectCommand({
    Bucket: bucket,
    CopySource: encodeURI(`${bucket}/${from}`),
    CopySourceIfMatch: etag,
    Key: to,
    IfNoneMatch: '*',
    // Drops metadata of the upload except its type, such as caching or disposition.
    MetadataDirective: 'REPLACE',
    ContentType: contentType,
    ContentDisposition: disposition,
  });

export const s3Bucket = (on: OnBucket): Omit<Bucket, 'remove'> => ({
  presignUpload: (key, { contentType, size, expiresIn }) =>
    on((client, Bucket) =>
      getSignedUrl(client, new PutObjectCommand({ Bucket, Key: key, ContentType: contentType, ContentLength: size }), {
        expiresIn,
        signableHeaders,
      }),
    ),

  presignDownload: (Key, expiresIn, as) =>
    on((client, Bucket) => {
      const saved = as && {
        ResponseContentDisposition: `attachment; filename="${as.fileName}"`,
        ResponseContentType: as.contentType,
      };
      return getSignedUrl(client, new GetObjectCommand({ Bucket, Key, ...saved }), { expiresIn });
    }),

  head: async (key) => {
    const found = await ifThere(on((client, Bucket) => client.send(new HeadObjectCommand({ Bucket, Key: key }))));
    if (!found) return null;
    const { ContentLength: size = 0, ETag: etag = '', ContentType: contentType = 'application/octet-stream' } = found;
    return { size, etag, contentType };
  },

  read: (Key, IfMatch, bytes, from = 0) => {
    const Range = `bytes=${from}-${from + bytes - 1}`;
    const found = on(async (client, Bucket) => {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key, IfMatch, Range }));
      return Body?.transformToByteArray();
    });
    return unlessStatus(found, [404, 412], undefined);
  },

  put: async (key, bytes, contentType, abortSignal) => {
    await on((client, Bucket) =>
      client.send(
        new PutObjectCommand({ Bucket, Key: key, Body: bytes, ContentType: contentType }),
        abortSignal && { abortSignal },
      ),
    );
  },

  copy: async (copy) => {
    const done = on((client, bucket) => client.send(copyCommand(bucket, copy)));
    const copied = await unlessRefused(ifThere(done));
    return copied === 'refused' ? copied : copied ? 'copied' : 'missing';
  },
});

/** Limit of S3. */
const maxRemoved = 1000;

export const managedBucket: Bucket = {
  ...s3Bucket(onFiles),

  remove: (keys) =>
    onFiles(async (client, Bucket) => {
      for (let at = 0; at < keys.length; at += maxRemoved) {
        const Objects = keys.slice(at, at + maxRemoved).map((Key) => ({ Key }));
        const { Errors = [] } = await client.send(
          new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }),
        );
        if (Errors.length > 0) throw new Error(`${Errors.length} objects could not be removed: ${Errors[0]?.Code}`);
      }
    }),
};
