import { createHash } from 'node:crypto';
import { AppError, validationFailed } from '../../core/errors.ts';

const field = 'Idempotency-Key';

/** What a caller may name a request by: 1 to 255 visible ASCII characters. */
export const idempotencyKeyShape = /^[!-~]{1,255}$/;

/** The key of an `Idempotency-Key` header; `undefined` without one. Another kind of text → 400 `VALIDATION_FAILED`. */
export const parseIdempotencyKey = (header: string | undefined): string | undefined => {
  if (header === undefined || idempotencyKeyShape.test(header)) return header;
  throw validationFailed({ field, message: `${field} must have 1 to 255 visible ASCII characters` });
};

/** A request that is to be carried out once, however often it comes. */
export interface KeyedRequest {
  /** Stands for the key and for whose it is, as SHA-256 in base64url. */
  readonly hash: string;
  /** What tells it from other requests with the same key. */
  readonly fingerprint: string;
}

type Part = string | Uint8Array;

/** The parts follow their lengths, so that no other parts make the same. */
const digest = (parts: readonly Part[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}\n`).update(part);
  return hash.digest('base64url');
};

/** A request by its caller's key; `parts` are all that makes two requests the same one. */
export const keyedRequest = (caller: string, key: string, parts: readonly Part[]): KeyedRequest => ({
  hash: digest([caller, key]),
  fingerprint: digest(parts),
});

/** The refusal of a repeat whose first run ended without an answer, and may have been carried out or not (409). */
export const outcomeUnknown = (): AppError =>
  new AppError(
    'IDEMPOTENCY_OUTCOME_UNKNOWN',
    'The first request with this Idempotency-Key ended without an answer, so it may have been carried out or not. Look what there is now, and if it is to be done again use another key.',
  );
