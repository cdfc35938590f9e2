import { randomUUID } from 'node:crypto';
import { checkedAddresses } from '../clients/net/pinned-lookup.ts';
import { isPermitted, RestrictedHost } from '../clients/net/restricted-host.ts';
import { storageStatus } from '../clients/s3.ts';
import { AppError } from '../core/errors.ts';
import type { Bucket } from './bucket.ts';

/** A storage that cannot be connected → 400 `INVALID_STORAGE`, naming the field that is wrong, if it is one. */
export const invalidStorage = (message: string, field: string | undefined, cause?: unknown): AppError =>
  new AppError('INVALID_STORAGE', message, { cause, ...(field ? { errors: [{ field, message }] } : {}) });

export const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === 'http:' ? 80 : 443));

/** The refusal of an endpoint that is, or leads, where no customer may go. */
const privateEndpoint = (): AppError =>
  invalidStorage('endpoint must be a host on the public internet; this one is private or reserved.', 'endpoint');

/**
 * The endpoint of a customer's storage as it is kept: `https`, with nothing after its path, on a host of the public
 * internet every address of which has been checked, as hosts of databases are (contract 7).
 */
export const checkedEndpoint = async (text: string): Promise<string> => {
  const url = new URL(text);
  const port = portOf(url);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isPermitted(url.hostname, port))) {
    throw invalidStorage('endpoint must begin with https://', 'endpoint');
  }
  if (url.username !== '' || url.password !== '' || /[?#]/.test(text)) {
    throw invalidStorage('endpoint must have no user name, password, query or fragment', 'endpoint');
  }
  try {
    await checkedAddresses(url.hostname, port);
  } catch (error) {
    throw error instanceof RestrictedHost
      ? privateEndpoint()
      : invalidStorage('endpoint could not be reached: its host has no address.', 'endpoint', error);
  }
  return url.href.replace(/\/+$/, '');
};

const content = Buffer.from('A test of the connection. It may be deleted.\n');
const contentType = 'text/plain';

/** What was tried when it failed, in the words of a message. */
type Step = 'write' | 'read' | 'copy' | 'delete';

const unknownKeys = new Set(['InvalidAccessKeyId', 'SignatureDoesNotMatch', 'InvalidSecurity', 'Unauthorized']);
const otherRegion = new Set([
  'AuthorizationHeaderMalformed',
  'AuthorizationQueryParametersError',
  'IllegalLocationConstraintException',
  'PermanentRedirect',
  'TemporaryRedirect',
]);

/** What a failed test of a customer's storage means, for that customer; the storage's own message is never repeated. */
const storageError = (step: Step, error: unknown): AppError => {
  const origin = error instanceof AppError ? error.cause : error;
  const code = String((origin as { readonly name?: unknown }).name);
  const status = storageStatus(origin);
  if (origin instanceof RestrictedHost) return privateEndpoint();
  if (code === 'NoSuchBucket') return invalidStorage('bucket does not exist at this endpoint.', 'bucket', origin);
  if (unknownKeys.has(code) || status === 401) {
    return invalidStorage('The storage refused accessKeyId and secretAccessKey.', 'accessKeyId', origin);
  }
  if (otherRegion.has(code)) return invalidStorage('region is not the one of this bucket.', 'region', origin);
  if (status === 403) {
    const message = `The storage does not let this access key ${step} objects of the bucket.`;
    return invalidStorage(message, 'accessKeyId', origin);
  }
  if (status === undefined) {
    return invalidStorage('endpoint could not be reached, or its TLS certificate is not valid.', 'endpoint', origin);
  }
  return invalidStorage(`The storage failed to ${step} a test object; it answered ${status}.`, undefined, origin);
};

const attempt = async <T>(step: Step, act: () => Promise<T>): Promise<T> => {
  try {
    return await act();
  } catch (error) {
    throw storageError(step, error);
  }
};

/** A real storage returns what it was given, lists what it has, and reports what is gone. */
const noStorage = (what: string): Error =>
  invalidStorage(`endpoint ${what}: it is no S3-compatible storage.`, 'endpoint');

const useAll = async (bucket: Bucket, key: string, copy: string): Promise<void> => {
  await attempt('write', () => bucket.put(key, content, contentType));
  const written = await attempt('read', () => bucket.head(key));
  if (written?.size !== content.length) throw noStorage('does not have what was written to it');
  const { etag } = written;
  const copied = await attempt('copy', () => bucket.copy({ from: key, to: copy, etag, contentType }));
  if (copied !== 'copied') throw noStorage('does not copy what was written to it');
  await attempt('delete', () => bucket.remove([key, copy]));
  if (await attempt('read', () => bucket.head(key))) throw noStorage('still has what was deleted from it');
};

/**
 * Does with a bucket what uploads do: writes a small object, reads, copies and deletes it. What does not work → 400
 * `INVALID_STORAGE` saying what. Nothing of it stays, unless the storage fails in between.
 */
export const tryStorage = async (bucket: Bucket): Promise<void> => {
  const key = `basalt-test/${randomUUID()}`;
  const copy = `${key}-copy`;
  try {
    await useAll(bucket, key, copy);
  } catch (error) {
    await bucket.remove([key, copy]).catch(() => undefined);
    throw error;
  }
};
