import { randomBytes } from 'node:crypto';
import { clock, expiryOf, secondsLeft, type Window } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import type { Item, Update, Values } from './dynamo.ts';
import type { Key } from './item-keys.ts';
import { type Found, get, transact, write } from './table.ts';

// An item has the ids of its latest calls in three sets, one per minute. A call is added to the set of its minute, and
// the same write removes the oldest set. So a retry is recognized for at least one minute, fifteen times the maximum
// time of a call, and the sets of the busiest items stay below 100 KB.

const minuteMs = 60_000;

const setOf = (minute: number): string => `calls${minute % 3}`;

interface Call {
  /** Unique; a retry has the same. */
  readonly id: string;
  /** Time of the first attempt, in ms since 1970. */
  readonly at: number;
}

/** The parts of an update that record a call. */
interface CallParts {
  /** For `ADD`. */
  readonly add: string;
  /** For `REMOVE`. */
  readonly remove: string;
  /** The condition that the call was not made before. */
  readonly isNew: string;
  readonly values: Values;
}

/** `as` is stored instead of the call's id. */
export const recordCall = ({ id, at }: Call, as = id): CallParts => {
  const minute = Math.floor(at / minuteMs);
  return {
    add: `${setOf(minute)} :calls`,
    remove: setOf(minute + 1),
    isNew: `NOT contains(${setOf(minute)}, :call)`,
    values: { call: id, calls: new Set([as]) },
  };
};

export const hasCall = (item: Item | undefined, { id, at }: Call): boolean => {
  const calls = item?.[setOf(Math.floor(at / minuteMs))];
  return calls instanceof Set && calls.has(id);
};

const undoneId = (id: string): string => `-${id}`;

/** The parts of an update that undo a recorded call one time. */
const undo = ({ id, at }: Call): Omit<CallParts, 'remove'> => {
  const set = setOf(Math.floor(at / minuteMs));
  return {
    add: `${set} :calls`,
    isNew: `contains(${set}, :call) AND NOT contains(${set}, :undone)`,
    values: { call: id, undone: undoneId(id), calls: new Set([undoneId(id)]) },
  };
};

/** A number of an item: its attribute, by how much it rises, and its maximum. */
export interface Count {
  readonly name: string;
  readonly weight: number;
  readonly limit: number;
}

/** An item that counts in one window, which its key names. `expiresAt` is in seconds since 1970. */
export interface Counter {
  readonly key: Key;
  readonly expiresAt: number;
  readonly counts: readonly Count[];
}

export const counterIn = (window: Window, key: Key, ...counts: readonly Count[]): Counter => ({
  key,
  expiresAt: expiryOf(window),
  counts,
});

/** What one call reserves: from the first item, which records the call, and from the others in the same transaction. */
export interface Reservation {
  readonly tallies: readonly [Counter, ...Counter[]];
  readonly call: Call;
  /** 1 to 100 ids that the first item holds until they are refunded or kept. Either the first id is new, or none is. */
  readonly held?: readonly string[];
}

/** Changes each number by `sign` times its weight. */
const changeOf = ({ counts, expiresAt }: Counter, sign: 1 | -1) => ({
  add: counts.map((_, at) => `#n${at} :n${at}`),
  fits: counts.map((_, at) => `(attribute_not_exists(#n${at}) OR #n${at} <= :room${at})`),
  names: Object.fromEntries(counts.map(({ name }, at) => [`n${at}`, name])),
  values: { ...Object.fromEntries(counts.map(({ weight }, at) => [`n${at}`, sign * weight])), end: expiresAt },
  rooms: Object.fromEntries(counts.map(({ weight, limit }, at) => [`room${at}`, limit - weight])),
});

/** Reserves from the first item. A call without weight is not recorded. */
const reserveFirst = ({ tallies: [counter], call, held = [] }: Reservation): Update => {
  const { add, fits, names, values, rooms } = changeOf(counter, 1);
  const weighs = counter.counts.some(({ weight }) => weight > 0);
  const known = recordCall(call, weighs ? call.id : '-');
  const [first] = held;
  const holds = first !== undefined;
  return {
    update: counter.key,
    change: `SET expiresAt = :end REMOVE ${known.remove} ADD ${[...add, known.add, ...(holds ? ['held :held'] : [])].join(', ')}`,
    condition: [...fits, known.isNew, ...(holds ? ['NOT contains(held, :first)'] : [])].join(' AND '),
    names,
    values: { ...values, ...rooms, ...known.values, ...(holds && { held: new Set(held), first }) },
  };
};

const reserveOther = (counter: Counter): Update => {
  const { add, fits, names, values, rooms } = changeOf(counter, 1);
  return {
    update: counter.key,
    change: `SET expiresAt = :end ADD ${add.join(', ')}`,
    condition: fits.join(' AND '),
    names,
    values: { ...values, ...rooms },
  };
};

/** Refunds the first item one time: the held ids, or what the call reserved. */
const refundFirst = ({ tallies: [counter], call, held = [] }: Reservation): Update => {
  const { add, names, values } = changeOf(counter, -1);
  const known = undo(call);
  const isHeld = held.length > 0;
  return {
    update: counter.key,
    change: `SET expiresAt = :end ADD ${[...add, ...(isHeld ? [] : [known.add])].join(', ')}${isHeld ? ' DELETE held :held' : ''}`,
    condition: isHeld ? held.map((_, at) => `contains(held, :held${at})`).join(' AND ') : known.isNew,
    names,
    values: {
      ...values,
      ...(isHeld
        ? { held: new Set(held), ...Object.fromEntries(held.map((id, at) => [`held${at}`, id])) }
        : known.values),
    },
  };
};

const refundOther = (counter: Counter): Update => {
  const { add, names, values } = changeOf(counter, -1);
  return { update: counter.key, change: `SET expiresAt = :end ADD ${add.join(', ')}`, names, values };
};

/** Removes held ids without changing a number. */
const keepHeld = (counter: Counter, held: readonly string[]): Update => ({
  update: counter.key,
  change: 'DELETE held :held',
  condition: 'attribute_exists(held)',
  values: { held: new Set(held) },
});

// Counts what is limited in a window of time, such as the emails of a month, by one conditional write or one
// transaction. Retries count one time, also if others have written in between.

/** `item`: the first item, if the write returns it. `full`: the number that has no room. */
type Outcome =
  | { readonly taken: true; readonly item: Item | undefined }
  | { readonly taken: false; readonly full: Count | undefined; readonly item: Item | undefined };

export const newCall = (): Call => ({ id: randomBytes(9).toString('base64url'), at: clock.now() });

export const countIn = (item: Item | undefined, name: string): number => Number(item?.[name] ?? 0);

export const heldIn = (item: Item | undefined): readonly string[] => (item?.held instanceof Set ? [...item.held] : []);

/** Makes one update, or several in a transaction. `found`: the items, if a condition failed. */
const count = async (
  updates: readonly [Update, ...Update[]],
): Promise<{ readonly item?: Item | undefined; readonly found?: readonly Found[] | undefined }> => {
  if (updates.length > 1) return { found: await transact(updates) };
  const { done, item } = await write(updates[0], 'ALL_NEW');
  return done ? { item } : { found: [{ refused: true, item }] };
};

const fullIn = (counter: Counter | undefined, { refused, item }: Found): Count | undefined =>
  refused ? counter?.counts.find(({ name, weight, limit }) => countIn(item, name) > limit - weight) : undefined;

/**
 * Reserves everything, or nothing and returns what is full. `item` is missing if several items were written, or if
 * another than the first is full.
 */
export const reserve = async (reservation: Reservation): Promise<Outcome> => {
  const { tallies, call, held = [] } = reservation;
  const tooMuch = tallies.flatMap(({ counts }) => counts).find(({ weight, limit }) => weight > limit);
  if (tooMuch) return { taken: false, full: tooMuch, item: undefined };
  const [, ...others] = tallies;
  const { item, found } = await count([reserveFirst(reservation), ...others.map(reserveOther)]);
  if (!found) return { taken: true, item };
  const [{ item: known } = { item: undefined }] = found;
  const [firstId] = held;
  if (hasCall(known, call) || (firstId !== undefined && heldIn(known).includes(firstId))) {
    return { taken: true, item: known };
  }
  const full = found.flatMap((each, at) => fullIn(tallies[at], each) ?? [])[0];
  return { taken: false, full, item: known };
};

/** Reserves one of a number; a full window throws 429 `RATE_LIMITED` with the message `refusal`. */
export const reserveOne = async (
  window: Window,
  key: Key,
  { name, limit }: Pick<Count, 'name' | 'limit'>,
  refusal: string,
): Promise<Reservation> => {
  const reservation: Reservation = { call: newCall(), tallies: [counterIn(window, key, { name, weight: 1, limit })] };
  const { taken } = await reserve(reservation);
  if (!taken) throw new AppError('RATE_LIMITED', refusal, { retryAfter: secondsLeft(window, clock.now()) });
  return reservation;
};

/**
 * Refunds a reservation one time, however often it is called; false if it was refunded before. A reservation without
 * held ids can be refunded for a minute.
 */
export const refund = async (reservation: Reservation): Promise<boolean> => {
  const [, ...others] = reservation.tallies;
  const { found } = await count([refundFirst(reservation), ...others.map(refundOther)]);
  return !found;
};

/** Makes held ids permanent: they can no longer be refunded. May be repeated. */
export const keep = async ({ tallies: [counter], held = [] }: Reservation): Promise<void> => {
  await write(keepHeld(counter, held));
};

/** The item's attributes, all of them by default. */
export const peek = ({ key }: Pick<Counter, 'key'>, ...names: readonly string[]): Promise<Item | undefined> =>
  get(key, names);
