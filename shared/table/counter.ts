import { randomBytes } from 'node:crypto';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { type Call, remembers } from './call-memory.ts';
import {
  type Count,
  giveFirst,
  giveOther,
  keepHeld,
  type Taking,
  type Tally,
  takeFirst,
  takeOther,
  tallyIn,
} from './count-writes.ts';
import { get, write } from './item.ts';
import type { Key } from './item-key.ts';
import { type Found, transact } from './transact.ts';
import type { Item } from './values.ts';
import { secondsLeft, type Window } from './windows.ts';
import type { Update } from './write-input.ts';

// Counts what is limited in a window of time, such as the mails of a month. One conditional write takes, of one item or
// of several at once. The client repeats a write whose answer was lost; the repetition is recognised for at least a
// minute (call-memory.ts), also where others have written meanwhile, so that nothing counts twice.

/** `item` is the first one, as far as the write tells it; `full` the number that has no room. */
export type Outcome =
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

const fullIn = (tally: Tally | undefined, { refused, item }: Found): Count | undefined =>
  refused ? tally?.counts.find(({ name, weight, limit }) => countIn(item, name) > limit - weight) : undefined;

/**
 * Takes all of it, or nothing and tells what is full. `item` is missing where several items were written, or where
 * another than the first is full. The table out of reach → `SERVICE_UNAVAILABLE`.
 */
export const take = async (taking: Taking): Promise<Outcome> => {
  const { tallies, call, held = [] } = taking;
  const tooMuch = tallies.flatMap(({ counts }) => counts).find(({ weight, limit }) => weight > limit);
  if (tooMuch) return { taken: false, full: tooMuch, item: undefined };
  const [, ...others] = tallies;
  const { item, found } = await count([takeFirst(taking), ...others.map(takeOther)]);
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
export const takeOne = async (
  window: Window,
  key: Key,
  { name, limit }: Pick<Count, 'name' | 'limit'>,
  refusal: string,
): Promise<Taking> => {
  const taking: Taking = { call: newCall(), tallies: [tallyIn(window, key, { name, weight: 1, limit })] };
  const { taken } = await take(taking);
  if (!taken) throw new AppError('RATE_LIMITED', refusal, { retryAfter: secondsLeft(window, clock.now()) });
  return taking;
};

/**
 * Gives back what was taken, once however often and by however many it is called: false where that was done before.
 * What is not held can be given back for a minute.
 */
export const giveBack = async (taking: Taking): Promise<boolean> => {
  const [, ...others] = taking.tallies;
  const { found } = await count([giveFirst(taking), ...others.map(giveOther)]);
  return !found;
};

/** What is held stays counted for good: it cannot be given back any more. May be repeated. */
export const keep = async ({ tallies: [tally], held = [] }: Taking): Promise<void> => {
  await write(keepHeld(tally, held));
};

/** Attributes of an item that counts, as they are; all of them unless named. `undefined` where there is no item. */
export const peek = ({ key }: Pick<Tally, 'key'>, ...names: readonly string[]): Promise<Item | undefined> =>
  get(key, names);
