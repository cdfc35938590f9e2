import { ObjectId } from 'mongodb';
import type { Collection, ValueType } from '../../collections/collection.ts';
import { AppError } from '../../core/errors.ts';
import { isJsonObject } from '../write/schema-values.ts';
import { isPosition, typeAt } from './field-at.ts';
import { shown } from './field-path.ts';

/** A `Ref` field to populate: the way to it, and the name of the collection it points into. */
export interface RefPath {
  readonly segments: readonly string[];
  readonly target: string;
}

/** The collection that a field's references point into, arrays of references included. */
const targetOf = (field: ValueType | undefined): string | undefined => {
  if (field?.type === 'Array') return targetOf(field.items);
  return field?.ref;
};

/** Looks the fields to populate up in the schema; one that is not a `Ref` → 400 `INVALID_QUERY`. */
export const refPaths = (collection: Collection, paths: readonly string[]): readonly RefPath[] =>
  paths.map((path) => {
    const target = targetOf(typeAt(collection, path));
    if (target === undefined) {
      throw new AppError('INVALID_QUERY', `"${shown(path)}" cannot be populated: it is not a Ref field of the schema.`);
    }
    return { segments: path.split('.'), target };
  });

/** A copy in which every reference at the end of a path, through arrays too, is what `replace` makes of it. */
export const mapRefs = (value: unknown, segments: readonly string[], replace: (id: ObjectId) => unknown): unknown => {
  const [segment, ...rest] = segments;
  if (Array.isArray(value)) {
    if (segment === undefined || !isPosition(segment)) return value.map((item) => mapRefs(item, segments, replace));
    return value.map((item, index) => (index === Number(segment) ? mapRefs(item, rest, replace) : item));
  }
  if (segment === undefined) return value instanceof ObjectId ? replace(value) : value;
  if (!isJsonObject(value) || !Object.hasOwn(value, segment)) return value;
  return { ...value, [segment]: mapRefs(value[segment], rest, replace) };
};
