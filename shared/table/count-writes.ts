import { type Call, remember, undo } from './call-memory.ts';
import type { Key } from './item-key.ts';
import { expiryOf, type Window } from './windows.ts';
import type { Update } from './write-input.ts';

/** One of the numbers that an item counts: an attribute, by how much it rises, and how far it may. */
export interface Count {
  readonly name: string;
  readonly weight: number;
  readonly limit: number;
}

/** An item that counts within one window, which its key names; `expiresAt` in seconds since 1970, after its end. */
export interface Tally {
  readonly key: Key;
  readonly expiresAt: number;
  readonly counts: readonly Count[];
}

/** What counts in a window, under a key that names it. */
export const tallyIn = (window: Window, key: Key, ...counts: readonly Count[]): Tally => ({
  key,
  expiresAt: expiryOf(window),
  counts,
});

/** What is taken by one call: of the first item, which remembers the call, and of any others at once or not at all. */
export interface Taking {
  readonly tallies: readonly [Tally, ...Tally[]];
  readonly call: Call;
  /** Ids held in the first item until they are given back or kept: 1 to 100, of which the first is new or none. */
  readonly held?: readonly string[];
}

/** The parts of an update that change the numbers of a tally by `sign` times their weights. */
const changeOf = ({ counts, expiresAt }: Tally, sign: 1 | -1) => ({
  add: counts.map((_, at) => `#n${at} :n${at}`),
  fits: counts.map((_, at) => `(attribute_not_exists(#n${at}) OR #n${at} <= :room${at})`),
  names: Object.fromEntries(counts.map(({ name }, at) => [`n${at}`, name])),
  values: { ...Object.fromEntries(counts.map(({ weight }, at) => [`n${at}`, sign * weight])), end: expiresAt },
  rooms: Object.fromEntries(counts.map(({ weight, limit }, at) => [`room${at}`, limit - weight])),
});

/** Takes of the item that remembers. A call of no weight is the same write, and leaves nothing behind. */
export const takeFirst = ({ tallies: [tally], call, held = [] }: Taking): Update => {
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
export const takeOther = (tally: Tally): Update => {
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
export const giveFirst = ({ tallies: [tally], call, held = [] }: Taking): Update => {
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
export const giveOther = (tally: Tally): Update => {
  const { add, names, values } = changeOf(tally, -1);
  return { update: tally.key, change: `SET expiresAt = :end ADD ${add.join(', ')}`, names, values };
};

/** Lets ids go that an item holds, and changes no number. */
export const keepHeld = (tally: Tally, held: readonly string[]): Update => ({
  update: tally.key,
  change: 'DELETE held :held',
  condition: 'attribute_exists(held)',
  values: { held: new Set(held) },
});
