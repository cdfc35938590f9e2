import type { Field, ValueType } from '../collections/collection.ts';
import { brokenBound } from '../collections/schema/field-bounds.ts';
import { type FieldType, scalarRules, withArticle } from '../collections/schema/field-types.ts';
import { type FieldError, maxErrors } from '../core/errors.ts';
import type { JsonObject } from './document.ts';

/** True for a plain object: JSON, or a document inside another. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

const fail = (errors: FieldError[], field: string, message: string): undefined => {
  if (errors.length < maxErrors) errors.push({ field, message });
  return undefined;
};

const convertElements = (items: ValueType, values: readonly unknown[], path: string, errors: FieldError[]): unknown[] =>
  values.map((value, position) => convertValue(items, value, `${path}.${position}`, errors));

/** The stored form of a value of the type, or `undefined` if it is not of the type. */
const typed = (at: ValueType, value: unknown, path: string, errors: FieldError[]): unknown => {
  switch (at.type) {
    case 'Object':
      if (!isJsonObject(value)) return undefined;
      return at.fields ? convertFields(at.fields, value, `${path}.`, errors) : value;
    case 'Array':
      if (!Array.isArray(value)) return undefined;
      return at.items ? convertElements(at.items, value, path, errors) : value;
    default:
      return scalarRules[at.type].fromJson(value);
  }
};

/** The spelling of values of types that JSON does not have. */
const written: { readonly [Type in FieldType]?: string } = {
  Date: ' in ISO 8601, such as 2026-01-31 or 2026-01-31T09:30:00Z',
  Ref: ', the _id of a document: 24 hexadecimal characters',
};

const convertValue = (at: ValueType, value: unknown, path: string, errors: FieldError[]): unknown => {
  const converted = typed(at, value, path, errors);
  if (converted !== undefined) {
    const broken = brokenBound(at, converted);
    return broken === undefined ? converted : fail(errors, path, `${path} ${broken}`);
  }
  return fail(errors, path, `${path} must be ${withArticle(at.type)}${written[at.type] ?? ''}`);
};

/**
 * The stored form of a field's or array element's value: `Date` → BSON date, `Ref` → ObjectId, also in sub-fields
 * and elements. `null` is valid for an optional field, never for an element. Failures are added to `errors` with
 * their dotted path.
 */
export const convert = (at: ValueType | Field, value: unknown, path: string, errors: FieldError[]): unknown => {
  if (value !== null || !('required' in at)) return convertValue(at, value, path, errors);
  return at.required ? fail(errors, path, `${path} is required`) : null;
};

/**
 * The stored form of an object: missing fields get their default, missing required fields fail, and fields that the
 * schema does not name stay. `prefix` is the path before its keys, with a dot at the end.
 */
export const convertFields = (
  fields: readonly Field[],
  object: JsonObject,
  prefix: string,
  errors: FieldError[],
): JsonObject => {
  const stored: Record<string, unknown> = { ...object };
  for (const field of fields) {
    const path = prefix + field.key;
    if (Object.hasOwn(object, field.key)) stored[field.key] = convert(field, object[field.key], path, errors);
    else if (field.default !== undefined) stored[field.key] = field.default;
    else if (field.required) fail(errors, path, `${path} is required`);
  }
  return stored;
};

/** Every key of the objects in a value, at any depth, with its value; in no particular order. */
export function* entriesIn(value: unknown): Generator<readonly [key: string, inner: unknown]> {
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (Array.isArray(next)) {
      for (const element of next) left.push(element);
    } else if (isJsonObject(next)) {
      for (const entry of Object.entries(next)) {
        yield entry;
        left.push(entry[1]);
      }
    }
  }
}
