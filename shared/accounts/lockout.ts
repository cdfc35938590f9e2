import { nowSeconds } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { countIn, newCall, remember, remembers } from '../persistence/counters.ts';
import type { Values } from '../persistence/dynamo.ts';
import { itemKey, partitionKey } from '../persistence/item-keys.ts';
import { write } from '../persistence/table.ts';
import * as kinds from '../persistence/table-keys.ts';
import { sourceOf } from '../rate-limit/rate-limit.ts';
import type { SessionScope } from './sessions.ts';
import { sha256 } from './single-use-secrets.ts';

/** A password sign-in that someone tries: the account, as its address in one project, and where from. */
export interface PasswordSignIn {
  readonly scope: SessionScope;
  /** Canonical e-mail address. */
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

/** Apart from sign-ins: strangers at the same place, who fill their windows, do not keep a signed-in account out. */
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

const locked = (seconds: number): AppError =>
  new AppError(
    'ACCOUNT_LOCKED',
    `Too many failed attempts to log in. Try again in ${Math.ceil(seconds / 60)} minutes.`,
    { retryAfter: seconds },
  );

/** A change of the count of an attempt, beside that of its memory. */
interface Change {
  readonly set?: string;
  readonly add?: string;
  readonly condition: string;
  readonly values: Values;
}

/** Changes a count by one conditional write, once also where the client repeats it; `item` as it is where refused. */
const change = async (limit: Limit, attempt: PasswordSignIn, { set, add, condition, values }: Change) => {
  const call = newCall();
  const known = remember(call);
  const written = await write({
    update: lockKey(limit, attempt),
    change: `${set ? `SET ${set} ` : ''}REMOVE ${known.remove} ADD ${add ? `${add}, ` : ''}${known.add}`,
    condition: `(${condition}) AND ${known.isNew}`,
    values: { ...values, ...known.values },
  });
  return { done: written.done || remembers(written.item, call), item: written.item };
};

/** One more in the window that runs: `undefined` where it was counted, else the end of the full or past window. */
const countInWindow = async (limit: Limit, attempt: PasswordSignIn, now: number): Promise<number | undefined> => {
  const { done, item } = await change(limit, attempt, {
    set: 'expiresAt = if_not_exists(expiresAt, :end)',
    add: 'failures :one',
    condition: 'attribute_not_exists(pk) OR (failures < :limit AND expiresAt > :now)',
    values: { end: now + limit.windowSeconds, one: 1, limit: limit.failures, now },
  });
  return done ? undefined : countIn(item, 'expiresAt');
};

/** Opens a new window where the old one is over; of parallel callers one does, and the others go on to count in it. */
const openWindow = async (limit: Limit, attempt: PasswordSignIn, now: number): Promise<void> => {
  await change(limit, attempt, {
    set: 'expiresAt = :end, failures = :none',
    condition: 'expiresAt <= :now',
    values: { end: now + limit.windowSeconds, none: 0, now },
  });
};

const count = async (limit: Limit, attempt: PasswordSignIn): Promise<void> => {
  const now = nowSeconds();
  let end = await countInWindow(limit, attempt, now);
  if (end !== undefined && end <= now) {
    await openWindow(limit, attempt, now);
    end = await countInWindow(limit, attempt, now);
  }
  if (end !== undefined) throw locked(Math.max(1, end - now));
};

/**
 * Counts a sign-in as failed before its password is looked at, so that no parallel guesses slip through (contract 3,
 * "Sign-in"): the sixth failure from one place in 15 minutes, or the 101st in an hour → 429 `ACCOUNT_LOCKED`.
 */
export const countFailure = async (attempt: PasswordSignIn): Promise<void> => {
  await count(fromOnePlace, attempt);
  await count(fromAnywhere, attempt);
};

const takeOneBack = (limit: Limit, attempt: PasswordSignIn) =>
  change(limit, attempt, {
    add: 'failures :minusOne',
    condition: 'failures > :none',
    values: { none: 0, minusOne: -1 },
  });

const clear = (limit: Limit, attempt: PasswordSignIn) =>
  change(limit, attempt, { set: 'failures = :none', condition: 'failures > :none', values: { none: 0 } });

/** Takes a sign-in that succeeded out of the counts: clears those of its place, and its own one of the address. */
export const clearFailures = async (attempt: PasswordSignIn): Promise<void> => {
  await Promise.all([clear(fromOnePlace, attempt), takeOneBack(fromAnywhere, attempt)]);
};

/** Clears the counts of a place and of the address, for who has set its password anew: guesses were at another one. */
export const forgetFailures = async (attempt: PasswordSignIn): Promise<void> => {
  await Promise.all([clear(fromOnePlace, attempt), clear(fromAnywhere, attempt)]);
};

const ofUser = (scope: SessionScope, userId: string): PasswordSignIn => ({ scope, address: userId, ip: '' });

/** Counts a password that a session proves as wrong before it is compared: the sixth of an account in 15 minutes → 429. */
export const countProofFailure = (scope: SessionScope, userId: string): Promise<void> =>
  count(ofSession, ofUser(scope, userId));

/** Clears the count after a correct password, and unlocks sign-ins of the account from the place of the session. */
export const clearProofFailures = async (userId: string, attempt: PasswordSignIn): Promise<void> => {
  await Promise.all([clear(ofSession, ofUser(attempt.scope, userId)), clear(fromOnePlace, attempt)]);
};

/** Counts a second factor as wrong before it is looked at: the eleventh of a user in 15 minutes → 429. */
export const countFactorFailure = (scope: SessionScope, userId: string): Promise<void> =>
  count(ofFactor, ofUser(scope, userId));

/** Takes one that was right out of the count. */
export const undoFactorFailure = async (scope: SessionScope, userId: string): Promise<void> => {
  await takeOneBack(ofFactor, ofUser(scope, userId));
};
