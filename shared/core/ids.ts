import { hash, randomInt } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { clock } from './clock.ts';
import { currentRequest, type RequestIds } from './request.ts';

/** Two bytes count the fraction of a second. */
const fractionsPerSecond = 2 ** 16;
const randomValues = 2 ** 48;
/** Maximum distance between two ids of one fraction: too large to guess, small enough for 65,536 ids. */
const maxStep = 2 ** 32;

/** Seconds and fraction of `ms` as one 48-bit number. */
const fractionsAt = (ms: number): number =>
  Math.floor(ms / 1000) * fractionsPerSecond + Math.floor(((ms % 1000) / 1000) * fractionsPerSecond);

/** Returns an integer of at least `min` and below `max`. */
type Random = (min: number, max: number) => number;

/**
 * Ids ordered by time: 4 bytes of seconds since 1970, 2 of the fraction, 6 random. Each id is greater than the one
 * before, also if the clock goes back: then the random bytes rise by a random step.
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

/** The same numbers for the same seed; they cannot be guessed without it. */
const seeded = (seed: string): Random => {
  let drawn = 0;
  return (min, max) => min + (hash('sha256', `${seed} ${drawn++}`, 'buffer').readUIntBE(0, 6) % (max - min));
};

/**
 * The ids that a request with an `Idempotency-Key` stores. A repeat gets the same ids, so that it finds what an earlier
 * run stored and cannot store it twice.
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

/** The `_id` of a new record. Descending order is newest first across processes (contract 1, "Ids"). */
export const newId = (): ObjectId => (currentRequest.getStore()?.ids?.next ?? freshId)();

/** The first ids of this request, if an earlier run may have stored them. */
export const earlierIds = (count: number): readonly ObjectId[] | undefined =>
  currentRequest.getStore()?.ids?.earlier?.(count);

/**
 * Runs work that may start again, such as a transaction: each run gets the same ids, as a repeat of the request would.
 */
export const withSameIds = <T>(work: () => Promise<T>): (() => Promise<T>) => {
  const record = currentRequest.getStore();
  const { ids } = record ?? {};
  if (!record || !ids) return work;
  const drawn: ObjectId[] = [];
  return async () => {
    let at = 0;
    const next = () => {
      const id = drawn[at] ?? ids.next();
      drawn[at] = id;
      at += 1;
      return id;
    };
    record.ids = { ...ids, next };
    return work();
  };
};
