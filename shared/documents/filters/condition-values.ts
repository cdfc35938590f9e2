import { type FieldType, isScalar, type ScalarType, withArticle } from '../../collections/schema/field-types.ts';
import { scalarRules } from '../../collections/schema/scalar-values.ts';
import { shown } from '../read/field-path.ts';
import { invalidFilter, maxListed } from './filter.ts';

/** The stored form of a JSON value; in a condition a number is no date. */
const storedForm = (type: ScalarType, value: unknown): unknown =>
  type === 'Date' && typeof value !== 'string' ? undefined : scalarRules[type].fromJson(value);

const described = (type: ScalarType): string =>
  type === 'Date' ? 'an ISO 8601 date, as a text' : scalarRules[type].described;

/**
 * What a condition compares with: the stored form of a JSON value by the field's type, where it has one. Lists, objects
 * and what is not of the type → 400 `INVALID_FILTER`; `null` is of every type.
 */
export const conditionValue = (type: FieldType | undefined, value: unknown, at: string): unknown => {
  if (typeof value === 'object' && value !== null) {
    throw invalidFilter(at, 'a list or an object is no value here. Use $in for one of several values, $all for all.');
  }
  if (value === null || type === undefined) return value;
  if (!isScalar(type)) {
    throw invalidFilter(at, `the field is ${withArticle(type)} and equals no single value. Compare one of its fields.`);
  }
  const stored = storedForm(type, value);
  if (stored === undefined) throw invalidFilter(at, `${shown(JSON.stringify(value))} is not ${described(type)}.`);
  return stored;
};

/** The same of a list of values, 1000 at most. */
export const conditionValues = (
  type: FieldType | undefined,
  operator: string,
  value: unknown,
  at: string,
): readonly unknown[] => {
  if (!Array.isArray(value)) throw invalidFilter(at, `${operator} takes a list of values.`);
  if (value.length > maxListed) throw invalidFilter(at, `${operator} takes at most ${maxListed} values.`);
  return value.map((element, index) => conditionValue(type, element, `${at}.${index}`));
};
