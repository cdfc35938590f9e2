import { isPrivate, keysBuilt } from '../collections/collection.ts';
import { activeRecords, type CollectionRecord } from '../collections/collection-record.ts';
import { clock, dayMs } from '../core/clock.ts';
import type { Project } from '../projects/project.ts';
import { dayOf, loadStats } from './requests.ts';
import type { ListShape } from './slow-lists.ts';

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
    // The database finds documents by their id without another index.
    if (lists === 0 || !record || shape.equal.includes('_id') || isBuilt(keys, record)) return [];
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
