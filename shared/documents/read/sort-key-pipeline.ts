import type { Document as MongoDocument } from 'mongodb';
import { typeOf } from './bson-order.ts';
import { allOf, type Selection } from './condition.ts';
import { isPosition } from './field-at.ts';
import type { ListQuery } from './list-query.ts';
import { type Sort, type SortKey, sortKeyField, toMongoSort } from './sort.ts';

const root = ({ path }: SortKey): string | undefined => path.split('.')[0];

/**
 * Whether a keyset filter cannot express what comes after a position: two keys that may run through the same array are
 * sorted by pairs of its elements, a number in a path may be an index or a name, and filters do not compare regular
 * expressions.
 */
export const needsSortKey = (sort: Sort, position: readonly unknown[]): boolean =>
  new Set(sort.map(root)).size < sort.length ||
  sort.some(({ path }) => path.split('.').some(isPosition)) ||
  position.some((value) => typeOf(value) === 'regex');

/** An empty array's `undefined` cannot be sent; a removed field sorts the same. */
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

/** A no-op limit, of pages as that of aggregations is `barrier`; MongoDB moves no condition across it. */
const pageBarrier: MongoDocument = { $limit: 2 ** 31 - 1 };

/** How many documents are left out before a page, and how many it has. */
type PageAt = Pick<ListQuery, 'skip' | 'limit'>;

const pageAt = ({ skip, limit }: PageAt): MongoDocument[] => [
  ...(skip > 0 ? [{ $skip: skip }] : []),
  { $limit: limit },
];

/** One page whose patterns run last. Sorting comes first, so that an index that serves both stops after it. */
export const withPatterns = ({ conditions, afterwards }: Selection, sort: Sort, page: PageAt): MongoDocument[] => [
  { $match: allOf(conditions) },
  { $sort: toMongoSort(sort) },
  pageBarrier,
  { $match: allOf(afterwards) },
  ...pageAt(page),
  { $set: { [sortKeyField]: { $meta: 'sortKey' } } },
];

/** One page of what fits best; of two that fit as well the newer comes first. */
export const bestFirst = (selection: Selection, score: MongoDocument, page: PageAt): MongoDocument[] => [
  ...selected(selection),
  { $set: { [sortKeyField]: score } },
  { $sort: { [sortKeyField]: -1, _id: -1 } },
  ...pageAt(page),
];

/** The stages that leave what is selected. */
export const selected = ({ conditions, afterwards }: Selection): MongoDocument[] => [
  { $match: allOf(conditions) },
  ...(afterwards.length > 0 ? [pageBarrier, { $match: allOf(afterwards) }] : []),
];

/**
 * The stages that find what comes after a position by comparing MongoDB's own sort keys: right for every value, but
 * nothing is left out before sorting. The wide limit keeps the server from comparing before it has sorted.
 */
export const afterBySortKey = (
  selection: Selection,
  sort: Sort,
  position: readonly unknown[],
  limit: number,
): MongoDocument[] => [
  ...selected(selection),
  { $sort: toMongoSort(sort) },
  pageBarrier,
  { $set: { [sortKeyField]: { $meta: 'sortKey' } } },
  { $match: { $expr: comesAfter(sort, position) } },
  { $limit: limit },
];
