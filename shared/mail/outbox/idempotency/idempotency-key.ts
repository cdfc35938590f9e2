import { createHash } from 'node:crypto';
import { validationFailed } from '../../../core/errors.ts';

/** What a caller may name a request by: 1 to 255 printable ASCII characters. */
const wellFormed = /^[\x20-\x7e]{1,255}$/;

/** A request that is to be carried out once, however often it comes. */
export interface KeyedRequest {
  readonly key: string;
  /** What tells it from other requests with the same key. */
  readonly fingerprint: string;
}

/**
 * The request as its `Idempotency-Key` names it; `undefined` without the header. Another kind of text → 400
 * `VALIDATION_FAILED`. `body` is the body as JSON values, `kind` what is asked for with it.
 */
export const keyedRequest = (header: string | undefined, kind: string, body: unknown): KeyedRequest | undefined => {
  if (header === undefined) return undefined;
  const key = header.trim();
  if (!wellFormed.test(key)) {
    const field = 'Idempotency-Key';
    throw validationFailed({ field, message: `${field} must have 1 to 255 printable ASCII characters` });
  }
  const fingerprint = createHash('sha256').update(`${kind}\n`).update(JSON.stringify(body)).digest('base64url');
  return { key, fingerprint };
};
