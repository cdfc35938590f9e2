import type { Collection, ValueType } from '../../collections/collection.ts';
import { type FieldType, fieldTypes, isScalar, withArticle } from '../../collections/schema/field-types.ts';
import { AppError } from '../../core/errors.ts';
import { booleanOf, scalarRules, untypedValues } from '../scalar-values.ts';
import { anyOf, type Condition } from './condition.ts';
import { typeAt } from './field-at.ts';
import { isFieldPath, shown } from './field-path.ts';
import type { QueryEntries } from './list-query.ts';

type Operator = 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte' | 'in' | 'exists' | 'regex';

const maxConditions = 50;
const maxListed = 1000;
const maxPattern = 128;

const hidden: ReadonlySet<string> = new Set(['isDeleted', 'deletedAt']);

/** The refusal of a filter (400). `name` is the query parameter as it was given. */
const invalidFilter = (name: string, reason: string): AppError =>
  new AppError('INVALID_FILTER', `Filter "${shown(name)}": ${reason}`);

/** The type that a filter's values have: on arrays an element is enough, so it is theirs. `undefined`: anything. */
const comparedType = (at: ValueType | undefined): FieldType | undefined => {
  const type = at?.type === 'Array' ? at.items?.type : at?.type;
  return type === 'Array' ? undefined : type;
};

/** Whether values of a type are texts, which patterns match and of which `null` is one. */
const isText = (type: FieldType): boolean => fieldTypes[type].bsonType === 'string';

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

/** Splits `price_gte` into field and operator; a field of the schema that is named like that is just a field. */
const splitName = (collection: Collection, name: string): readonly [path: string, operator: Operator] => {
  const [, path, operator] = /^(.+)_(eq|ne|gte|gt|lte|lt|in|exists|regex)$/s.exec(name) ?? [];
  if (path === undefined || typeAt(collection, name)) return [name, 'eq'];
  return [path, operator as Operator];
};

const exists = (name: string, path: string, text: string): Condition => {
  const isThere = booleanOf(text);
  if (isThere === undefined) throw invalidFilter(name, '_exists takes only true or false.');
  return { [path]: { $exists: isThere } };
};

const pattern = (name: string, path: string, text: string): Condition => {
  const length = [...text].length;
  if (length === 0 || length > maxPattern || text.includes('\0')) {
    const reason = text.includes('\0') ? 'contains a NUL character' : `must have 1 to ${maxPattern} characters`;
    throw new AppError('INVALID_REGEX', `Filter "${shown(name)}": the regular expression ${reason}.`);
  }
  return { [path]: { $regex: text, $options: 'i' } };
};

const condition = (collection: Collection, name: string, text: string): Condition => {
  const [path, operator] = splitName(collection, name);
  if (!isFieldPath(path)) throw invalidFilter(name, 'this is not a field name.');
  if (hidden.has(path.split('.')[0] ?? '')) {
    throw invalidFilter(name, 'documents cannot be filtered by it. Use include_deleted=true to see the trash.');
  }
  const type = comparedType(typeAt(collection, path));
  const values = (value: string) => filterValues(name, type, value);
  switch (operator) {
    case 'exists':
      return exists(name, path, text);
    case 'regex':
      if (type !== undefined && !isText(type)) {
        throw invalidFilter(name, `_regex works on text; this is ${withArticle(type)}.`);
      }
      return pattern(name, path, text);
    case 'eq':
    case 'ne': {
      const list = values(text);
      if (list.length > 1) return { [path]: { [operator === 'eq' ? '$in' : '$nin']: list } };
      return { [path]: { [`$${operator}`]: list[0] } };
    }
    case 'in': {
      const listed = text.split(',');
      if (listed.length > maxListed) throw invalidFilter(name, `_in takes at most ${maxListed} values.`);
      return { [path]: { $in: listed.flatMap(values) } };
    }
    default: {
      const bounds = values(text).filter((value) => value !== null);
      if (bounds.length === 0)
        throw invalidFilter(name, 'null has no order; compare with it without a suffix or with _ne.');
      return anyOf(bounds.map((bound) => ({ [path]: { [`$${operator}`]: bound } })));
    }
  }
};

/** Which fields the filters compare for equality, and which in other ways; each once, by name. */
export const filteredFields = (
  collection: Collection,
  filters: QueryEntries,
): { readonly equal: readonly string[]; readonly range: readonly string[] } => {
  const named = filters.map(([name]) => splitName(collection, name));
  const fields = (isWanted: (operator: Operator) => boolean): readonly string[] =>
    [...new Set(named.flatMap(([path, operator]) => (isWanted(operator) ? [path] : [])))].sort();
  const isEqual = (operator: Operator): boolean => operator === 'eq' || operator === 'in';
  return { equal: fields(isEqual), range: fields((operator) => !isEqual(operator)) };
};

/**
 * The conditions of a list request's filters, one each, all of which must hold (specification, "Filter suffixes"). At
 * most 50. What cannot be a filter → 400 `INVALID_FILTER` or `INVALID_REGEX`. Values only ever stand where MongoDB
 * reads literals.
 */
export const filterConditions = (collection: Collection, filters: QueryEntries): readonly Condition[] => {
  if (filters.length > maxConditions) {
    throw new AppError(
      'INVALID_FILTER',
      `At most ${maxConditions} filters can be combined; ${filters.length} were given.`,
    );
  }
  return filters.map(([name, text]) => condition(collection, name, text));
};
