import { AppError, validationFailed } from '../../core/errors.ts';
import type { Document, JsonObject } from '../document.ts';
import { isPosition } from '../read/field-at.ts';
import { sizeOf } from './document-size.ts';
import type { Guard } from './guarded-write.ts';
import { isJsonObject } from './schema-values.ts';

/** The refusal of an update (400). */
export const invalidUpdate = (message: string): AppError => new AppError('INVALID_UPDATE', message);

/** The value a fetched document has at a path of names and positions. */
const valueAt = (document: Document, path: string): unknown =>
  path.split('.').reduce<unknown>((value, segment) => {
    if (Array.isArray(value)) return value[Number(segment)];
    return isJsonObject(value) && Object.hasOwn(value, segment) ? value[segment] : undefined;
  }, document);

/** An element is set only where there is an array; MongoDB would make an absent one an object. */
export const mustBeArray = (path: string): Guard => ({
  filter: { [path]: { $type: 'array' } },
  refusal: (document) =>
    Array.isArray(valueAt(document, path))
      ? undefined
      : invalidUpdate(`"${path}" is not set to an array, so no element of it can be set. Set "${path}" as a whole.`),
});

/** `00` names a field, but MongoDB takes it for a position where there is an array. */
export const mustNotBeArray = (path: string, name: string): Guard => ({
  filter: { [path]: { $not: { $type: 'array' } } },
  refusal: (document) =>
    Array.isArray(valueAt(document, path))
      ? invalidUpdate(`"${path}" is an Array: "${name}" is no position in it. Write ${Number(name)}.`)
      : undefined,
});

/** A position beyond the end is refused: MongoDB would fill the gap with nulls, up to 1.5 million of them. */
export const mustReach = (path: string, position: number): Guard => ({
  filter: {
    $or: [{ [path]: { $not: { $type: 'array' } } }, { [`${path}.${position - 1}`]: { $exists: true } }],
  },
  refusal: (document) => {
    const value = valueAt(document, path);
    return Array.isArray(value) && value.length < position
      ? invalidUpdate(`"${path}.${position}" is beyond the end of the array, which has ${value.length} elements.`)
      : undefined;
  },
});

/** An absent object is not brought into being without the sub-fields it requires. */
export const mustBeObject = (path: string, requiredField: string): Guard => ({
  filter: { [path]: { $type: 'object' } },
  refusal: (document) => {
    if (isJsonObject(valueAt(document, path))) return undefined;
    const field = `${path}.${requiredField}`;
    return validationFailed({ field, message: `${field} is required` });
  },
});

/** Bytes of BSON that a value takes, and a little more. */
const bytesOf = (value: unknown): number => sizeOf({ v: value });

/** What is replaced takes as much room as what is set; positions of arrays count as nothing, as no path knows them. */
export const mustNotGrow = (set: JsonObject, refusal: AppError): Guard => {
  const paths = Object.keys(set);
  const named = paths.filter((path) => !path.split('.').some(isPosition));
  const unnamed = (paths.length - named.length) * bytesOf(undefined);
  const needed = paths.reduce((bytes, path) => bytes + bytesOf(set[path]), 0) - unnamed;
  return {
    filter: { $expr: { $gte: [{ $add: [0, ...named.map((path) => ({ $bsonSize: { v: `$${path}` } }))] }, needed] } },
    refusal: (document) =>
      named.reduce((bytes, path) => bytes + bytesOf(valueAt(document, path)), 0) < needed ? refusal : undefined,
  };
};
