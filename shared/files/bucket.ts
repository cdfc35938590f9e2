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

/** What a bucket tells of an object. `etag` is as the storage writes it, quotes included. */
export interface StoredObject {
  readonly size: number;
  readonly etag: string;
  readonly contentType: string;
}

/** A copy within a bucket: of exactly the version `etag`, and only to where nothing is yet. */
interface Copy {
  readonly from: string;
  readonly to: string;
  readonly etag: string;
  readonly contentType: string;
  /** `Content-Disposition` of the copy. */
  readonly disposition?: string | undefined;
}

/** What may be PUT to a presigned URL, and for how many seconds. */
interface UploadTerms {
  readonly contentType: string;
  readonly size: number;
  readonly expiresIn: number;
}

/** What a browser saves a download as. */
interface Download {
  readonly fileName: string;
  readonly contentType: string;
}

/**
 * Where the files of a project are kept: one implementation for our bucket, one for S3-compatible ones of the projects'
 * own. A storage that does not answer → 503 `SERVICE_UNAVAILABLE` (ours) or `STORAGE_UNAVAILABLE` (theirs).
 */
export interface Bucket {
  /** A URL to which exactly these bytes of this type may be PUT. Made without a network call. */
  presignUpload(key: string, terms: UploadTerms): Promise<string>;
  /** A URL that anybody may GET an object at for some seconds, up to a week, `as` a file; no network call. */
  presignDownload(key: string, expiresIn: number, as?: Download): Promise<string>;
  /** `null` where there is no such object. */
  head(key: string): Promise<StoredObject | null>;
  /** So many bytes of exactly the version `etag`, from one on; `undefined` where that is not there any more. */
  read(key: string, etag: string, bytes: number, from?: number): Promise<Uint8Array | undefined>;
  /** Given up, and no longer under way, when `signal` says so. */
  put(key: string, bytes: Uint8Array, contentType: string, signal?: AbortSignal): Promise<void>;
  /** `refused` where the source has changed or something is at the target already; `missing` without a source. */
  copy(copy: Copy): Promise<'copied' | 'refused' | 'missing'>;
  /** Removes objects; those that are not there do no harm. */
  remove(keys: readonly string[]): Promise<void>;
  /** For larger files than ours may be, so that our own has none. */
  readonly parts?: MultipartBucket;
}

/** Runs a call on one bucket and translates failures; answers of the storage (404, 409, 412) come through. */
export type OnBucket = <T>(call: (client: S3Client, bucket: string) => Promise<T>) => Promise<T>;

/** Neither is signed into a URL unless it is named; with them the storage itself refuses other types and sizes. */
const signableHeaders = new Set(['content-type', 'content-length']);

const copyCommand = (bucket: string, { from, to, etag, contentType, disposition }: Copy) =>
  new CopyObjectCommand({
    Bucket: bucket,
    CopySource: encodeURI(`${bucket}/${from}`),
    CopySourceIfMatch: etag,
    Key: to,
    IfNoneMatch: '*',
    // Nothing of what came with the upload besides its type is kept, such as its own caching or disposition.
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

/** As many as S3 removes at once. */
const mostRemoved = 1000;

export const managedBucket: Bucket = {
  ...s3Bucket(onFiles),

  remove: (keys) =>
    onFiles(async (client, Bucket) => {
      for (let at = 0; at < keys.length; at += mostRemoved) {
        const Objects = keys.slice(at, at + mostRemoved).map((Key) => ({ Key }));
        const { Errors = [] } = await client.send(
          new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }),
        );
        if (Errors.length > 0) throw new Error(`${Errors.length} objects could not be removed: ${Errors[0]?.Code}`);
      }
    }),
};
