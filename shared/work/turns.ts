import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { clock } from '../core/clock.ts';
import type { AppError } from '../core/errors.ts';
import { orLog } from '../core/log.ts';
import { write } from '../table/item.ts';
import type { Key } from '../table/item-key.ts';

/** Work of which one run alone may be under way, in whatever functions they are: an item says whose turn it is. */
export interface Turns {
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
const takeTurn = async ({ key, leaseMs }: Turns, run: string): Promise<'taken' | number> => {
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
const leave = ({ key }: Turns, run: string): Promise<boolean> =>
  orLog('warn', { message: 'A turn was not given back, and ends by itself' }, () =>
    write({ update: key, change: 'REMOVE #until, #run', condition: '#run = :run', values: { run } }),
  );

/**
 * Does something in a turn of its own, which is waited for with the patience that there is; none → the refusal. One
 * write to take the turn and one to leave it.
 */
export const inTurn = async <T>(turns: Turns, act: () => Promise<T>): Promise<T> => {
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
