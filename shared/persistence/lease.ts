import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Filter, ObjectId, UpdateFilter } from 'mongodb';
import { clock } from '../core/clock.ts';
import type { AppError } from '../core/errors.ts';
import { tryOrLog } from '../core/log.ts';
import type { Key } from './item-keys.ts';
import type { Records } from './records.ts';
import { write } from './table.ts';

/** What a lease can be on. */
export interface Leasable {
  readonly _id: ObjectId;
}

/** Records on which one run at a time works. The names are those of the fields as they are stored. */
export interface Leased<R extends Leasable> {
  readonly records: Records<R>;
  /** The time that every claim, release and putting off changes: whoever knows it holds the record. */
  readonly lease: string;
  /** What else stays as it was read for as long as there is something to do. */
  readonly while?: readonly string[];
}

const valueAt = (record: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], record);

/** The time of a record's lease, in milliseconds since 1970. */
export const leaseOf = <R extends Leasable>({ lease }: Pick<Leased<R>, 'lease'>, record: R): number =>
  Number(valueAt(record, lease) ?? 0);

/** The condition that a record is still as this run claimed it, or found it; what it had not it still has not. */
const isHeld = <R extends Leasable>({ lease, while: same = [] }: Leased<R>, record: R): Filter<R> =>
  Object.fromEntries(
    ['_id', lease, ...same].map((name) => [name, valueAt(record, name) ?? { $exists: false }]),
  ) as Filter<R>;

/** The condition that a record's lease has ended. */
export const isFree = <R extends Leasable>({ lease }: Leased<R>, open: Filter<R>): Filter<R> =>
  ({ ...open, [lease]: { $lte: new Date(clock.now()) } }) as Filter<R>;

/**
 * Claims a record whose lease has ended, until a time; `change` is made with it. One of any number of runs gets it, by
 * one conditional write; the others, and whoever asks for none that is `open`, get `null`.
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

/** Claims a record that is still as it was found, by one conditional write; `null` where another run was first. */
export const claimStale = <R extends Leasable>(
  leased: Leased<R>,
  found: R,
  update: UpdateFilter<R>,
): Promise<R | null> =>
  leased.records.findOneAndUpdate(isHeld(leased, found), update, { returnDocument: 'after' }) as Promise<R | null>;

/** Changes a record that this run holds; false where it does not any more. */
export const changeHeld = async <R extends Leasable>(
  leased: Leased<R>,
  record: R,
  update: UpdateFilter<R>,
): Promise<boolean> => {
  const { matchedCount } = await leased.records.updateOne(isHeld(leased, record), update);
  return matchedCount > 0;
};

/** Deletes a record that this run holds; false where it does not any more. */
export const deleteHeld = async <R extends Leasable>(leased: Leased<R>, record: R): Promise<boolean> => {
  const { deletedCount } = await leased.records.deleteOne(isHeld(leased, record));
  return deletedCount > 0;
};

/** Ends the lease of a record that this run holds, so that another can claim it at once; `change` is made with it. */
export const release = <R extends Leasable>(leased: Leased<R>, record: R, change: UpdateFilter<R>): Promise<boolean> =>
  changeHeld(leased, record, {
    ...change,
    $set: { ...change.$set, [leased.lease]: new Date(0) },
  } as UpdateFilter<R>);

/** Puts a record off that is still as it was found: from now on all others are before it. */
export const reschedule = <R extends Leasable>(leased: Leased<R>, found: R): Promise<boolean> =>
  changeHeld(leased, found, { $set: { [leased.lease]: new Date(clock.now()) } } as UpdateFilter<R>);

/** Work of which one run alone may be under way, in whatever functions they are: an item says whose turn it is. */
export interface Lock {
  readonly key: Key;
  /** Longer than any run may take: the turn of one that was killed is over then. */
  readonly leaseMs: number;
  /** How long a caller waits for its turn. */
  readonly patienceMs: number;
  /** Whether the work is still going on elsewhere after this error: its turn then ends with its lease. */
  readonly goesOn?: (error: unknown) => boolean;
  /** What a caller is told whose turn does not come; `retryAfter` in seconds. */
  readonly refusal: (retryAfter: number) => AppError;
}

/** A caller looks again after so long, give or take half, so that those who wait do not all ask at once. */
const waitMs = 200;

/**
 * Takes the turn by one conditional write, which knows its own repetition; else in how many ms it is over at the
 * latest.
 */
const takeTurn = async ({ key, leaseMs }: Lock, run: string): Promise<'taken' | number> => {
  const now = clock.now();
  const { done, item } = await write<{ readonly until?: number }>({
    update: key,
    change: 'SET #until = :until, #run = :run, expiresAt = :end',
    condition: 'attribute_not_exists(#until) OR #until <= :now OR #run = :run',
    values: { until: now + leaseMs, run, now, end: Math.ceil(now / 1000) + 3600 },
  });
  return done ? 'taken' : (item?.until ?? now) - now;
};

/** Ends the turn, unless it is another run's by now; where that fails, it is over when its lease has ended. */
const leave = ({ key }: Lock, run: string): Promise<boolean> =>
  tryOrLog('warn', { message: 'A turn was not given back, and ends by itself' }, () =>
    write({ update: key, change: 'REMOVE #until, #run', condition: '#run = :run', values: { run } }),
  );

/**
 * Does something in a turn of its own, which is waited for with the patience that there is; none → the refusal. One
 * write to take the turn and one to leave it.
 */
export const withLock = async <T>(turns: Lock, act: () => Promise<T>): Promise<T> => {
  const run = randomUUID();
  const end = clock.now() + turns.patienceMs;
  for (let left = await takeTurn(turns, run); left !== 'taken'; left = await takeTurn(turns, run)) {
    if (clock.now() >= end) throw turns.refusal(Math.max(1, Math.ceil(left / 1000)));
    await pause(waitMs * (0.5 + Math.random()));
  }
  let isOver = true;
  try {
    return await act();
  } catch (error) {
    isOver = !turns.goesOn?.(error);
    throw error;
  } finally {
    if (isOver) await leave(turns, run);
  }
};
