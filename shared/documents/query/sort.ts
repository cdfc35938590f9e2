import { hash } from 'node:crypto';
import type { Document as MongoDocument } from 'mongodb';
import { isHiddenPath } from '../../collections/collection.ts';
import { isFieldPath, isPosition, shown } from '../../collections/schema/field-path.ts';
import { AppError } from '../../core/errors.ts';
import { allOf, matching, type Selection } from './condition.ts';
import type { ListQuery } from './list-query.ts';

/** Ascending (`1`) or descending (`-1`). */
export type Direction = 1 | -1;

/** A sort key: a dotted path and its direction. */
interface SortKey {
  readonly path: string;
  readonly direction: Direction;
}

/** Sort keys, most significant first. The last one is always `_id`, so no two documents are equal. */
export type Sort = readonly [...SortKey[], SortKey];

const maxKeys = 4;

const parseKey = (text: string): SortKey => {
  const named = /^(.*):(asc|desc)$/s.exec(text);
  const path = named?.[1] ?? (text.startsWith('-') ? text.slice(1) : text);
  const descending = named ? named[2] === 'desc' : text.startsWith('-');
  if (isHiddenPath(path)) throw new AppError('INVALID_QUERY', `sort: documents cannot be sorted by ${shown(path)}.`);
  if (!isFieldPath(path) || path.includes(':') || (named && path.startsWith('-'))) {
    throw new AppError(
      'INVALID_QUERY',
      `sort: "${shown(text)}" is not a sort key. Write a field name, with "-" before it for descending order, or "field:asc", "field:desc".`,
    );
  }
  return { path, direction: descending ? -1 : 1 };
};

/**
 * Parses a `sort` parameter: `-a,b` or `a:desc,b:asc`, at most 4 keys, with `_id` added in the direction of the last
 * key. Empty means newest first. Throws 400 `INVALID_QUERY` for anything else (contract 2, "sort").
 */
export const parseSort = (text: string): Sort => {
  if (text === '') return [{ path: '_id', direction: -1 }];
  const keys = text.split(',').map(parseKey);
  if (keys.length > maxKeys) {
    throw new AppError('INVALID_QUERY', `sort takes at most ${maxKeys} keys; ${keys.length} were given.`);
  }
  const twice = keys.find(({ path }, index) => keys.findIndex((key) => key.path === path) !== index);
  if (twice) throw new AppError('INVALID_QUERY', `sort names "${shown(twice.path)}" more than once.`);
  const unique = keys.findIndex(({ path }) => path === '_id');
  const significant = unique === -1 ? keys : keys.slice(0, unique);
  const last = unique === -1 ? keys.at(-1) : keys[unique];
  return [...significant, { path: '_id', direction: last?.direction ?? -1 }];
};

/** The order for the driver. It is a Map, because an object would move names such as `0` to the front. */
export const toMongoSort = (sort: Sort): Map<string, Direction> =>
  new Map(sort.map(({ path, direction }) => [path, direction]));

/** The name under which MongoDB returns the sort key of a document. No document has such a field. */
export const sortKeyField = 'sortKey:9d0c1f6be27a4f5c';

/** True for the plain `_id` order, which needs no sort key other than the id. */
export const isById = (sort: Sort): boolean => sort.length === 1;

/** Requests the sort key of each document, unless its id is the key. */
export const sortKeyOf = (sort: Sort): Readonly<Record<string, { readonly $meta: 'sortKey' }>> =>
  isById(sort) ? {} : { [sortKeyField]: { $meta: 'sortKey' } };

/** A short fingerprint of a sort order in a collection of a project; `-g` and `g:desc` have the same. */
export const sortFingerprint = (projectId: string, collectionName: string, sort: Sort): string =>
  hash('sha256', JSON.stringify([projectId, collectionName, [...toMongoSort(sort)]]), 'base64url').slice(0, 11);

/** MongoDB's order of types, lowest first, with the names of `$type`. Types in the same group compare by value. */
const brackets = [
  ['minKey'],
  ['undefined'],
  ['null'],
  ['number'],
  ['string', 'symbol'],
  ['object'],
  ['array'],
  ['binData'],
  ['objectId'],
  ['bool'],
  ['date'],
  ['timestamp'],
  ['regex'],
  ['dbPointer'],
  ['javascript'],
  ['javascriptWithScope'],
  ['maxKey'],
] as const;

/** The name of a BSON type for `$type`. */
export type TypeName = (typeof brackets)[number][number];

const taggedTypes: ReadonlyMap<string, TypeName> = new Map([
  ['MinKey', 'minKey'],
  ['Int32', 'number'],
  ['Long', 'number'],
  ['Double', 'number'],
  ['Decimal128', 'number'],
  ['BSONSymbol', 'string'],
  ['Binary', 'binData'],
  ['ObjectId', 'objectId'],
  ['Timestamp', 'timestamp'],
  ['BSONRegExp', 'regex'],
  ['Code', 'javascript'],
  ['MaxKey', 'maxKey'],
]);

const objectType = (value: object): TypeName => {
  if (Array.isArray(value)) return 'array';
  if (value instanceof Date) return 'date';
  if (value instanceof RegExp) return 'regex';
  // The driver's classes inherit their tag. An object with its own is a document with a field of that name.
  const tag: unknown = '_bsontype' in value && !Object.hasOwn(value, '_bsontype') ? value._bsontype : undefined;
  return (typeof tag === 'string' ? taggedTypes.get(tag) : undefined) ?? 'object';
};

/** The BSON type of a value from the driver; `undefined` is MongoDB's sort key of an empty array. */
export const typeOf = (value: unknown): TypeName => {
  switch (typeof value) {
    case 'undefined':
      return 'undefined';
    case 'boolean':
      return 'bool';
    case 'number':
    case 'bigint':
      return 'number';
    case 'string':
      return 'string';
    default:
      return value === null ? 'null' : objectType(value as object);
  }
};

const bracketOf = (type: TypeName): number => brackets.findIndex((bracket) => bracket.some((name) => name === type));

/** The types that sort entirely after (`1`) or before (`-1`) the type of a value. */
export const typesBeyond = (value: unknown, direction: 1 | -1): readonly TypeName[] => {
  const bracket = bracketOf(typeOf(value));
  return (direction === 1 ? brackets.slice(bracket + 1) : brackets.slice(0, bracket)).flat();
};

const root = ({ path }: SortKey): string | undefined => path.split('.')[0];

/**
 * Whether no filter can express what follows a position: two keys through the same array are sorted by pairs of its
 * elements, a number in a path may be an index or a name, and filters do not compare regular expressions.
 */
export const needsSortKey = (sort: Sort, position: readonly unknown[]): boolean =>
  new Set(sort.map(root)).size < sort.length ||
  sort.some(({ path }) => path.split('.').some(isPosition)) ||
  position.some((value) => typeOf(value) === 'regex');

/** An empty array's `undefined` cannot be sent; a missing field sorts the same. */
const literal = (value: unknown): unknown => (value === undefined ? '$$REMOVE' : { $literal: value });

const comesAfter = (sort: Sort, position: readonly unknown[]): MongoDocument => {
  const compare = (operator: string, index: number): MongoDocument => ({
    [operator]: [{ $arrayElemAt: [`$${sortKeyField}`, index] }, literal(position[index])],
  });
  return {
    $or: sort.map(({ direction }, index) => ({
      $and: [
        ...sort.slice(0, index).map((_key, before) => compare('$eq', before)),
        compare(direction === 1 ? '$gt' : '$lt', index),
      ],
    })),
  };
};

/** A limit that changes nothing, like `barrier` of aggregations: MongoDB moves no condition across it. */
const pageBarrier: MongoDocument = { $limit: 2 ** 31 - 1 };

/** The documents skipped before a page, and its size. */
type PageAt = Pick<ListQuery, 'skip' | 'limit'>;

const pageAt = ({ skip, limit }: PageAt): MongoDocument[] => [
  ...(skip > 0 ? [{ $skip: skip }] : []),
  { $limit: limit },
];

/** A page whose patterns run last. The sort comes first, so that an index that serves both stops after the page. */
export const withPatterns = ({ conditions, afterwards }: Selection, sort: Sort, page: PageAt): MongoDocument[] => [
  { $match: allOf(conditions) },
  { $sort: toMongoSort(sort) },
  pageBarrier,
  { $match: allOf(afterwards) },
  ...pageAt(page),
  { $set: { [sortKeyField]: { $meta: 'sortKey' } } },
];

/**
 * A page for which nothing from the caller decides what is examined: the sort follows a barrier, as the conditions
 * do. MongoDB gives no sort key after a barrier, so a cursor names the last document.
 */
export const isolatedPage = (
  { conditions, afterwards, joins }: Selection,
  sort: Sort,
  page: PageAt,
): MongoDocument[] => [
  // In id order the index provides the order, so joins end with the page.
  ...(isById(sort) ? [{ $sort: toMongoSort(sort) }] : []),
  ...matching(allOf(conditions), joins),
  ...(isById(sort) ? [] : [pageBarrier, { $sort: toMongoSort(sort) }]),
  ...(afterwards.length > 0 ? [pageBarrier, { $match: allOf(afterwards) }] : []),
  ...pageAt(page),
];

/** A page by relevance. Of equal scores the newer document comes first. */
export const bestFirst = (selection: Selection, score: MongoDocument, page: PageAt): MongoDocument[] => [
  ...selected(selection),
  { $set: { [sortKeyField]: score } },
  { $sort: { [sortKeyField]: -1, _id: -1 } },
  ...pageAt(page),
];

/** The stages of a selection. */
export const selected = ({ conditions, afterwards, joins }: Selection): MongoDocument[] => [
  ...matching(allOf(conditions), joins),
  ...(afterwards.length > 0 ? [pageBarrier, { $match: allOf(afterwards) }] : []),
];

/**
 * The stages that find what follows a position by comparing MongoDB's sort keys: correct for every value, but
 * nothing is skipped before sorting. The large limit keeps the server from comparing before it has sorted. It
 * follows the sort because MongoDB gives empty sort keys if a limit precedes the sort.
 */
export const afterBySortKey = (
  { conditions, afterwards }: Selection,
  sort: Sort,
  position: readonly unknown[],
  limit: number,
): MongoDocument[] => [
  { $match: allOf(conditions) },
  { $sort: toMongoSort(sort) },
  pageBarrier,
  { $set: { [sortKeyField]: { $meta: 'sortKey' } } },
  ...(afterwards.length > 0 ? [{ $match: allOf(afterwards) }] : []),
  { $match: { $expr: comesAfter(sort, position) } },
  { $limit: limit },
];
