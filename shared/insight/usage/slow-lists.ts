import type { Collection } from '../../collections/collection.ts';
import { orderedIndexes } from '../../collections/indexes/indexes.ts';
import { currentRequest } from '../../core/log.ts';
import { countSlowList } from './tally.ts';

/** Lists that take at least this long count as slow, in ms. */
const slowMs = 100;
const maxFields = 4;

/** Whether a list took so long that advice may be due. */
export const isSlow = (ms: number): boolean => ms >= slowMs;

/** What a list filters and sorts by, with the fields in the order of a suitable index. */
export interface ListShape {
  readonly collection: string;
  /** The owner's field, where the list has only what a user owns. */
  readonly owner?: string;
  /** Fields compared with `=` or `_in`, by name. */
  readonly equal: readonly string[];
  readonly sort: readonly (readonly [field: string, direction: 1 | -1])[];
  /** Fields compared in any other way, by name. */
  readonly range: readonly string[];
}

const isServed = (collection: Collection, { owner, equal, range, sort }: ListShape): boolean => {
  const first = new Set([...equal, ...(equal.length > 0 ? [] : [...range, ...sort.map(([field]) => field)])]);
  return orderedIndexes(collection).some(({ key }) => {
    const fields = Object.keys(key).filter((field) => field !== owner);
    return first.has(fields[0] ?? '');
  });
};

/**
 * Notes a list that took long, or that MongoDB gave up, and that none of the service's own indexes serves, so that the
 * usage of the project can name the index that would (contract 6, "Usage"). Costs nothing for quick lists.
 */
export const recordSlowList = (collection: Collection, shape: Omit<ListShape, 'collection'>, ms: number): void => {
  const projectId = currentRequest.getStore()?.projectId;
  if (!isSlow(ms) || projectId === undefined) return;
  const named: ListShape = { collection: collection.name, ...shape };
  const fields = named.equal.length + named.sort.length + named.range.length;
  if (fields === 0 || fields > maxFields || isServed(collection, named)) return;
  countSlowList(projectId, JSON.stringify(named), ms);
};
