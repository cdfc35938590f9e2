import { ObjectId } from 'mongodb';
import type { FieldType } from '../../collections/collection.ts';
import { AppError } from '../../core/errors.ts';
import { parseDate } from '../date-value.ts';
import type { FieldAt } from './field-at.ts';
import { shown } from './field-path.ts';

/** The refusal of a filter (400). `name` is the query parameter as it was given. */
export const invalidFilter = (name: string, reason: string): AppError =>
  new AppError('INVALID_FILTER', `Filter "${shown(name)}": ${reason}`);

const number = (text: string): number | undefined => {
  const value = /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
};

/** `true` or `false`, in any case, since languages write them in several; `undefined` for any other text. */
export const booleanOf = (text: string): boolean | undefined =>
  /^true$/i.test(text) ? true : /^false$/i.test(text) ? false : undefined;

const id = (text: string): ObjectId | undefined =>
  /^[0-9a-f]{24}$/i.test(text) ? ObjectId.createFromHexString(text) : undefined;

const date = (text: string): Date | undefined =>
  parseDate(/^-?\d{5,16}$/.test(text) ? Number(text) : text) ?? parseDate(number(text));

const readers: Readonly<Partial<Record<FieldType, (text: string) => unknown>>> = {
  String: (text) => text,
  Number: number,
  Boolean: booleanOf,
  Date: date,
  Ref: id,
};

const described: Readonly<Partial<Record<FieldType, string>>> = {
  Number: 'a number',
  Boolean: 'true or false',
  Date: 'an ISO 8601 date or whole milliseconds',
  Ref: 'a document id of 24 hexadecimal characters',
};

/** What a text may stand for where no schema says: itself, a boolean, and the number whose exact text it is. */
const untyped = (text: string): readonly unknown[] => {
  if (text === 'null') return [text, null];
  const isTrue = booleanOf(text);
  if (isTrue !== undefined) return [text, isTrue];
  const value = number(text);
  return value !== undefined && String(value) === text ? [text, value] : [text];
};

/** The type that a filter's values have: on arrays an element is enough, so it is theirs. `undefined`: anything. */
export const comparedType = (at: FieldAt | undefined): FieldType | undefined => {
  const type = at?.type === 'Array' ? at.items?.type : at?.type;
  return type === 'Array' ? undefined : type;
};

/**
 * The values a filter's text matches, one of a field with a type, up to two where anything goes; `null` finds missing
 * values too. A text that does not fit the type → 400 `INVALID_FILTER` (contract 2, "Filter values").
 */
export const filterValues = (name: string, type: FieldType | undefined, text: string): readonly unknown[] => {
  if (type === undefined) return untyped(text);
  if (type !== 'String' && text === 'null') return [null];
  if (type === 'Object') {
    throw invalidFilter(
      name,
      'the field is an Object and cannot be compared with a text. Filter by one of its fields.',
    );
  }
  const value = readers[type]?.(text);
  if (value === undefined) throw invalidFilter(name, `"${shown(text)}" is not ${described[type]}.`);
  return [value];
};
