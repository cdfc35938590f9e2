import { hash } from 'node:crypto';
import type { Item } from '../../table/values.ts';
import { addStats, type StatsPlace } from './stats-items.ts';

/** What was counted of one shape of slow list, see slow-lists.ts: how many lists, and how long they took in ms. */
export interface ShapeCount {
  readonly shape: string;
  readonly lists: number;
  readonly ms: number;
}

/** Names of fields are the callers' to invent: a project's day has room for so many shapes, of so many bytes each. */
export const maxShapes = 100;
const maxShapeBytes = 500;

/** What one update adds to; its expression stays far below the 4 KiB that DynamoDB allows. */
const shapesPerUpdate = 25;

const nameOf = (shape: string): string => `n|${shape}`;
const idOf = (shape: string): string => hash('sha256', shape, 'base64url').slice(0, 12);

/** Adds to these shapes if the day has room for `fresh` new ones; the item as it is where it has not. */
const add = async (place: StatsPlace, counts: readonly ShapeCount[], fresh: number): Promise<Item | undefined> => {
  const numbers = counts.flatMap(({ shape, lists, ms }) => [
    [nameOf(shape), lists] as const,
    [`ms|${shape}`, ms] as const,
  ]);
  const ids = new Set(counts.map(({ shape }) => idOf(shape)));
  const most = fresh > 0 ? maxShapes - fresh : undefined;
  const { done, item } = await addStats('queries', place, numbers, { ids, most });
  return done ? undefined : (item ?? {});
};

/** Adds to what the day knows already, and to as many others as it has room for. */
const addSome = async (
  place: StatsPlace,
  counts: readonly ShapeCount[],
  item: Item,
  isLast: boolean,
): Promise<void> => {
  const known = counts.filter(({ shape }) => item[nameOf(shape)] !== undefined);
  const room = isLast ? 0 : Math.max(0, maxShapes - (item.shapes instanceof Set ? item.shapes.size : 0));
  const fresh = counts.filter((count) => !known.includes(count)).slice(0, room);
  if (known.length + fresh.length === 0) return;
  const full = await add(place, [...known, ...fresh], fresh.length);
  if (full) await addSome(place, counts, full, true);
};

/**
 * Adds what was counted of slow lists to a project's day. One conditional write decides which shapes are new: the first
 * 100 of a day count, whatever names callers give to fields; others, and those of over 500 bytes, are dropped.
 */
export const storeShapes = async (place: StatsPlace, counts: readonly ShapeCount[]): Promise<void> => {
  const short = counts.filter(({ shape }) => Buffer.byteLength(shape) <= maxShapeBytes);
  for (let start = 0; start < short.length; start += shapesPerUpdate) {
    const some = short.slice(start, start + shapesPerUpdate);
    const full = await add(place, some, some.length);
    if (full) await addSome(place, some, full, false);
  }
};
