import { S3Client } from '@aws-sdk/client-s3';
import { fileSettings } from '../core/config.ts';
import { publishCommands } from './publish-commands.ts';
import { serviceUnavailable } from './service-unavailable.ts';
import { timed } from './timed.ts';

/** Longest wait for one call, its one retry included. */
const callLimitMs = 5000;

let client: S3Client | undefined;

const open = (): S3Client =>
  publishCommands(
    new S3Client({
      maxAttempts: 2,
      requestHandler: { connectionTimeout: 1000, requestTimeout: 2400, throwOnRequestTimeout: true },
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      forcePathStyle: fileSettings().AWS_ENDPOINT_URL_S3 !== undefined,
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

/**
 * Runs one call on our bucket. What the storage decides (404, 409, 412) is thrown as the SDK throws it, for the caller
 * to read; everything else becomes `SERVICE_UNAVAILABLE`.
 */
export const onFiles = async <T>(call: (client: S3Client, bucket: string) => Promise<T>): Promise<T> => {
  client ??= open();
  const s3 = client;
  try {
    return await timed(callLimitMs, () => call(s3, fileSettings().FILES_BUCKET));
  } catch (cause) {
    if (isStorageDecision(cause)) throw cause;
    throw serviceUnavailable(cause);
  }
};

/** Closes this process's connections, so that scripts and tests can exit. */
export const closeS3 = (): void => {
  client?.destroy();
  client = undefined;
};
