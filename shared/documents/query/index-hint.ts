import { MongoServerError } from 'mongodb';
import type { Collection, IndexKeys } from '../../collections/collection.ts';
import { orderedIndexes } from '../../collections/indexes/indexes.ts';
import { type CollectionAccess, mayReadAll } from '../access/access.ts';
import type { ComparedFields } from './filter.ts';
import type { Sort } from './sort.ts';

/** An index by its keys, or the storage order. */
export type IndexHint = Readonly<Record<string, number | string>>;

/** The compared fields and the sort order of a list. */
interface QueryShape extends ComparedFields {
  readonly sort: Sort;
}

/** Without the index everything is read, which reveals just as little about hidden documents. */
const asStored: IndexHint = { $natural: 1 };

/** In id order hidden documents are skipped without being searched. */
const byId: IndexHint = { _id: 1 };

/** The index of an owner's documents in id order. */
const ownerIndex = ({ rls }: Collection): IndexHint => ({ [rls.ownerField]: 1, _id: 1 });

/** The index to find documents by id if some are hidden from the caller: all of others, or their trash. */
export const hintById = (context: CollectionAccess): IndexHint =>
  mayReadAll(context) ? byId : ownerIndex(context.collection);

/** How a pipeline reads a collection with hidden documents. */
export const hintForAll = (context: CollectionAccess): IndexHint =>
  mayReadAll(context) ? asStored : ownerIndex(context.collection);

const managedKeys = (collection: Collection): readonly IndexKeys[] =>
  orderedIndexes(collection).map(({ key }) => Object.entries(key).map(([path]) => [path, 1] as const));

/** How well an index serves a list beyond its owner: equal fields, then its whole order or one range. */
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
 * The index for a list of one owner's documents, passed as a hint: the database would choose by trying others on
 * documents of other owners. An index that begins with the owner only touches the owner's.
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
 * The index for a list with hidden documents. If only the trash of others is hidden, documents are read in id order
 * until the page is full.
 */
export const hintForList = (context: CollectionAccess, shape: QueryShape): IndexHint =>
  mayReadAll(context) ? byId : ownerHint(context.collection, shape);

/** True for the error of a hint that names no index. */
export const lacksIndex = (error: unknown): boolean =>
  error instanceof MongoServerError && /\bhint\b/.test(error.message);

/** Runs a read with its hint; if the index is missing, for example while it is replaced, in storage order. */
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
