import { systemFields } from '../../collections/collection.ts';
import type { Document } from '../document.ts';
import { present } from '../present.ts';
import type { ListQuery } from './list-query.ts';

type Wanted = Pick<ListQuery, 'fields' | 'meta'>;

const dropped = [...systemFields].filter((field) => field !== '_id');

const isDropped = (path: string): boolean => dropped.includes(path.split('.')[0] ?? '');

/** What MongoDB must leave out or keep for `fields` and `meta`; `_id` always comes. */
export const toProjection = ({ fields, meta }: Wanted): Readonly<Record<string, 0 | 1>> => {
  if (!fields) return meta ? {} : Object.fromEntries(dropped.map((field) => [field, 0]));
  const kept = meta ? fields : fields.filter((path) => !isDropped(path));
  return Object.fromEntries([['_id', 1], ...kept.map((path) => [path, 1])]);
};

/**
 * A projected document as the caller sees it: the system fields it lacks are shown with their defaults where wanted.
 */
export const presentProjected = (document: Document, { fields, meta }: Wanted): Document => {
  if (!meta) return document;
  if (!fields) return present(document);
  const { isDeleted, deletedAt } = present(document);
  return {
    ...document,
    ...(fields.includes('isDeleted') ? { isDeleted } : {}),
    ...(fields.includes('deletedAt') ? { deletedAt } : {}),
  };
};
