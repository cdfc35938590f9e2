import { hash } from 'node:crypto';
import type { Collection } from '../collections/collection.ts';
import { orderedIndexes } from '../collections/indexes/indexes.ts';
import { currentRequest } from '../core/request.ts';
import type { Item } from '../persistence/dynamo.ts';
import { addStats, type StatsPlace } from './requests.ts';
import { addToTally, type Statistics } from './tally.ts';

interface ShapeCount {
  readonly shape: string;
  readonly lists: number;
  readonly ms: number;
}

/** Callers can invent field names, so shapes per day and their bytes are limited. */
export const maxShapes = 100;
const maxShapeBytes = 500;

/** DynamoDB limits expressions to 4 KiB. */
const shapesPerUpdate = 25;

const nameOf = (shape: string): string => `n|${shape}`;
const idOf = (shape: string): string => hash('sha256', shape, 'base64url').slice(0, 12);

/** Adds the counts if the day has room for `fresh` new shapes; otherwise returns the item. */
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

/** Adds known shapes, and as many new ones as there is room for. */
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
 * One conditional write decides which shapes are new: the first 100 of a day count. Others, and shapes over 500 bytes,
 * are dropped.
 */
export const storeShapes = async (place: StatsPlace, counts: readonly ShapeCount[]): Promise<void> => {
  const short = counts.filter(({ shape }) => Buffer.byteLength(shape) <= maxShapeBytes);
  for (let start = 0; start < short.length; start += shapesPerUpdate) {
    const some = short.slice(start, start + shapesPerUpdate);
    const full = await add(place, some, some.length);
    if (full) await addSome(place, some, full, false);
  }
};

const shapesIn = (values: ReadonlyMap<string, number>): ShapeCount[] =>
  [...values].flatMap(([name, lists]) => {
    const shape = name.slice(2);
    return name.startsWith('n|') ? [{ shape, lists, ms: values.get(`ms|${shape}`) ?? 0 }] : [];
  });

const queries: Statistics = { kind: 'queries', store: (place, values) => storeShapes(place, shapesIn(values)) };

const slowMs = 100;
const maxFields = 4;

export const isSlow = (ms: number): boolean => ms >= slowMs;

/** Fields in the order of a suitable index. */
export interface ListShape {
  readonly collection: string;
  /** Set if the list only contains one user's documents. */
  readonly owner?: string;
  readonly equal: readonly string[];
  readonly sort: readonly (readonly [field: string, direction: 1 | -1])[];
  readonly range: readonly string[];
}

const isServed = (collection: Collection, { owner, equal, range, sort }: ListShape): boolean => {
  const first = new Set([...equal, ...(equal.length > 0 ? [] : [...range, ...sort.map(([field]) => field)])]);
  return orderedIndexes(collection).some(({ key }) => {
    const fields = Object.keys(key).filter((field) => field !== owner);
    return first.has(fields[0] ?? '');
  });
};

/** Counts a list that was slow or timed out and that no index of the service supports. Quick lists cost nothing. */
export const recordSlowList = (collection: Collection, shape: Omit<ListShape, 'collection'>, ms: number): void => {
  const projectId = currentRequest.getStore()?.projectId;
  if (!isSlow(ms) || projectId === undefined) return;
  const named: ListShape = { collection: collection.name, ...shape };
  const fields = named.equal.length + named.sort.length + named.range.length;
  if (fields === 0 || fields > maxFields || isServed(collection, named)) return;
  const text = JSON.stringify(named);
  addToTally(queries, projectId, `n|${text}`, 1);
  addToTally(queries, projectId, `ms|${text}`, Math.round(ms));
};
