import { hash } from 'node:crypto';
import { isPrivate } from '../collections/collection.ts';
import { activeRecords, type CollectionRecord } from '../collections/collection-record.ts';
import { keysBuilt } from '../collections/indexes/custom-index.ts';
import { clock, dayMs } from '../core/clock.ts';
import type { Item } from '../persistence/dynamo.ts';
import type { Project } from '../projects/project.ts';
import { addStats, dayOf, loadStats, type StatsPlace } from './requests.ts';
import type { ListShape } from './tally.ts';

export interface ShapeCount {
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

const maxReturned = 20;
const maxCollections = 1000;

type Keys = readonly (readonly [field: string, direction: 1 | -1])[];

/** Equality first, led by the owner, then the order, then ranges; `_id` completes the order. */
const keysFor = ({ owner, equal: compared, sort, range }: ListShape): Keys => {
  const equal = owner === undefined ? compared : [owner, ...compared.filter((field) => field !== owner)];
  const ordered = sort.filter(([field]) => !equal.includes(field));
  const ranged = range.filter((field) => !equal.includes(field) && !ordered.some(([name]) => name === field));
  return [
    ...equal.map((field) => [field, 1] as const),
    ...ordered,
    ...ranged.map((field) => [field, 1] as const),
    ['_id', ordered.at(-1)?.[1] ?? 1] as const,
  ];
};

const isBuilt = (wanted: Keys, { indexes = [], rls }: CollectionRecord): boolean =>
  indexes.some(({ keys }) => {
    const built = keysBuilt(keys, rls);
    return wanted.every(([field], at) => field === '_id' || built[at]?.[0] === field);
  });

/** In a private collection an index begins with the owner unless it names the owner elsewhere. */
const askedFor = (wanted: Keys, { owner }: ListShape, { rls }: CollectionRecord): Keys =>
  isPrivate(rls) && owner === undefined && !wanted.some(([field]) => field === rls.ownerField)
    ? [...wanted, [rls.ownerField, 1]]
    : wanted;

const sumUp = async (projectId: string): Promise<ReadonlyMap<string, { lists: number; ms: number }>> => {
  const sums = new Map<string, { lists: number; ms: number }>();
  for (const day of [dayOf(clock.now()), dayOf(clock.now() - dayMs)]) {
    for (const [name, value] of await loadStats('queries', projectId, day)) {
      const cut = name.indexOf('|');
      const shape = name.slice(cut + 1);
      const { lists, ms } = sums.get(shape) ?? { lists: 0, ms: 0 };
      sums.set(shape, name.startsWith('n|') ? { lists: lists + value, ms } : { lists, ms: ms + value });
    }
  }
  return sums;
};

/**
 * Returns up to 20 indexes for lists that were slow today or yesterday, most time saved first. Each is a body that
 * creates the index.
 */
export const listMissingIndexes = async (project: Project) => {
  const sums = [...(await sumUp(project.id))].sort(([, a], [, b]) => b.ms - a.ms);
  if (sums.length === 0) return [];
  const active = await activeRecords(project, { limit: maxCollections });
  const records = new Map(active.map((record) => [record.name, record]));
  const found = sums.flatMap(([text, { lists, ms }]) => {
    const shape = JSON.parse(text) as ListShape;
    const record = records.get(shape.collection);
    const keys = keysFor(shape);
    if (lists === 0 || !record || isBuilt(keys, record)) return [];
    return [
      {
        collection: shape.collection,
        filters: [...shape.equal, ...shape.range],
        sort: shape.sort.map(([field, direction]) => (direction === 1 ? field : `-${field}`)),
        lists,
        averageMs: Math.round(ms / lists),
        index: { keys: Object.fromEntries(askedFor(keys, shape, record)) },
      },
    ];
  });
  return found.slice(0, maxReturned);
};
