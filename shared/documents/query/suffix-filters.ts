import type { Collection } from '../../collections/collection.ts';
import { shown, typeAt } from '../../collections/schema/field-path.ts';
import {
  booleanOf,
  type FieldType,
  isScalar,
  scalarRules,
  untypedValues,
  withArticle,
} from '../../collections/schema/field-types.ts';
import { AppError } from '../../core/errors.ts';
import { requireExact } from '../../core/json.ts';
import {
  comparedTypeAt,
  invalidFilter,
  isText,
  maxListed,
  type Operator,
  operators,
  type ParsedFilter,
  requireFilterPath,
  requireLiteral,
  requirePattern,
  requireText,
} from './filter.ts';

const withoutSuffix: readonly Operator[] = ['$nin', '$all', '$size'];

/** The suffixes of filter names, after a `_`: the operators that have one. */
export const suffixes: readonly string[] = operators.flatMap((name) =>
  withoutSuffix.includes(name) ? [] : name.slice(1),
);

const suffixed = new RegExp(`^(.+)_(${suffixes.join('|')})$`, 's');

/** The pairs of a query string that are filters. */
type Entries = readonly (readonly [name: string, text: string])[];

const maxConditions = 50;

/**
 * The values that match a filter's text: one for a typed field, up to two otherwise; `null` also matches missing
 * values. Throws 400 `INVALID_FILTER` for a text that does not fit the type, 400 `NUMBER_NOT_EXACT` for an integer
 * that would be rounded (contract 2, "Filter values").
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
  if (value === undefined) {
    const hint = text.includes(' ') ? ' A + in an address is a space: write it as %2B.' : '';
    throw invalidFilter(name, `"${shown(text)}" is not ${described}.${hint}`);
  }
  return [requireExact(name, value, text)];
};

/** Splits `price_gte` into field and operator, unless the schema has a field of that name. */
const splitName = (collection: Collection, name: string): readonly [path: string, operator: Operator] => {
  const [, path, suffix] = suffixed.exec(name) ?? [];
  if (path === undefined || typeAt(collection, name)) return [name, '$eq'];
  return [path, `$${suffix}` as Operator];
};

const parseFilter = (collection: Collection, name: string, text: string): ParsedFilter => {
  const [path, operator] = splitName(collection, name);
  requireFilterPath(name, path);
  const type = comparedTypeAt(collection, path);
  const values = (value: string) => filterValues(name, type, value);
  const compare = (operand: unknown, by = operator): ParsedFilter => ({ path, operator: by, operand });
  switch (operator) {
    case '$exists': {
      const isThere = booleanOf(text);
      if (isThere === undefined) throw invalidFilter(name, '_exists takes only true or false.');
      return compare(isThere);
    }
    case '$regex':
      requireText(name, '_regex', type);
      return { path, operator, operand: requirePattern(name, text), ignoresCase: true };
    case '$contains':
    case '$startsWith':
    case '$endsWith':
      requireText(name, operator.replace('$', '_'), type);
      return compare(requireLiteral(name, text));
    case '$eq':
    case '$ne': {
      const list = values(text);
      return list.length > 1 ? compare(list, operator === '$eq' ? '$in' : '$nin') : compare(list[0]);
    }
    case '$in': {
      const listed = text.split(',');
      if (listed.length > maxListed) throw invalidFilter(name, `_in takes at most ${maxListed} values.`);
      return compare(listed.flatMap(values));
    }
    default: {
      const [bound, ...others] = values(text)
        .filter((value) => value !== null)
        .map((value) => compare(value));
      if (!bound) throw invalidFilter(name, 'null has no order; compare with it without a suffix or with _ne.');
      return others.length === 0 ? bound : { any: [bound, ...others] };
    }
  }
};

/**
 * The filters of a query string, at most 50, which must all match (specification, "Filter suffixes"). Throws 400
 * `INVALID_FILTER` or `INVALID_REGEX`.
 */
export const parseSuffixFilters = (collection: Collection, filters: Entries): readonly ParsedFilter[] => {
  if (filters.length > maxConditions) {
    throw new AppError(
      'INVALID_FILTER',
      `At most ${maxConditions} filters can be combined; ${filters.length} were given.`,
    );
  }
  return filters.map(([name, text]) => parseFilter(collection, name, text));
};
