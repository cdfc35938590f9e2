import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { clock } from '../core/clock.ts';
import type { AppError } from '../core/errors.ts';
import { orLog } from '../core/log.ts';
import { write } from '../table/item.ts';
import type { Key } from '../table/item-key.ts';

/** Work of which only so many runs may be under way, in whatever functions they are: one item has a place for each. */
export interface Turns {
  readonly key: Key;
  readonly places: number;
  /** Longer than any run may take: the place of one that was killed is free then. */
  readonly leaseMs: number;
  /** How long a caller waits for a place. */
  readonly patienceMs: number;
  /** What a caller is told who finds no place free; `retryAfter` in seconds. */
  readonly refusal: (retryAfter: number) => AppError;
}

/** Place → until when it is taken, in ms since 1970, and by which run. */
type Places = Readonly<Record<string, unknown>>;

/** A caller looks again after so long, give or take half, so that those who wait do not all ask at once. */
const waitMs = 200;

const endOf = (places: Places | undefined, place: number): number => Number(places?.[`until${place}`] ?? 0);

const namesOf = (place: number) => ({ until: `until${place}`, run: `run${place}` });

/** Takes a place that is free by one conditional write, which knows its own repetition; else the places as they are. */
const takePlace = async ({ key, leaseMs }: Turns, place: number, run: string): Promise<Places | 'taken'> => {
  const now = clock.now();
  const { done, item } = await write<Places>({
    update: key,
    change: 'SET #until = :until, #run = :run, expiresAt = :end',
    condition: 'attribute_not_exists(#until) OR #until <= :now OR #run = :run',
    names: namesOf(place),
    values: { until: now + leaseMs, run, now, end: Math.ceil(now / 1000) + 3600 },
  });
  return done ? 'taken' : (item ?? {});
};

/** Frees the place, unless it was another run's by now; where that fails, it is free when its lease has ended. */
const leave = ({ key }: Turns, place: number, run: string): Promise<boolean> =>
  orLog('warn', { message: 'A turn was not given back, and ends by itself' }, () =>
    write({
      update: key,
      change: 'REMOVE #until, #run',
      condition: '#run = :run',
      names: namesOf(place),
      values: { run },
    }),
  );

/** Takes any place; else in how many milliseconds the first one is free at the latest. */
const takeAny = async (
  turns: Turns,
  run: string,
): Promise<{ readonly place: number } | { readonly freeIn: number }> => {
  const all = Array.from({ length: turns.places }, (_, place) => place);
  let place = Math.floor(Math.random() * turns.places);
  for (let tries = 0; tries < 2 * turns.places; tries++) {
    const found = await takePlace(turns, place, run);
    if (found === 'taken') return { place };
    const now = clock.now();
    const free = all.find((other) => endOf(found, other) <= now);
    if (free === undefined) return { freeIn: Math.min(...all.map((other) => endOf(found, other))) - now };
    place = free;
  }
  return { freeIn: 1000 };
};

/**
 * Does something in a place of its own, which is waited for with the patience that there is; none free → the refusal.
 * One write to take the place and one to leave it.
 */
export const inTurn = async <T>(turns: Turns, act: () => Promise<T>): Promise<T> => {
  const run = randomUUID();
  const end = clock.now() + turns.patienceMs;
  for (;;) {
    const found = await takeAny(turns, run);
    if ('place' in found) {
      try {
        return await act();
      } finally {
        await leave(turns, found.place, run);
      }
    }
    if (clock.now() >= end) {
      throw turns.refusal(Math.max(1, Math.ceil(found.freeIn / 1000)));
    }
    await pause(waitMs * (0.5 + Math.random()));
  }
};
