import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { fileSettings, pageSettings } from '../core/config.ts';
import { publishCommands } from './mongo-commands.ts';
import { serviceClient } from './service-client.ts';

/** Maximum time of one call, its retry included. */
const callLimitMs = 5000;

/** Not every storage knows checksums, and no presigned URL does. */
export const plainChecksums = {
  requestChecksumCalculation: 'WHEN_REQUIRED',
  responseChecksumValidation: 'WHEN_REQUIRED',
} as const;

const open = ({ AWS_ENDPOINT_URL_S3: local }: { readonly AWS_ENDPOINT_URL_S3?: string | undefined }): S3Client =>
  publishCommands(
    new S3Client({
      ...plainChecksums,
      maxAttempts: 2,
      requestHandler: { connectionTimeout: 1000, requestTimeout: 2400, throwOnRequestTimeout: true },
      forcePathStyle: local !== undefined,
    }),
    's3',
    'deserialize',
  );

/** The status of a storage's error response. */
export const storageStatus = (error: unknown): number | undefined =>
  (error as { readonly $metadata?: { readonly httpStatusCode?: number } } | undefined)?.$metadata?.httpStatusCode;

const decisions = new Set<number | undefined>([404, 409, 412]);

/** True if the object is missing or a condition failed: a result, not a fault. */
export const isStorageDecision = (error: unknown): boolean =>
  decisions.has(storageStatus(error)) && (error as Error).name !== 'NoSuchBucket';

/** Returns `decided` if the storage responds with one of these statuses. */
export const unlessStatus = async <T, U>(
  answer: Promise<T>,
  statuses: readonly number[],
  decided: U,
): Promise<T | U> => {
  try {
    return await answer;
  } catch (error) {
    if (statuses.includes(storageStatus(error) ?? 0)) return decided;
    throw error;
  }
};

/** Returns `undefined` if the object does not exist (404). */
export const ifThere = <T>(answer: Promise<T>): Promise<T | undefined> => unlessStatus(answer, [404], undefined);

/** Returns `refused` if a condition failed or another write was in progress. */
export const unlessRefused = <T>(answer: Promise<T>): Promise<T | 'refused'> =>
  unlessStatus(answer, [409, 412], 'refused');

const files = serviceClient(() => open(fileSettings()), callLimitMs, isStorageDecision);

/** 404, 409 and 412 are thrown as the SDK's errors. */
export const onFiles = <T>(call: (client: S3Client, bucket: string) => Promise<T>): Promise<T> =>
  files.on((client) => call(client, fileSettings().FILES_BUCKET));

const pages = serviceClient(() => open(pageSettings()), callLimitMs, isStorageDecision);

/** `onFiles` for the bucket of the console's pages. */
const onPages = <T>(call: (client: S3Client, bucket: string) => Promise<T>): Promise<T> =>
  pages.on((client) => call(client, pageSettings().CONSOLE_BUCKET));

export const consoleFolder = 'site';

/** `path` is `/index.html` for example; `undefined` if there is no such file. */
export const loadConsoleFile = (path: string) =>
  onPages(async (client, Bucket) => {
    const found = await ifThere(client.send(new GetObjectCommand({ Bucket, Key: `${consoleFolder}${path}` })));
    const bytes = await found?.Body?.transformToByteArray();
    if (!found || !bytes) return undefined;
    const {
      ContentType: type = 'application/octet-stream',
      CacheControl: cacheControl = 'no-cache',
      ETag: etag,
    } = found;
    return { bytes, type, cacheControl, etag: etag ?? '' };
  });

export const closeS3 = (): void => {
  files.close();
  pages.close();
};
