import type { Item, Values } from './values.ts';

// An item that counts remembers the ids of its latest calls in three sets, each of one minute: a call enters the set of
// its minute, and the same write removes the set of the minute after, which is the oldest. So a call is known again for
// at least one minute and at most three, fifteen times as long as a call of the table may take with its repetition.
// One item takes some thousands of writes in that time, so the sets stay below 100 KB.

const minuteMs = 60_000;

const setOf = (minute: number): string => `calls${minute % 3}`;

/** A call that is to be known again. */
export interface Call {
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
export const undo = ({ id, at }: Call): Omit<Remembering, 'remove'> => {
  const set = setOf(Math.floor(at / minuteMs));
  return {
    add: `${set} :calls`,
    isNew: `contains(${set}, :call) AND NOT contains(${set}, :undone)`,
    values: { call: id, undone: undoneId(id), calls: new Set([undoneId(id)]) },
  };
};
