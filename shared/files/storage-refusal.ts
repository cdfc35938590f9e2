import { RestrictedHost } from '../clients/net/restricted-host.ts';
import { storageStatus } from '../clients/s3.ts';
import { AppError } from '../core/errors.ts';
import { invalidStorage } from './storage-endpoint.ts';

/** What was tried when it failed, in the words of a message. */
export type Step = 'write' | 'read' | 'copy' | 'delete';

const unknownKeys = new Set(['InvalidAccessKeyId', 'SignatureDoesNotMatch', 'InvalidSecurity', 'Unauthorized']);
const otherRegion = new Set([
  'AuthorizationHeaderMalformed',
  'AuthorizationQueryParametersError',
  'IllegalLocationConstraintException',
  'PermanentRedirect',
  'TemporaryRedirect',
]);

/** What went wrong, below the errors that wrap it. */
const originOf = (error: unknown): unknown => (error instanceof AppError ? error.cause : error);

/** What a failed test of a customer's storage means, for that customer; the storage's own message is never repeated. */
export const storageRefusal = (step: Step, error: unknown): AppError => {
  const origin = originOf(error);
  const { name } = origin as { readonly name?: unknown };
  const code = String(name);
  const status = storageStatus(origin);
  if (origin instanceof RestrictedHost) {
    return invalidStorage(
      'endpoint must be a host on the public internet; this one is private or reserved.',
      'endpoint',
    );
  }
  if (code === 'NoSuchBucket') return invalidStorage('bucket does not exist at this endpoint.', 'bucket', origin);
  if (unknownKeys.has(code) || status === 401) {
    return invalidStorage('The storage refused accessKeyId and secretAccessKey.', 'accessKeyId', origin);
  }
  if (otherRegion.has(code)) return invalidStorage('region is not the one of this bucket.', 'region', origin);
  if (status === 403) {
    return invalidStorage(
      `The storage does not let this access key ${step} objects of the bucket.`,
      'accessKeyId',
      origin,
    );
  }
  if (status === undefined) {
    return invalidStorage('endpoint could not be reached, or its TLS certificate is not valid.', 'endpoint', origin);
  }
  return invalidStorage(`The storage failed to ${step} a test object; it answered ${status}.`, undefined, origin);
};
