import { randomUUID } from 'node:crypto';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { onPrivateHost, requirePublic } from '../outbound/http.ts';
import { RestrictedHost } from '../outbound/restricted-addresses.ts';
import { isOverdue, timed } from '../persistence/mongo-commands.ts';
import { storageStatus } from '../persistence/s3.ts';
import { changeProject } from '../projects/change-project.ts';
import type { OwnedProject } from '../projects/find-project.ts';
import type { ProjectView } from '../projects/project-view.ts';
import type { Bucket } from './bucket.ts';
import { externalBucket } from './external-bucket.ts';
import {
  type BucketPlace,
  type ExternalPlace,
  externalStorageId,
  type StorageKeys,
  sealStorageKeys,
} from './storage-keys.ts';

const invalidStorage = (field: string | undefined, message: string, cause?: unknown): AppError =>
  new AppError('INVALID_STORAGE', message, { cause, ...(field ? { errors: [{ field, message }] } : {}) });

/** Requires `https` and a public host, without query and fragment. Throws 400 `INVALID_STORAGE`. */
export const checkedEndpoint = async (text: string): Promise<string> => {
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || /[?#]/.test(text)) {
    throw invalidStorage('endpoint', 'endpoint must have no user name, password, query or fragment');
  }
  await requirePublic(url, 'endpoint', invalidStorage);
  return url.href.replace(/\/+$/, '');
};

const content = Buffer.from('A test of the connection. It may be deleted.\n');
const contentType = 'text/plain';

type Step = 'write' | 'read' | 'copy' | 'delete';

const unknownKeys = new Set(['InvalidAccessKeyId', 'SignatureDoesNotMatch', 'InvalidSecurity', 'Unauthorized']);
const otherRegion = new Set([
  'AuthorizationHeaderMalformed',
  'AuthorizationQueryParametersError',
  'IllegalLocationConstraintException',
  'PermanentRedirect',
  'TemporaryRedirect',
]);

/** The storage's own message is never repeated, because it may reveal internals. */
const storageError = (step: Step, error: unknown): AppError => {
  const origin = error instanceof AppError ? error.cause : error;
  const code = String((origin as { readonly name?: unknown }).name);
  const status = storageStatus(origin);
  const refuse = (field: string | undefined, message: string) => invalidStorage(field, message, origin);
  if (origin instanceof RestrictedHost) return refuse('endpoint', onPrivateHost('endpoint'));
  if (code === 'NoSuchBucket') return refuse('bucket', 'bucket does not exist at this endpoint.');
  if (unknownKeys.has(code) || status === 401) {
    return refuse('accessKeyId', 'The storage rejected accessKeyId and secretAccessKey.');
  }
  if (otherRegion.has(code)) return refuse('region', 'region is not the one of this bucket.');
  if (status === 403) {
    return refuse('accessKeyId', `The storage does not let this access key ${step} objects of the bucket.`);
  }
  if (status === undefined) {
    return refuse('endpoint', 'endpoint could not be reached, or its TLS certificate is not valid.');
  }
  return refuse(undefined, `The storage failed to ${step} a test object; it returned ${status}.`);
};

const attempt = async <T>(step: Step, act: () => Promise<T>): Promise<T> => {
  try {
    return await act();
  } catch (error) {
    throw storageError(step, error);
  }
};

const noStorage = (what: string): Error =>
  invalidStorage('endpoint', `endpoint ${what}: it is not an S3-compatible storage.`);

const runSteps = async (bucket: Bucket, key: string, copy: string): Promise<void> => {
  await attempt('write', () => bucket.put(key, content, contentType));
  const written = await attempt('read', () => bucket.head(key));
  if (written?.size !== content.length) throw noStorage('does not have what was written to it');
  const { etag } = written;
  const disposition = 'inline; filename="test"';
  const copied = await attempt('copy', () => bucket.copy({ from: key, to: copy, etag, contentType, disposition }));
  if (copied !== 'copied') throw noStorage('does not copy what was written to it');
  await attempt('delete', () => bucket.remove([key, copy]));
  if (await attempt('read', () => bucket.head(key))) throw noStorage('still has what was deleted from it');
};

/** Writes, reads, copies and deletes a small object, as uploads do. Throws 400 `INVALID_STORAGE`. */
const tryStorage = async (bucket: Bucket): Promise<void> => {
  const key = `basalt-test/${randomUUID()}`;
  const copy = `${key}-copy`;
  try {
    await runSteps(bucket, key, copy);
  } catch (error) {
    await bucket.remove([key, copy]).catch(() => undefined);
    throw error;
  }
};

/** `publicHost`: base address where everyone can read the objects. */
interface StorageConnection extends StorageKeys, BucketPlace {
  readonly publicHost?: string | null | undefined;
}

const testLimitMs = 5000;

const testConnection = async (connection: StorageConnection, keys: StorageKeys): Promise<string> => {
  try {
    return await timed(testLimitMs, async () => {
      const endpoint = await checkedEndpoint(connection.endpoint);
      await tryStorage(externalBucket({ ...connection, endpoint }, keys));
      return endpoint;
    });
  } catch (error) {
    if (!isOverdue(error)) throw error;
    throw invalidStorage('endpoint', 'endpoint could not be reached, or took longer than 5 s to respond.', error);
  }
};

/** Tests the bucket, then uses it for new files. Throws 400 `INVALID_STORAGE` after 5 s at the latest. */
export const connectStorage = async (owned: OwnedProject, connection: StorageConnection): Promise<ProjectView> => {
  const { region, bucket, publicHost = null, accessKeyId, secretAccessKey } = connection;
  const keys = { accessKeyId, secretAccessKey };
  const endpoint = await testConnection(connection, keys);
  const place = { kind: 'external', endpoint, region, bucket, publicHost } as const;
  const sealedKeys = await sealStorageKeys(owned.project.id, keys);
  const storage = { ...place, id: externalStorageId(place), sealedKeys } satisfies ExternalPlace;
  return changeProject(owned, { $set: { storage, updatedAt: new Date(clock.now()) } });
};

/** Uses our bucket for new files again; the customer's bucket is not touched. */
export const disconnectStorage = (owned: OwnedProject): Promise<ProjectView> =>
  changeProject(owned, { $unset: { storage: '' }, $set: { updatedAt: new Date(clock.now()) } });

/** Any web page may PUT with a presigned URL: the URL is the permission. */
export const uploadCors = {
  origins: ['*'],
  methods: ['PUT', 'GET', 'HEAD'],
  requestHeaders: ['content-type', 'content-length'],
  exposedHeaders: ['etag'],
  maxAgeSeconds: 3600,
} as const;

/** The same as S3's `put-bucket-cors` accepts it, for customers to paste. S3 answers `OPTIONS` itself. */
export const bucketCors = [
  {
    AllowedOrigins: uploadCors.origins,
    AllowedMethods: uploadCors.methods,
    AllowedHeaders: uploadCors.requestHeaders,
    ExposeHeaders: uploadCors.exposedHeaders,
    MaxAgeSeconds: uploadCors.maxAgeSeconds,
  },
];
