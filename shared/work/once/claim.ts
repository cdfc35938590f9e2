import { randomUUID } from 'node:crypto';
import { clock } from '../../core/clock.ts';
import { type Written, write } from '../../table/item.ts';
import { itemKey, projectScope } from '../../table/item-key.ts';
import * as kinds from '../../table/keys.ts';
import type { Update } from '../../table/write-input.ts';
import type { KeyedRequest } from './idempotency-key.ts';

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
  /** True where an earlier run ended without an answer. */
  readonly isRepeat: boolean;
}

/** What is kept of an answer: all of it, or what it takes to find it. */
export interface KeptAnswer {
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
  | { readonly kind: 'answered'; readonly answer: KeptAnswer }
  | { readonly kind: 'under way' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'taken' };

/** What is kept of a key: `leasedUntil` and `begunAt` in ms since 1970, `expiresAt` in seconds. */
interface KeyItem extends Partial<KeptAnswer> {
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
  return done ? { kind: 'mine', run: { ...named, seed, begunAt, isRepeat: true } } : { kind: 'under way' };
};

/**
 * Takes a key for a new run, by one conditional write that one of any number of parallel callers wins. Where an earlier
 * run ended without an answer, the next one goes on with `canRepeat`, and otherwise nobody knows what came of it.
 */
export const claim = async (projectId: string, request: KeyedRequest, canRepeat: boolean): Promise<KeyState> => {
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
  if (done) return { kind: 'mine', run: { ...named, seed: named.runId, begunAt: now, isRepeat: false } };
  if (item?.fingerprint !== request.fingerprint) return { kind: 'taken' };
  const { status, headers = '{}', body, stored } = item;
  if (status !== undefined) return { kind: 'answered', answer: { status, headers, body, stored } };
  if (item.leasedUntil > now) return { kind: 'under way' };
  return canRepeat ? takeOver(named, item) : { kind: 'unknown' };
};

const condition = 'runId = :run';

/** Notes what was answered, for whoever comes with the key again. */
export const noteAnswer = async (run: Named, { status, headers, body, stored }: KeptAnswer): Promise<void> => {
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
