import { createHash, createHmac, randomUUID } from 'node:crypto';
import { clock } from '../core/clock.ts';
import { AppError, validationFailed } from '../core/errors.ts';
import { tryOrLog } from '../core/log.ts';
import type { Update } from './dynamo.ts';
import { itemKey, projectScope } from './item-keys.ts';
import { getObject, putObject } from './objects.ts';
import { type Written, write } from './table.ts';
import * as kinds from './table-keys.ts';

const field = 'Idempotency-Key';

/** 1 to 255 visible ASCII characters, without a comma. */
export const idempotencyKeyShape = /^[!-+\--~]{1,255}$/;

/**
 * The key of an `Idempotency-Key` header; `undefined` without one. An invalid or too short key throws 400
 * `VALIDATION_FAILED`.
 */
export const parseIdempotencyKey = (header: string | undefined, minLength = 1): string | undefined => {
  if (header === undefined || (idempotencyKeyShape.test(header) && header.length >= minLength)) return header;
  throw validationFailed({
    field,
    message: `${field} must be sent once and have ${minLength} to 255 visible ASCII characters, no comma`,
  });
};

/** A request that is executed one time, however often it is sent. */
export interface KeyedRequest {
  /** The key as it was sent; never stored. */
  readonly key: string;
  /** SHA-256 of the key and its owner, in base64url. */
  readonly hash: string;
  /** Distinguishes requests with the same key. */
  readonly fingerprint: string;
}

type Part = string | Uint8Array;

/** Each part is preceded by its length, so that different parts have different digests. */
const digest = (parts: readonly Part[], secret?: Uint8Array): string => {
  const hash = secret ? createHmac('sha256', secret) : createHash('sha256');
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}\n`).update(part);
  return hash.digest('base64url');
};

/**
 * `parts` are everything that makes two requests equal. With a `secret`, a reader of the table cannot guess a part such
 * as a password.
 */
export const keyedRequest = (
  caller: string,
  key: string,
  parts: readonly Part[],
  secret?: Uint8Array,
): KeyedRequest => ({ key, hash: digest([caller, key], secret), fingerprint: digest(parts, secret) });

/** 409 for a repeat whose first run ended without a response, so that its outcome is unknown. */
export const outcomeUnknown = (
  message = 'The first request with this Idempotency-Key ended without a response, so its outcome is unknown. Check the current state. To repeat the request, use a new key.',
): AppError => new AppError('IDEMPOTENCY_OUTCOME_UNKNOWN', message);

// An item per project, caller and key has the run that works on the request, the end of its lease, and the response of
// a finished run. Each step is one conditional update.

const keptSeconds = 24 * 3600;

/** Longer than the timeout of all API functions, so that the run has ended when its lease has. */
const leaseMs = 35_000;

/** One run of a request. */
export interface Run {
  readonly projectId: string;
  readonly request: KeyedRequest;
  readonly runId: string;
  /** The id of the request's first run, from which its ids are derived. */
  readonly seed: string;
  readonly begunAt: number;
  /** True if an earlier run may have stored something under these ids. */
  readonly isRepeat: boolean;
  /** True if an earlier run succeeded, and its response was not stored because it contains secrets. */
  readonly isAnswered: boolean;
}

interface StoredResponse {
  readonly status: number;
  /** JSON. */
  readonly headers: string;
  /** `undefined` if it is in the bucket. */
  readonly body?: string | undefined;
  /** The key of its object in the bucket. */
  readonly stored?: string | undefined;
}

/** `acquired`: this run has the lease. `unknown`: a run ended without a response. `mismatch`: another request has the key. */
export type KeyState =
  | { readonly kind: 'acquired'; readonly run: Run }
  | { readonly kind: 'answered'; readonly answer: StoredResponse; readonly run: Run }
  | { readonly kind: 'in_progress' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'mismatch' };

/** `leasedUntil` and `begunAt` are in ms since 1970, `expiresAt` in seconds. */
interface KeyItem extends Partial<StoredResponse> {
  readonly fingerprint: string;
  readonly runId: string;
  readonly seed: string;
  readonly begunAt: number;
  readonly leasedUntil: number;
  readonly expiresAt: number;
}

type Named = Pick<Run, 'projectId' | 'request' | 'runId'>;

/** Updates the item of a run, whose id is `:run`; returns the item if the condition fails. */
const update = ({ projectId, request, runId }: Named, by: Omit<Update, 'update'>): Promise<Written<KeyItem>> => {
  const key = itemKey(kinds.idempotency, projectScope(projectId), { hash: request.hash });
  return write({ update: key, ...by, values: { ...by.values, run: runId } });
};

/** Takes over from a run that ended without a response. */
const takeOver = async (named: Named, { seed, begunAt }: KeyItem): Promise<KeyState> => {
  const now = clock.now();
  const { done } = await update(named, {
    change: 'SET runId = :run, leasedUntil = :until',
    condition: 'seed = :seed AND attribute_not_exists(#status) AND (leasedUntil <= :now OR runId = :run)',
    values: { seed, until: now + leaseMs, now },
  });
  return done
    ? { kind: 'acquired', run: { ...named, seed, begunAt, isRepeat: true, isAnswered: false } }
    : { kind: 'in_progress' };
};

/**
 * Acquires a key for a new run by one conditional write, which one of any number of concurrent callers wins. After a
 * run without a response, the next run continues with `canRepeat`; otherwise the outcome is unknown.
 */
export const acquireKey = async (projectId: string, request: KeyedRequest, canRepeat: boolean): Promise<KeyState> => {
  const named = { projectId, request, runId: randomUUID() };
  const now = clock.now();
  const seconds = Math.floor(now / 1000);
  const { done, item } = await update(named, {
    change:
      'SET fingerprint = :fingerprint, runId = :run, seed = :run, begunAt = :ms, leasedUntil = :until, expiresAt = :end REMOVE #status, #headers, #body, #stored',
    // A retry of this write finds its own run. A delayed first attempt must not overwrite the response that the run has
    // stored since.
    condition: 'attribute_not_exists(pk) OR expiresAt <= :now OR (runId = :run AND attribute_not_exists(#status))',
    values: {
      fingerprint: request.fingerprint,
      ms: now,
      until: now + leaseMs,
      end: seconds + keptSeconds,
      now: seconds,
    },
  });
  if (done) {
    return { kind: 'acquired', run: { ...named, seed: named.runId, begunAt: now, isRepeat: false, isAnswered: false } };
  }
  if (item?.fingerprint !== request.fingerprint) return { kind: 'mismatch' };
  const { status, headers = '{}', body, stored, seed, begunAt } = item;
  if (status !== undefined) {
    const run = { ...named, seed, begunAt, isRepeat: true, isAnswered: true };
    return { kind: 'answered', answer: { status, headers, body, stored }, run };
  }
  if (item.leasedUntil > now) return { kind: 'in_progress' };
  return canRepeat ? takeOver(named, item) : { kind: 'unknown' };
};

const condition = 'runId = :run';

export const recordResponse = async (run: Named, { status, headers, body, stored }: StoredResponse): Promise<void> => {
  await update(run, {
    change: `SET #status = :status, #headers = :headers, ${stored === undefined ? '#body = :body' : '#stored = :stored'}`,
    condition,
    values: { status, headers, body, stored },
  });
};

/** Ends a run without a response. With `nothingDone` the key becomes free. */
export const noteFailure = async (run: Named, { nothingDone }: { readonly nothingDone: boolean }): Promise<void> => {
  const change = nothingDone ? 'SET leasedUntil = :zero, expiresAt = :zero' : 'SET leasedUntil = :zero';
  await update(run, { change, condition, values: { zero: 0 } });
};

export interface WholeAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Prefix of a project's large responses in our bucket, which expire after two days. */
export const answerPrefix = (projectId: string): string => `answers/${projectId}/`;

/** An item may have 400 KB; from this size on an object is cheaper. */
const maxItemBytes = 64 * 1024;

const place = async ({ projectId, runId }: Run, body: string): Promise<Pick<StoredResponse, 'body' | 'stored'>> => {
  if (Buffer.byteLength(body) <= maxItemBytes) return { body };
  const stored = `${answerPrefix(projectId)}${runId}`;
  await putObject(stored, body);
  return { stored };
};

/** Only repeats need it, so an error is only logged. */
const attempt = async (note: () => Promise<void>): Promise<void> => {
  await tryOrLog('warn', { message: 'What came of a request with an Idempotency-Key was not kept' }, note);
};

export const storeResponse = (run: Run, { statusCode: status, headers, body }: WholeAnswer): Promise<void> =>
  attempt(async () => recordResponse(run, { status, headers: JSON.stringify(headers), ...(await place(run, body)) }));

export const endWithoutResponse = (run: Run, nothingDone: boolean): Promise<void> =>
  attempt(() => noteFailure(run, { nothingDone }));

/** `undefined` if its object is gone. */
export const storedResponse = async ({
  status,
  headers,
  body,
  stored,
}: StoredResponse): Promise<WholeAnswer | undefined> => {
  const text = stored === undefined ? (body ?? '') : await getObject(stored);
  return text === undefined ? undefined : { statusCode: status, headers: JSON.parse(headers), body: text };
};
