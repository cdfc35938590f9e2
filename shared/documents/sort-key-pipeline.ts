import type { Document as MongoDocument } from 'mongodb';
import { typeOf } from './bson-order.ts';
import type { Condition } from './condition.ts';
import { isPosition } from './field-at.ts';
import { type Sort, type SortKey, sortKeyField, toMongoSort } from './sort.ts';

const root = ({ path }: SortKey): string | undefined => path.split('.')[0];

/**
 * Whether no filter can tell what comes after a position: two keys that may run through the same array are sorted by pairs of
 * its elements, a number in a path may be a position or a name, and regular expressions are not compared by filters.
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

/**
 * The stages that find what comes after a position by comparing MongoDB's own sort keys: right for every value, but nothing
 * is left out before sorting. The wide limit keeps the server from comparing before it has sorted.
 */
export const afterBySortKey = (
  filter: Condition,
  sort: Sort,
  position: readonly unknown[],
  limit: number,
): MongoDocument[] => [
  { $match: filter },
  { $sort: toMongoSort(sort) },
  { $limit: 2 ** 31 - 1 },
  { $set: { [sortKeyField]: { $meta: 'sortKey' } } },
  { $match: { $expr: comesAfter(sort, position) } },
  { $limit: limit },
];
