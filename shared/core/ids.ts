import { hash, randomInt } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { clock } from './clock.ts';
import { currentRequest, type RequestIds } from './log.ts';

/** What the two bytes of a second's fraction count. */
const fractionsPerSecond = 2 ** 16;
const randomValues = 2 ** 48;
/** An id lies below so far above the one before it: too far to guess, near enough for 65 536 in a fraction. */
const maxStep = 2 ** 32;

/** Seconds and fraction of a time in milliseconds, as one number of 48 bits. */
const fractionsAt = (ms: number): number =>
  Math.floor(ms / 1000) * fractionsPerSecond + Math.floor(((ms % 1000) / 1000) * fractionsPerSecond);

/** A random whole number, at least `min` and below `max`. */
type Random = (min: number, max: number) => number;

/**
 * A source of ids ordered by time: 4 bytes of seconds since 1970, 2 of the second's fraction, 6 random. Each id is
 * greater than the one before, also if the clock (`now`, ms) goes back: then the random bytes rise by a random step.
 */
export const idSource = (now: () => number, random: Random = randomInt): (() => ObjectId) => {
  let time = 0;
  let rest = randomValues;
  return () => {
    const present = fractionsAt(now());
    if (present > time) {
      time = present;
      rest = random(0, randomValues - 1);
    } else {
      rest += random(1, maxStep);
      if (rest >= randomValues) {
        time += 1;
        rest = random(0, randomValues - 1);
      }
    }
    const bytes = Buffer.allocUnsafe(12);
    bytes.writeUIntBE(time, 0, 6);
    bytes.writeUIntBE(rest, 6, 6);
    return new ObjectId(bytes);
  };
};

/** The same numbers for the same seed, which nobody can guess without it. */
const seeded = (seed: string): Random => {
  let drawn = 0;
  return (min, max) => min + (hash('sha256', `${seed} ${drawn++}`, 'buffer').readUIntBE(0, 6) % (max - min));
};

/**
 * The ids of what a request stores whose first run had this seed and began at `begunAt` (ms since 1970). A repeat gets
 * the same, so that it finds what an earlier run stored, and cannot store it again.
 */
export const requestIds = (seed: string, begunAt: number, isRepeat: boolean): RequestIds => {
  const source = () => idSource(() => begunAt, seeded(seed));
  return {
    next: source(),
    earlier: isRepeat
      ? (count) => {
          const next = source();
          return Array.from({ length: count }, () => next());
        }
      : undefined,
  };
};

const freshId = idSource(() => clock.now());

/** The `_id` of whatever is stored anew: `_id` descending is newest first over all processes (contract 1, "Ids"). */
export const newId = (): ObjectId => (currentRequest.getStore()?.ids?.next ?? freshId)();

/** The ids of the first things that this request stores, where an earlier run of it may have stored them. */
export const earlierIds = (count: number): readonly ObjectId[] | undefined =>
  currentRequest.getStore()?.ids?.earlier?.(count);
