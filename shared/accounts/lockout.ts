import { setTimeout as pause } from 'node:timers/promises';
import { nowSeconds } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { tryOrLog } from '../core/log.ts';
import { countIn, hasCall, newCall, recordCall } from '../persistence/counters.ts';
import type { Values } from '../persistence/dynamo.ts';
import { itemKey, partitionKey } from '../persistence/item-keys.ts';
import { write } from '../persistence/table.ts';
import * as kinds from '../persistence/table-keys.ts';
import { sourceOf } from '../rate-limit/rate-limit.ts';
import type { SessionScope } from './sessions.ts';
import { sha256 } from './single-use-secrets.ts';

/** A password attempt: the account's address and the client. */
export interface PasswordSignIn {
  readonly scope: SessionScope;
  /** Trimmed and in lower case. */
  readonly address: string;
  readonly ip: string;
}

interface Limit {
  readonly key: (attempt: PasswordSignIn) => readonly string[];
  readonly failures: number;
  readonly windowSeconds: number;
}

const fromOnePlace: Limit = {
  key: ({ scope, address, ip }) => [scope, address, sourceOf(ip)],
  failures: 5,
  windowSeconds: 15 * 60,
};
const fromAnywhere: Limit = { key: ({ scope, address }) => [scope, address], failures: 100, windowSeconds: 60 * 60 };

/** Separate from sign-ins, so that strangers at the same address cannot lock out a signed-in account. */
const ofSession: Limit = {
  key: ({ scope, address }) => [scope, address, 'signed in'],
  failures: 5,
  windowSeconds: 15 * 60,
};

const ofFactor: Limit = {
  key: ({ scope, address }) => [scope, address, 'second factor'],
  failures: 10,
  windowSeconds: 15 * 60,
};

const lockKey = (limit: Limit, attempt: PasswordSignIn) => {
  const hash = sha256(JSON.stringify(limit.key(attempt)));
  return itemKey(kinds.lockout, partitionKey('lock', { hash }));
};

const lockedUntil = (end: number): AppError => {
  const retryAfter = Math.max(1, end - nowSeconds());
  const minutes = Math.ceil(retryAfter / 60);
  const message = `Too many failed attempts. Retry in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`;
  return new AppError('ACCOUNT_LOCKED', message, { retryAfter });
};

const busySeconds = 5;

const busy = (): AppError =>
  new AppError('ACCOUNT_LOCKED', 'Too many sign-in attempts are in progress. Retry in a few seconds.', {
    retryAfter: busySeconds,
  });

interface Change {
  readonly set?: string;
  readonly add?: string;
  readonly condition: string;
  readonly values: Values;
}

/** Counted once even if the client repeats the write. Returns the new item, or the one that failed the condition. */
const change = async (limit: Limit, attempt: PasswordSignIn, { set, add, condition, values }: Change) => {
  const call = newCall();
  const known = recordCall(call);
  const written = await write(
    {
      update: lockKey(limit, attempt),
      change: `${set ? `SET ${set} ` : ''}REMOVE ${known.remove} ADD ${add ? `${add}, ` : ''}${known.add}`,
      condition: `(${condition}) AND ${known.isNew}`,
      values: { ...values, ...known.values },
    },
    'ALL_NEW',
  );
  return { done: written.done || hasCall(written.item, call), item: written.item };
};

// `failures` includes attempts in progress, so that concurrent guesses count; `inFlight` is their number. A crashed
// attempt stays counted until its window ends.

/** `end` in seconds since 1970. `inFlight` attempts may still succeed. */
interface Counted {
  readonly isCounted: boolean;
  readonly end: number;
  readonly inFlight: number;
}

const countInWindow = async (
  limit: Limit,
  attempt: PasswordSignIn,
  now: number,
  underWay: boolean,
): Promise<Counted> => {
  const { done, item } = await change(limit, attempt, {
    set: 'expiresAt = if_not_exists(expiresAt, :end)',
    add: underWay ? 'failures :one, inFlight :one' : 'failures :one',
    condition: 'attribute_not_exists(pk) OR (failures < :limit AND expiresAt > :now)',
    values: { end: now + limit.windowSeconds, one: 1, limit: limit.failures, now },
  });
  return { isCounted: done, end: countIn(item, 'expiresAt'), inFlight: countIn(item, 'inFlight') };
};

/** Starts a new window after the old one; one concurrent caller succeeds, the others then count in it. */
const openWindow = async (limit: Limit, attempt: PasswordSignIn, now: number): Promise<void> => {
  await change(limit, attempt, {
    set: 'expiresAt = :end, failures = :none, inFlight = :none',
    condition: 'expiresAt <= :now',
    values: { end: now + limit.windowSeconds, none: 0, now },
  });
};

const tryCount = async (limit: Limit, attempt: PasswordSignIn, underWay: boolean): Promise<Counted> => {
  const now = nowSeconds();
  const counted = await countInWindow(limit, attempt, now, underWay);
  if (counted.isCounted || counted.end > now) return counted;
  await openWindow(limit, attempt, now);
  return countInWindow(limit, attempt, now, underWay);
};

const count = async (limit: Limit, attempt: PasswordSignIn): Promise<void> => {
  const { isCounted, end } = await tryCount(limit, attempt, false);
  if (!isCounted) throw lockedUntil(end);
};

const maxWaits = 50;
/** About the time of a comparison, randomized so that waiting callers spread. */
const waitMs = () => 50 + Math.random() * 100;

/** Counts an attempt in progress and returns the end of its window. Waits while other attempts fill the window. */
const countInProgress = async (limit: Limit, attempt: PasswordSignIn): Promise<number> => {
  for (let waits = 0; ; waits += 1) {
    const { isCounted, end, inFlight } = await tryCount(limit, attempt, true);
    if (isCounted) return end;
    if (inFlight === 0) throw lockedUntil(end);
    if (waits === maxWaits) throw busy();
    await pause(waitMs());
  }
};

/** Ends an attempt in the window it was counted in. */
const endAttempt = (
  limit: Limit,
  attempt: PasswordSignIn,
  end: number,
  { set, add }: Pick<Change, 'set' | 'add'> = {},
) =>
  change(limit, attempt, {
    ...(set !== undefined && { set }),
    add: add === undefined ? 'inFlight :minusOne' : `${add}, inFlight :minusOne`,
    condition: 'inFlight > :none AND expiresAt = :window',
    values: { none: 0, minusOne: -1, window: end, ...(set !== undefined && { one: 1 }) },
  });

const undoOneFailure = (limit: Limit, attempt: PasswordSignIn) =>
  change(limit, attempt, {
    add: 'failures :minusOne',
    condition: 'failures > :none',
    values: { none: 0, minusOne: -1 },
  });

/** Attempts in progress stay counted. */
const clear = (limit: Limit, attempt: PasswordSignIn) =>
  change(limit, attempt, {
    set: 'failures = if_not_exists(inFlight, :none)',
    condition: 'failures > :none',
    values: { none: 0 },
  });

/** Outcome of a password comparison. */
export interface PasswordCheck {
  readonly succeed: () => Promise<void>;
  readonly fail: () => Promise<void>;
  /** Not compared. */
  readonly cancel: () => Promise<void>;
}

/** A success also undoes what `others` counted. */
const attemptIn = async (
  limit: Limit,
  attempt: PasswordSignIn,
  others: { readonly succeed: () => Promise<unknown>; readonly cancel?: () => Promise<unknown> },
): Promise<PasswordCheck> => {
  const end = await countInProgress(limit, attempt);
  const forget = () => endAttempt(limit, attempt, end, { set: 'failures = inFlight - :one' });
  const undo = () => endAttempt(limit, attempt, end, { add: 'failures :minusOne' });
  const message = 'An attempt counts as under way until its window ends';
  return {
    succeed: async () => {
      await Promise.all([forget(), others.succeed()]);
    },
    fail: async () => {
      await tryOrLog('warn', { message }, () => endAttempt(limit, attempt, end));
    },
    cancel: async () => {
      await tryOrLog('warn', { message }, () => Promise.all([undo(), others.cancel?.()]));
    },
  };
};

/**
 * Counts a sign-in as failed until it succeeds. Throws 429 `ACCOUNT_LOCKED` after 5 failures per client in 15 minutes,
 * or 100 in an hour. A success clears the client's count.
 */
export const startSignIn = async (attempt: PasswordSignIn): Promise<PasswordCheck> => {
  const undo = () => undoOneFailure(fromAnywhere, attempt);
  const started = await attemptIn(fromOnePlace, attempt, { succeed: undo, cancel: undo });
  try {
    await count(fromAnywhere, attempt);
  } catch (error) {
    await started.fail();
    throw error;
  }
  return started;
};

const ofUser = (scope: SessionScope, userId: string): PasswordSignIn => ({ scope, address: userId, ip: '' });

/** Throws 429 `ACCOUNT_LOCKED` after 5 failures in 15 minutes. A success unlocks sign-ins from this client. */
export const startProof = (userId: string, attempt: PasswordSignIn): Promise<PasswordCheck> =>
  attemptIn(ofSession, ofUser(attempt.scope, userId), { succeed: () => clear(fromOnePlace, attempt) });

/** After a new password: earlier failures were guesses at another one. */
export const clearFailures = async (attempt: PasswordSignIn): Promise<void> => {
  await Promise.all([clear(fromOnePlace, attempt), clear(fromAnywhere, attempt)]);
};

/** Counts a second factor before it is checked. Throws 429 `ACCOUNT_LOCKED` after 10 failures in 15 minutes. */
export const countFactorFailure = (scope: SessionScope, userId: string): Promise<void> =>
  count(ofFactor, ofUser(scope, userId));

export const undoFactorFailure = async (scope: SessionScope, userId: string): Promise<void> => {
  await undoOneFailure(ofFactor, ofUser(scope, userId));
};
