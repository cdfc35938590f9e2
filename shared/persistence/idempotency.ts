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

/** What a caller may name a request by: 1 to 255 visible ASCII characters. */
export const idempotencyKeyShape = /^[!-+\--~]{1,255}$/;

/**
 * The key of an `Idempotency-Key` header; `undefined` without one. Another kind of text, or fewer characters than
 * `minLength` → 400 `VALIDATION_FAILED`.
 */
export const parseIdempotencyKey = (header: string | undefined, minLength = 1): string | undefined => {
  if (header === undefined || (idempotencyKeyShape.test(header) && header.length >= minLength)) return header;
  throw validationFailed({
    field,
    message: `${field} must be sent once and have ${minLength} to 255 visible ASCII characters, no comma`,
  });
};

/** A request that is to be carried out once, however often it comes. */
export interface KeyedRequest {
  /** The key as it was sent, which is stored nowhere. */
  readonly key: string;
  /** Stands for the key and for whose it is, as SHA-256 in base64url. */
  readonly hash: string;
  /** What tells it from other requests with the same key. */
  readonly fingerprint: string;
}

type Part = string | Uint8Array;

/** The parts follow their lengths, so that no other parts make the same. */
const digest = (parts: readonly Part[], secret?: Uint8Array): string => {
  const hash = secret ? createHmac('sha256', secret) : createHash('sha256');
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}\n`).update(part);
  return hash.digest('base64url');
};

/**
 * A request by its caller's key; `parts` are all that makes two requests the same one. With a `secret`, nobody who reads
 * the table can guess a part, such as a password.
 */
export const keyedRequest = (
  caller: string,
  key: string,
  parts: readonly Part[],
  secret?: Uint8Array,
): KeyedRequest => ({ key, hash: digest([caller, key], secret), fingerprint: digest(parts, secret) });

/** The refusal of a repeat whose first run ended without an answer, and may have been carried out or not (409). */
export const outcomeUnknown = (
  message = 'The first request with this Idempotency-Key ended without a response, so its outcome is unknown. Check the current state. To repeat the request, use a new key.',
): AppError => new AppError('IDEMPOTENCY_OUTCOME_UNKNOWN', message);

// One item a project, caller and key says which run is at work on the request and until when, and, once it is done,
// what was answered. Every step of it is one conditional update.

/** How long a key stands for its first request. */
const keptSeconds = 24 * 3600;

/** Longer than any function of an API runs, so that a run whose time is up has ended. */
const leaseMs = 35_000;

/** A request of a project, as one run of a function works on it. */
export interface Run {
  readonly projectId: string;
  readonly request: KeyedRequest;
  readonly runId: string;
  /** Where the ids of what it stores come from: the first run of the request, and when that began (ms since 1970). */
  readonly seed: string;
  readonly begunAt: number;
  /** True if an earlier run may have stored something under these ids. */
  readonly isRepeat: boolean;
  /** True if an earlier run succeeded, and its response was not stored because it contains secrets. */
  readonly isAnswered: boolean;
}

/** What is kept of an answer: all of it, or what it takes to find it. */
interface StoredResponse {
  readonly status: number;
  /** JSON. */
  readonly headers: string;
  /** What came back; `undefined` where it lies in the bucket. */
  readonly body?: string | undefined;
  /** Its object in the bucket. */
  readonly stored?: string | undefined;
}

/** How a key stands: this run's; answered; being worked on; nobody knows what came of it; or another request's. */
export type KeyState =
  | { readonly kind: 'mine'; readonly run: Run }
  | { readonly kind: 'answered'; readonly answer: StoredResponse; readonly run: Run }
  | { readonly kind: 'under way' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'taken' };

/** What is kept of a key: `leasedUntil` and `begunAt` in ms since 1970, `expiresAt` in seconds. */
interface KeyItem extends Partial<StoredResponse> {
  readonly fingerprint: string;
  readonly runId: string;
  readonly seed: string;
  readonly begunAt: number;
  readonly leasedUntil: number;
  readonly expiresAt: number;
}

type Named = Pick<Run, 'projectId' | 'request' | 'runId'>;

/** Makes a change of a run, whose id is `:run`; returns the item as it was where the condition is against it. */
const update = ({ projectId, request, runId }: Named, by: Omit<Update, 'update'>): Promise<Written<KeyItem>> => {
  const key = itemKey(kinds.idempotency, projectScope(projectId), { hash: request.hash });
  return write({ update: key, ...by, values: { ...by.values, run: runId } });
};

/** Goes on where a run ended without saying what came of it. */
const takeOver = async (named: Named, { seed, begunAt }: KeyItem): Promise<KeyState> => {
  const now = clock.now();
  const { done } = await update(named, {
    change: 'SET runId = :run, leasedUntil = :until',
    condition: 'seed = :seed AND attribute_not_exists(#status) AND (leasedUntil <= :now OR runId = :run)',
    values: { seed, until: now + leaseMs, now },
  });
  return done
    ? { kind: 'mine', run: { ...named, seed, begunAt, isRepeat: true, isAnswered: false } }
    : { kind: 'under way' };
};

/**
 * Takes a key for a new run, by one conditional write that one of any number of parallel callers wins. Where an earlier
 * run ended without an answer, the next one goes on with `canRepeat`, and otherwise nobody knows what came of it.
 */
export const acquireKey = async (projectId: string, request: KeyedRequest, canRepeat: boolean): Promise<KeyState> => {
  const named = { projectId, request, runId: randomUUID() };
  const now = clock.now();
  const seconds = Math.floor(now / 1000);
  const { done, item } = await update(named, {
    change:
      'SET fingerprint = :fingerprint, runId = :run, seed = :run, begunAt = :ms, leasedUntil = :until, expiresAt = :end REMOVE #status, #headers, #body, #stored',
    // The client writes a second time where the first answer got lost; what it finds then is its own run. The first
    // write may arrive after that, and must not undo what the run has answered since.
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
    return { kind: 'mine', run: { ...named, seed: named.runId, begunAt: now, isRepeat: false, isAnswered: false } };
  }
  if (item?.fingerprint !== request.fingerprint) return { kind: 'taken' };
  const { status, headers = '{}', body, stored, seed, begunAt } = item;
  if (status !== undefined) {
    const run = { ...named, seed, begunAt, isRepeat: true, isAnswered: true };
    return { kind: 'answered', answer: { status, headers, body, stored }, run };
  }
  if (item.leasedUntil > now) return { kind: 'under way' };
  return canRepeat ? takeOver(named, item) : { kind: 'unknown' };
};

const condition = 'runId = :run';

/** Notes what was answered, for whoever comes with the key again. */
export const recordResponse = async (run: Named, { status, headers, body, stored }: StoredResponse): Promise<void> => {
  await update(run, {
    change: `SET #status = :status, #headers = :headers, ${stored === undefined ? '#body = :body' : '#stored = :stored'}`,
    condition,
    values: { status, headers, body, stored },
  });
};

/** Ends a run that has no answer: with `nothingDone` the key stands for nothing any more. */
export const noteFailure = async (run: Named, { nothingDone }: { readonly nothingDone: boolean }): Promise<void> => {
  const change = nothingDone ? 'SET leasedUntil = :zero, expiresAt = :zero' : 'SET leasedUntil = :zero';
  await update(run, { change, condition, values: { zero: 0 } });
};

/** An answer as it was given. */
export interface WholeAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Where the large answers of a project are in our bucket, for two days. */
export const answerPrefix = (projectId: string): string => `answers/${projectId}/`;

/** Beyond it an object costs less than the item's room, and an item may have 400 KB at most. */
const maxItemBytes = 64 * 1024;

const place = async ({ projectId, runId }: Run, body: string): Promise<Pick<StoredResponse, 'body' | 'stored'>> => {
  if (Buffer.byteLength(body) <= maxItemBytes) return { body };
  const stored = `${answerPrefix(projectId)}${runId}`;
  await putObject(stored, body);
  return { stored };
};

/** What is written down afterwards is for repeats alone, so not to have written it is no failure. */
const attempt = async (note: () => Promise<void>): Promise<void> => {
  await tryOrLog('warn', { message: 'What came of a request with an Idempotency-Key was not kept' }, note);
};

/** Keeps the answer of a run, whatever its size. */
export const storeResponse = (run: Run, { statusCode: status, headers, body }: WholeAnswer): Promise<void> =>
  attempt(async () => recordResponse(run, { status, headers: JSON.stringify(headers), ...(await place(run, body)) }));

/** Ends a run that has no answer to keep. */
export const endWithoutResponse = (run: Run, nothingDone: boolean): Promise<void> =>
  attempt(() => noteFailure(run, { nothingDone }));

/** The answer that was kept; `undefined` where its object is gone. */
export const storedResponse = async ({
  status,
  headers,
  body,
  stored,
}: StoredResponse): Promise<WholeAnswer | undefined> => {
  const text = stored === undefined ? (body ?? '') : await getObject(stored);
  return text === undefined ? undefined : { statusCode: status, headers: JSON.parse(headers), body: text };
};
