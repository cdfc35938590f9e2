import { randomBytes } from 'node:crypto';
import { clock, expiryOf, secondsLeft, type Window } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import type { Item, Update, Values } from './dynamo.ts';
import type { Key } from './item-keys.ts';
import { type Found, get, transact, write } from './table.ts';

// An item that counts remembers the ids of its latest calls in three sets, each of one minute: a call enters the set of
// its minute, and the same write removes the set of the minute after, which is the oldest. So a call is known again for
// at least one minute and at most three, fifteen times as long as a call of the table may take with its repetition.
// One item takes some thousands of writes in that time, so the sets stay below 100 KB.

const minuteMs = 60_000;

const setOf = (minute: number): string => `calls${minute % 3}`;

/** A call that is to be known again. */
interface Call {
  /** Unique; a repeated write has the same. */
  readonly id: string;
  /** When it was made first, in ms since 1970. */
  readonly at: number;
}

/** The parts of an update by which an item remembers a call. */
interface Remembering {
  /** A term of `ADD`. */
  readonly add: string;
  /** A term of `REMOVE`. */
  readonly remove: string;
  /** The condition: that the call has not been made. */
  readonly isNew: string;
  readonly values: Values;
}

/** Remembers a call; `as` is what is written of it, where that is not its id. */
export const remember = ({ id, at }: Call, as = id): Remembering => {
  const minute = Math.floor(at / minuteMs);
  return {
    add: `${setOf(minute)} :calls`,
    remove: setOf(minute + 1),
    isNew: `NOT contains(${setOf(minute)}, :call)`,
    values: { call: id, calls: new Set([as]) },
  };
};

/** Whether an item remembers a call. */
export const remembers = (item: Item | undefined, { id, at }: Call): boolean => {
  const calls = item?.[setOf(Math.floor(at / minuteMs))];
  return calls instanceof Set && calls.has(id);
};

const undoneId = (id: string): string => `-${id}`;

/** The parts of an update that undoes a remembered call once. */
const undo = ({ id, at }: Call): Omit<Remembering, 'remove'> => {
  const set = setOf(Math.floor(at / minuteMs));
  return {
    add: `${set} :calls`,
    isNew: `contains(${set}, :call) AND NOT contains(${set}, :undone)`,
    values: { call: id, undone: undoneId(id), calls: new Set([undoneId(id)]) },
  };
};

/** One of the numbers that an item counts: an attribute, by how much it rises, and how far it may. */
export interface Count {
  readonly name: string;
  readonly weight: number;
  readonly limit: number;
}

/** An item that counts within one window, which its key names; `expiresAt` in seconds since 1970, after its end. */
export interface Counter {
  readonly key: Key;
  readonly expiresAt: number;
  readonly counts: readonly Count[];
}

/** What counts in a window, under a key that names it. */
export const counterIn = (window: Window, key: Key, ...counts: readonly Count[]): Counter => ({
  key,
  expiresAt: expiryOf(window),
  counts,
});

/** What is taken by one call: of the first item, which remembers the call, and of any others at once or not at all. */
export interface Reservation {
  readonly tallies: readonly [Counter, ...Counter[]];
  readonly call: Call;
  /** Ids held in the first item until they are given back or kept: 1 to 100, of which the first is new or none. */
  readonly held?: readonly string[];
}

/** The parts of an update that change the numbers of a tally by `sign` times their weights. */
const changeOf = ({ counts, expiresAt }: Counter, sign: 1 | -1) => ({
  add: counts.map((_, at) => `#n${at} :n${at}`),
  fits: counts.map((_, at) => `(attribute_not_exists(#n${at}) OR #n${at} <= :room${at})`),
  names: Object.fromEntries(counts.map(({ name }, at) => [`n${at}`, name])),
  values: { ...Object.fromEntries(counts.map(({ weight }, at) => [`n${at}`, sign * weight])), end: expiresAt },
  rooms: Object.fromEntries(counts.map(({ weight, limit }, at) => [`room${at}`, limit - weight])),
});

/** Takes of the item that remembers. A call of no weight is the same write, and leaves nothing behind. */
const reserveFirst = ({ tallies: [tally], call, held = [] }: Reservation): Update => {
  const { add, fits, names, values, rooms } = changeOf(tally, 1);
  const weighs = tally.counts.some(({ weight }) => weight > 0);
  const known = remember(call, weighs ? call.id : '-');
  const [first] = held;
  const holds = first !== undefined;
  return {
    update: tally.key,
    change: `SET expiresAt = :end REMOVE ${known.remove} ADD ${[...add, known.add, ...(holds ? ['held :held'] : [])].join(', ')}`,
    condition: [...fits, known.isNew, ...(holds ? ['NOT contains(held, :first)'] : [])].join(' AND '),
    names,
    values: { ...values, ...rooms, ...known.values, ...(holds && { held: new Set(held), first }) },
  };
};

/** Takes of another item, in one transaction with the first. */
const reserveOther = (tally: Counter): Update => {
  const { add, fits, names, values, rooms } = changeOf(tally, 1);
  return {
    update: tally.key,
    change: `SET expiresAt = :end ADD ${add.join(', ')}`,
    condition: fits.join(' AND '),
    names,
    values: { ...values, ...rooms },
  };
};

/** Gives back to the item that remembers, once: what it holds, or what the call took. */
const refundFirst = ({ tallies: [tally], call, held = [] }: Reservation): Update => {
  const { add, names, values } = changeOf(tally, -1);
  const known = undo(call);
  const isHeld = held.length > 0;
  return {
    update: tally.key,
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

/** Gives back to another item. */
const refundOther = (tally: Counter): Update => {
  const { add, names, values } = changeOf(tally, -1);
  return { update: tally.key, change: `SET expiresAt = :end ADD ${add.join(', ')}`, names, values };
};

/** Lets ids go that an item holds, and changes no number. */
const keepHeld = (tally: Counter, held: readonly string[]): Update => ({
  update: tally.key,
  change: 'DELETE held :held',
  condition: 'attribute_exists(held)',
  values: { held: new Set(held) },
});

// Counts what is limited in a window of time, such as the mails of a month. One conditional write takes, of one item or
// of several at once. The client repeats a write whose answer was lost; the repetition is recognised for at least a
// minute (call-memory.ts), also where others have written meanwhile, so that nothing counts twice.

/** `item` is the first one, as far as the write tells it; `full` the number that has no room. */
type Outcome =
  | { readonly taken: true; readonly item: Item | undefined }
  | { readonly taken: false; readonly full: Count | undefined; readonly item: Item | undefined };

/** A call that is made now. */
export const newCall = (): Call => ({ id: randomBytes(9).toString('base64url'), at: clock.now() });

/** A number of an item; 0 where it has none. */
export const countIn = (item: Item | undefined, name: string): number => Number(item?.[name] ?? 0);

/** The ids that an item holds. */
export const heldIn = (item: Item | undefined): readonly string[] => (item?.held instanceof Set ? [...item.held] : []);

/** Makes one update, or several in a transaction; `found`, what each of them found, if a condition failed. */
const count = async (
  updates: readonly [Update, ...Update[]],
): Promise<{ readonly item?: Item | undefined; readonly found?: readonly Found[] | undefined }> => {
  if (updates.length > 1) return { found: await transact(updates) };
  const { done, item } = await write(updates[0], 'ALL_NEW');
  return done ? { item } : { found: [{ refused: true, item }] };
};

const fullIn = (tally: Counter | undefined, { refused, item }: Found): Count | undefined =>
  refused ? tally?.counts.find(({ name, weight, limit }) => countIn(item, name) > limit - weight) : undefined;

/**
 * Takes all of it, or nothing and tells what is full. `item` is missing where several items were written, or where
 * another than the first is full. The table out of reach → `SERVICE_UNAVAILABLE`.
 */
export const reserve = async (taking: Reservation): Promise<Outcome> => {
  const { tallies, call, held = [] } = taking;
  const tooMuch = tallies.flatMap(({ counts }) => counts).find(({ weight, limit }) => weight > limit);
  if (tooMuch) return { taken: false, full: tooMuch, item: undefined };
  const [, ...others] = tallies;
  const { item, found } = await count([reserveFirst(taking), ...others.map(reserveOther)]);
  if (!found) return { taken: true, item };
  const [{ item: known } = { item: undefined }] = found;
  const [firstId] = held;
  if (remembers(known, call) || (firstId !== undefined && heldIn(known).includes(firstId))) {
    return { taken: true, item: known };
  }
  const full = found.flatMap((each, at) => fullIn(tallies[at], each) ?? [])[0];
  return { taken: false, full, item: known };
};

/**
 * Takes one of what an item counts by a name, and returns what `giveBack` undoes; the window is full → 429
 * `RATE_LIMITED` with this message.
 */
export const reserveOne = async (
  window: Window,
  key: Key,
  { name, limit }: Pick<Count, 'name' | 'limit'>,
  refusal: string,
): Promise<Reservation> => {
  const taking: Reservation = { call: newCall(), tallies: [counterIn(window, key, { name, weight: 1, limit })] };
  const { taken } = await reserve(taking);
  if (!taken) throw new AppError('RATE_LIMITED', refusal, { retryAfter: secondsLeft(window, clock.now()) });
  return taking;
};

/**
 * Gives back what was taken, once however often and by however many it is called: false where that was done before.
 * What is not held can be given back for a minute.
 */
export const refund = async (taking: Reservation): Promise<boolean> => {
  const [, ...others] = taking.tallies;
  const { found } = await count([refundFirst(taking), ...others.map(refundOther)]);
  return !found;
};

/** What is held stays counted for good: it cannot be given back any more. May be repeated. */
export const keep = async ({ tallies: [tally], held = [] }: Reservation): Promise<void> => {
  await write(keepHeld(tally, held));
};

/** Attributes of an item that counts, as they are; all of them unless named. `undefined` where there is no item. */
export const peek = ({ key }: Pick<Counter, 'key'>, ...names: readonly string[]): Promise<Item | undefined> =>
  get(key, names);
