import { MongoServerError } from 'mongodb';
import type { Collection, IndexKeys } from '../../collections/collection.ts';
import { orderedIndexes } from '../../collections/indexes/indexes.ts';
import { type CollectionAccess, mayReadAll } from '../access/access.ts';
import type { ComparedFields } from './filter.ts';
import type { Sort } from './sort.ts';

/** An index by its keys, or the order in which documents are stored. */
export type IndexHint = Readonly<Record<string, number | string>>;

/** What a list compares, and its order. */
interface QueryShape extends ComparedFields {
  readonly sort: Sort;
}

/** Without the index everything is read, which tells as little of what hidden documents hold. */
const asStored: IndexHint = { $natural: 1 };

/** In the order of ids documents are hidden without being looked for. */
const byId: IndexHint = { _id: 1 };

/** The index that finds one owner's documents, in the order of their ids. */
const ownerIndex = ({ rls }: Collection): IndexHint => ({ [rls.ownerField]: 1, _id: 1 });

/** The index to find documents by id, where some are hidden from the caller: all of others, or their trash. */
export const hintById = (rights: CollectionAccess): IndexHint =>
  mayReadAll(rights) ? byId : ownerIndex(rights.collection);

/** How a pipeline reads a collection of which some documents are hidden from the caller. */
export const hintForAll = (rights: CollectionAccess): IndexHint =>
  mayReadAll(rights) ? asStored : ownerIndex(rights.collection);

const managedKeys = (collection: Collection): readonly IndexKeys[] =>
  orderedIndexes(collection).map(({ key }) => Object.entries(key).map(([path]) => [path, 1] as const));

/** How far an index serves a list beyond its owner: fields that are equal, then its whole order or one range. */
const served = (keys: IndexKeys, { equal, range, sort }: QueryShape): number => {
  const inner = keys.slice(1);
  const firstOther = inner.findIndex(([path]) => !equal.includes(path));
  const [compared, rest] = firstOther < 0 ? [inner.length, []] : [firstOther, inner.slice(firstOther)];
  const ordered = sort.filter(({ path }) => !equal.includes(path));
  const [first] = ordered;
  const turn = first && rest[0]?.[1] !== first.direction ? -1 : 1;
  const isOrder = ordered.every(
    ({ path, direction }, at) => rest[at]?.[0] === path && rest[at]?.[1] === turn * direction,
  );
  return 2 * compared + (isOrder || range.includes(rest[0]?.[0] ?? '') ? 1 : 0);
};

/**
 * The index that a list of one owner's documents is to use, which the database is told: its own choice would come from
 * trying others, on documents of other owners. Each of those that begin with the owner looks at the owner's alone.
 */
const ownerHint = (collection: Collection, shape: QueryShape): IndexHint => {
  const { ownerField } = collection.rls;
  const candidates = [...managedKeys(collection), ...(collection.ownIndexes ?? [])].filter(
    (keys) =>
      keys[0]?.[0] === ownerField && keys.every(([path, kind]) => typeof kind === 'number' && !/^\d+$/.test(path)),
  );
  const plain: IndexKeys = [
    [ownerField, 1],
    ['_id', 1],
  ];
  const best = candidates.reduce((a, b) => (served(b, shape) > served(a, shape) ? b : a), plain);
  return Object.fromEntries(best);
};

/**
 * The index that a list is to use of which some documents are hidden from the caller. Where that is only the trash of
 * others, documents are read in the order of ids until the page is full.
 */
export const hintForList = (rights: CollectionAccess, shape: QueryShape): IndexHint =>
  mayReadAll(rights) ? byId : ownerHint(rights.collection, shape);

/** True for the refusal of a hint that names no index. */
export const lacksIndex = (error: unknown): boolean =>
  error instanceof MongoServerError && /\bhint\b/.test(error.message);

/** Runs a read with its hint; where the index is not there, as while it is exchanged, in the order of storage. */
export const withHint = async <Result>(
  hint: IndexHint | undefined,
  read: (options: { readonly hint?: IndexHint }) => Promise<Result>,
): Promise<Result> => {
  if (!hint) return read({});
  try {
    return await read({ hint });
  } catch (error) {
    if (!lacksIndex(error)) throw error;
    return read({ hint: asStored });
  }
};
