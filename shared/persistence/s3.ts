import { S3Client } from '@aws-sdk/client-s3';
import { fileSettings, pageSettings } from '../core/config.ts';
import { publishCommands } from './mongo-commands.ts';
import { serviceClient } from './service-client.ts';

/** Longest wait for one call, its one retry included. */
const callLimitMs = 5000;

/** Checksums are for those that ask for them: not every storage, and no presigned URL, knows them. */
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

/** The status that a storage answered with, if it was one. */
export const storageStatus = (error: unknown): number | undefined =>
  (error as { readonly $metadata?: { readonly httpStatusCode?: number } } | undefined)?.$metadata?.httpStatusCode;

const decisions = new Set<number | undefined>([404, 409, 412]);

/** True where the storage answered that a thing is not there or a condition does not hold: an answer, not a fault. */
export const isStorageDecision = (error: unknown): boolean =>
  decisions.has(storageStatus(error)) && (error as Error).name !== 'NoSuchBucket';

/** What a call answers; `decided` where the storage answers with one of these statuses instead. */
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

/** What a call answers; `undefined` where the storage says that there is no such thing (404). */
export const ifThere = <T>(answer: Promise<T>): Promise<T | undefined> => unlessStatus(answer, [404], undefined);

/** The same; `refused` where a condition of it does not hold, or another write is in its way. */
export const unlessRefused = <T>(answer: Promise<T>): Promise<T | 'refused'> =>
  unlessStatus(answer, [409, 412], 'refused');

const files = serviceClient(() => open(fileSettings()), callLimitMs, isStorageDecision);

/** Runs one call on our bucket; what the storage decides (404, 409, 412) is thrown as the SDK throws it. */
export const onFiles = <T>(call: (client: S3Client, bucket: string) => Promise<T>): Promise<T> =>
  files.on((client) => call(client, fileSettings().FILES_BUCKET));

const pages = serviceClient(() => open(pageSettings()), callLimitMs, isStorageDecision);

/** The same on the bucket of the console's pages. */
export const onPages = <T>(call: (client: S3Client, bucket: string) => Promise<T>): Promise<T> =>
  pages.on((client) => call(client, pageSettings().CONSOLE_BUCKET));

export const closeS3 = (): void => {
  files.close();
  pages.close();
};
