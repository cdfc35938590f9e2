import { hash } from 'node:crypto';
import { isHiddenPath } from '../../collections/collection.ts';
import { AppError } from '../../core/errors.ts';
import { isFieldPath, shown } from './field-path.ts';

/** Ascending (`1`) or descending (`-1`). */
export type Direction = 1 | -1;

/** One key of an order: a dotted path and its direction. */
export interface SortKey {
  readonly path: string;
  readonly direction: Direction;
}

/** The keys of an order, most significant first; the last one is always `_id`, so no two documents are equal. */
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
 * The order a `sort` parameter asks for: `-a,b` or `a:desc,b:asc`, at most 4 keys, `_id` added in the direction of the
 * key before it. Nothing given → newest first. Anything else → 400 `INVALID_QUERY` (contract 2, "sort").
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

/** The order as the driver takes it; a Map, because an object would move names like `0` to the front. */
export const toMongoSort = (sort: Sort): Map<string, Direction> =>
  new Map(sort.map(({ path, direction }) => [path, direction]));

/** Under this name, which no document of a caller has, MongoDB returns the sort key of a document. */
export const sortKeyField = 'sortKey:9d0c1f6be27a4f5c';

/** True for the plain `_id` order, which needs no sort keys besides the id. */
export const isById = (sort: Sort): boolean => sort.length === 1;

/** Has MongoDB return the sort key of each document, where its id alone is not the key. */
export const sortKeyOf = (sort: Sort): Readonly<Record<string, { readonly $meta: 'sortKey' }>> =>
  isById(sort) ? {} : { [sortKeyField]: { $meta: 'sortKey' } };

/** A short fingerprint of an order in a collection of a project; `-g` and `g:desc` have the same. */
export const sortFingerprint = (projectId: string, collectionName: string, sort: Sort): string =>
  hash('sha256', JSON.stringify([projectId, collectionName, [...toMongoSort(sort)]]), 'base64url').slice(0, 11);
