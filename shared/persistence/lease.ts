import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Filter, ObjectId, UpdateFilter } from 'mongodb';
import { clock } from '../core/clock.ts';
import type { AppError } from '../core/errors.ts';
import { tryOrLog } from '../core/log.ts';
import type { Key } from './item-keys.ts';
import type { Records } from './records.ts';
import { write } from './table.ts';

export interface Leasable {
  readonly _id: ObjectId;
}

/** Records that one run at a time works on. The names are those of the stored fields. */
export interface Leased<R extends Leasable> {
  readonly records: Records<R>;
  /**
   * The end of the lease. Every acquisition, release and rescheduling changes it, so its value identifies the holder.
   */
  readonly lease: string;
  /** Fields that do not change while the record is unfinished. */
  readonly while?: readonly string[];
}

const valueAt = (record: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], record);

/** In milliseconds since 1970. */
export const leaseOf = <R extends Leasable>({ lease }: Pick<Leased<R>, 'lease'>, record: R): number =>
  Number(valueAt(record, lease) ?? 0);

/** Matches the record if it is as this run acquired or found it; missing fields must still be missing. */
const isHeld = <R extends Leasable>({ lease, while: same = [] }: Leased<R>, record: R): Filter<R> =>
  Object.fromEntries(
    ['_id', lease, ...same].map((name) => [name, valueAt(record, name) ?? { $exists: false }]),
  ) as Filter<R>;

/** Matches records whose lease has ended. */
export const isFree = <R extends Leasable>({ lease }: Leased<R>, open: Filter<R>): Filter<R> =>
  ({ ...open, [lease]: { $lte: new Date(clock.now()) } }) as Filter<R>;

/**
 * Acquires a record whose lease has ended, and makes `change`, by one conditional write. One of any number of runs gets
 * it; the others get `null`.
 */
export const acquire = <R extends Leasable>(
  leased: Leased<R>,
  open: Filter<R>,
  until: Date,
  change: UpdateFilter<R>,
  returnDocument: 'before' | 'after' = 'after',
): Promise<R | null> => {
  const free = isFree(leased, open);
  const update = { ...change, $set: { ...change.$set, [leased.lease]: until } } as UpdateFilter<R>;
  return leased.records.findOneAndUpdate(free, update, { returnDocument }) as Promise<R | null>;
};

/** Changes a record that is still as it was found, by one conditional write; `null` if another run was faster. */
export const claimStale = <R extends Leasable>(
  leased: Leased<R>,
  found: R,
  update: UpdateFilter<R>,
): Promise<R | null> =>
  leased.records.findOneAndUpdate(isHeld(leased, found), update, { returnDocument: 'after' }) as Promise<R | null>;

/** Changes a record that this run holds; false if it no longer does. */
export const changeHeld = async <R extends Leasable>(
  leased: Leased<R>,
  record: R,
  update: UpdateFilter<R>,
): Promise<boolean> => {
  const { matchedCount } = await leased.records.updateOne(isHeld(leased, record), update);
  return matchedCount > 0;
};

/** Deletes a record that this run holds; false if it no longer does. */
export const deleteHeld = async <R extends Leasable>(leased: Leased<R>, record: R): Promise<boolean> => {
  const { deletedCount } = await leased.records.deleteOne(isHeld(leased, record));
  return deletedCount > 0;
};

/** Ends a lease that this run holds and makes `change`, so that another run can acquire the record immediately. */
export const release = <R extends Leasable>(leased: Leased<R>, record: R, change: UpdateFilter<R>): Promise<boolean> =>
  changeHeld(leased, record, {
    ...change,
    $set: { ...change.$set, [leased.lease]: new Date(0) },
  } as UpdateFilter<R>);

/** Moves a record that is still as it was found behind all others. */
export const reschedule = <R extends Leasable>(leased: Leased<R>, found: R): Promise<boolean> =>
  changeHeld(leased, found, { $set: { [leased.lease]: new Date(clock.now()) } } as UpdateFilter<R>);

/** A lock across functions, held in an item of the table. */
export interface Lock {
  readonly key: Key;
  /** Longer than any run, so that a killed run loses the lock. */
  readonly leaseMs: number;
  readonly patienceMs: number;
  /** True if the work continues elsewhere after this error. The lock then ends with its lease. */
  readonly goesOn?: (error: unknown) => boolean;
  /** The error if the lock was not acquired in time; `retryAfter` in seconds. */
  readonly refusal: (retryAfter: number) => AppError;
}

/** Varied by half, so that waiting callers do not ask at the same time. */
const waitMs = 200;

/**
 * Acquires the lock by one conditional write, which recognizes its own retry. Otherwise returns the ms until the lease
 * ends.
 */
const acquireLock = async ({ key, leaseMs }: Lock, run: string): Promise<'acquired' | number> => {
  const now = clock.now();
  const { done, item } = await write<{ readonly until?: number }>({
    update: key,
    change: 'SET #until = :until, #run = :run, expiresAt = :end',
    condition: 'attribute_not_exists(#until) OR #until <= :now OR #run = :run',
    values: { until: now + leaseMs, run, now, end: Math.ceil(now / 1000) + 3600 },
  });
  return done ? 'acquired' : (item?.until ?? now) - now;
};

/** Releases the lock unless another run has it. After an error, it ends with its lease. */
const releaseLock = ({ key }: Lock, run: string): Promise<boolean> =>
  tryOrLog('warn', { message: 'A lock was not released, and ends with its lease' }, () =>
    write({ update: key, change: 'REMOVE #until, #run', condition: '#run = :run', values: { run } }),
  );

/**
 * Runs `act` while holding the lock: one write to acquire it, one to release it. Throws `refusal` after `patienceMs`.
 */
export const withLock = async <T>(lock: Lock, act: () => Promise<T>): Promise<T> => {
  const run = randomUUID();
  const end = clock.now() + lock.patienceMs;
  for (let left = await acquireLock(lock, run); left !== 'acquired'; left = await acquireLock(lock, run)) {
    if (clock.now() >= end) throw lock.refusal(Math.max(1, Math.ceil(left / 1000)));
    await pause(waitMs * (0.5 + Math.random()));
  }
  let isOver = true;
  try {
    return await act();
  } catch (error) {
    isOver = !lock.goesOn?.(error);
    throw error;
  } finally {
    if (isOver) await releaseLock(lock, run);
  }
};
