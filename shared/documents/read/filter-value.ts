import type { ValueType } from '../../collections/collection.ts';
import { type FieldType, fieldTypes, isScalar, withArticle } from '../../collections/schema/field-types.ts';
import { AppError } from '../../core/errors.ts';
import { scalarRules, untypedValues } from '../scalar-values.ts';
import { shown } from './field-path.ts';

/** The refusal of a filter (400). `name` is the query parameter as it was given. */
export const invalidFilter = (name: string, reason: string): AppError =>
  new AppError('INVALID_FILTER', `Filter "${shown(name)}": ${reason}`);

/** The type that a filter's values have: on arrays an element is enough, so it is theirs. `undefined`: anything. */
export const comparedType = (at: ValueType | undefined): FieldType | undefined => {
  const type = at?.type === 'Array' ? at.items?.type : at?.type;
  return type === 'Array' ? undefined : type;
};

/** Whether values of a type are texts, which patterns match and of which `null` is one. */
export const isText = (type: FieldType): boolean => fieldTypes[type].bsonType === 'string';

/**
 * The values a filter's text matches, one of a field with a type, up to two where anything goes; `null` finds missing
 * values too. A text that does not fit the type → 400 `INVALID_FILTER` (contract 2, "Filter values").
 */
export const filterValues = (name: string, type: FieldType | undefined, text: string): readonly unknown[] => {
  if (type === undefined) return untypedValues(text);
  if (!isText(type) && text === 'null') return [null];
  if (!isScalar(type)) {
    throw invalidFilter(
      name,
      `the field is ${withArticle(type)} and cannot be compared with a text. Filter by one of its fields.`,
    );
  }
  const { fromText, described } = scalarRules[type];
  const value = fromText(text);
  if (value === undefined) throw invalidFilter(name, `"${shown(text)}" is not ${described}.`);
  return [value];
};
