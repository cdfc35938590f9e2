import type { Collection } from '../../collections/collection.ts';
import { typeAt } from '../../collections/schema/field-path.ts';
import { withArticle } from '../../collections/schema/field-types.ts';
import { isPlainObject } from '../../core/json.ts';
import { boundedPattern } from './bounded-pattern.ts';
import { allOf, anyOf, type Condition } from './condition.ts';
import {
  type Comparison,
  comparedTypeAt,
  conditionValue,
  conditionValues,
  type ElementMatch,
  type FieldTest,
  invalidFilter,
  operators,
  type ParsedFilter,
  requireFilterPath,
  requireLiteral,
  requirePattern,
  requireText,
} from './filter.ts';

const maxLevels = 8;
const maxMembers = 50;
const maxConditions = 100;

/** The position of the parser in `where`. */
interface Scope {
  readonly collection: Collection;
  /** The schema path of the array element that the condition is about, with a dot; '' at the top. */
  readonly prefix: string;
  /** The path as the caller wrote it; '' at the top. */
  readonly at: string;
  readonly level: number;
  /** The number of conditions so far, at any depth. */
  readonly tally: { conditions: number };
}

const below = (at: string, key: string | number): string => (at === '' ? String(key) : `${at}.${key}`);

const deeper = (scope: Scope, at: string): Scope => {
  if (scope.level < maxLevels) return { ...scope, at, level: scope.level + 1 };
  throw invalidFilter(at, `conditions may be nested at most ${maxLevels} levels deep.`);
};

const count = ({ tally }: Scope, at: string): void => {
  tally.conditions += 1;
  if (tally.conditions > maxConditions) {
    throw invalidFilter(at, `at most ${maxConditions} conditions can be combined, and this is one more.`);
  }
};

const textOperand = (at: string, operator: string, value: unknown): string => {
  if (typeof value === 'string') return value;
  throw invalidFilter(at, `${operator} takes a text.`);
};

const requireArray = ({ collection }: Scope, at: string, operator: string, declared: string): void => {
  const type = typeAt(collection, declared)?.type;
  if (type !== undefined && type !== 'Array') {
    throw invalidFilter(at, `${operator} works on an Array; this is ${withArticle(type)}.`);
  }
};

/** `declared` is the path in the schema, `path` the one for the database. */
const parseTest = (
  scope: Scope,
  declared: string,
  path: string,
  [operator, operand]: readonly [string, unknown],
  at: string,
): FieldTest => {
  const type = comparedTypeAt(scope.collection, declared);
  count(scope, at);
  switch (operator) {
    case '$eq':
    case '$ne':
      return { path, operator, operand: conditionValue(type, operand, at) };
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      if (operand === null) throw invalidFilter(at, 'null has no order; compare with it by $eq or $ne.');
      return { path, operator, operand: conditionValue(type, operand, at) };
    case '$in':
    case '$nin':
    case '$all':
      return { path, operator, operand: conditionValues(type, operator, operand, at) };
    case '$exists':
      if (typeof operand !== 'boolean') throw invalidFilter(at, '$exists takes only true or false.');
      return { path, operator, operand };
    case '$size':
      requireArray(scope, at, operator, declared);
      if (!Number.isSafeInteger(operand) || Number(operand) < 0) throw invalidFilter(at, '$size takes a whole number.');
      return { path, operator, operand };
    case '$regex':
      requireText(at, operator, type);
      return { path, operator, operand: requirePattern(at, textOperand(at, operator, operand)) };
    case '$contains':
    case '$startsWith':
    case '$endsWith':
      requireText(at, operator, type);
      return { path, operator, operand: requireLiteral(at, textOperand(at, operator, operand)) };
    case '$elemMatch':
      requireArray(scope, at, operator, declared);
      return { path, element: parseElement(deeper(scope, at), declared, operand) };
    default:
      throw invalidFilter(at, `there is no such operator. A field takes ${operators.join(' ')} $elemMatch.`);
  }
};

const combining: ReadonlySet<string> = new Set(['$and', '$or', '$not']);

/** Whether a value contains only operators, as opposed to fields. */
const isTests = (value: Readonly<Record<string, unknown>>): boolean => {
  const [first] = Object.keys(value);
  return first?.startsWith('$') === true && !combining.has(first);
};

const parseElement = (scope: Scope, declared: string, value: unknown): ParsedFilter | readonly FieldTest[] => {
  if (!isPlainObject(value) || Object.keys(value).length === 0) {
    throw invalidFilter(scope.at, '$elemMatch takes a condition or operators, as an object.');
  }
  if (!isTests(value)) return parseCondition({ ...scope, prefix: `${declared}.` }, value);
  return parseTests(scope, `${declared}.0`, '', value);
};

const parseTests = (
  scope: Scope,
  declared: string,
  path: string,
  value: Readonly<Record<string, unknown>>,
): readonly FieldTest[] =>
  Object.entries(value).map((entry) => parseTest(scope, declared, path, entry, below(scope.at, entry[0])));

const parseField = (scope: Scope, path: string, value: unknown): readonly FieldTest[] => {
  const at = below(scope.at, path);
  requireFilterPath(at, path, scope.prefix !== '');
  const declared = scope.prefix + path;
  if (!isPlainObject(value)) return [parseTest(scope, declared, path, ['$eq', value], at)];
  const [first] = Object.keys(value);
  if (first === undefined || !first.startsWith('$')) {
    throw invalidFilter(at, 'an object cannot be a value. Compare its fields by dotted paths, or use operators.');
  }
  return parseTests({ ...scope, at }, declared, path, value);
};

const parseMembers = (scope: Scope, operator: string, value: unknown): readonly ParsedFilter[] => {
  if (!Array.isArray(value) || value.length === 0 || value.length > maxMembers) {
    throw invalidFilter(scope.at, `${operator} takes a list of 1 to ${maxMembers} conditions.`);
  }
  return value.map((member, index) => parseCondition({ ...scope, at: below(scope.at, index) }, member));
};

const allFilters = (filters: readonly ParsedFilter[]): ParsedFilter => {
  const [first] = filters;
  return first && filters.length === 1 ? first : { all: filters };
};

const parseEntry = (scope: Scope, key: string, value: unknown): readonly ParsedFilter[] => {
  const at = below(scope.at, key);
  switch (key) {
    case '$and':
      return parseMembers(deeper(scope, at), key, value);
    case '$or':
      return [{ any: parseMembers(deeper(scope, at), key, value) }];
    case '$not':
      return [{ not: parseCondition(deeper(scope, at), value) }];
    default:
      if (!key.startsWith('$')) return parseField(scope, key, value);
      throw invalidFilter(at, 'only $and, $or, $not and names of fields can be used here.');
  }
};

const parseEntries = (scope: Scope, value: unknown): readonly ParsedFilter[] => {
  if (isPlainObject(value)) return Object.entries(value).flatMap(([key, inner]) => parseEntry(scope, key, inner));
  throw invalidFilter(scope.at || 'where', 'a condition must be an object, such as {"views":{"$gte":5}}.');
};

const parseCondition = (scope: Scope, value: unknown): ParsedFilter => allFilters(parseEntries(scope, value));

/**
 * Parses a `where` into parts that must all hold (contract 2, "where"). Throws 400 `INVALID_FILTER` or
 * `INVALID_REGEX` with the path of the mistake.
 */
export const parseWhere = (collection: Collection, value: unknown): readonly ParsedFilter[] =>
  parseEntries({ collection, prefix: '', at: '', level: 1, tally: { conditions: 0 } }, value);

/**
 * Parses a condition on array elements, as after `$elemMatch`: on their fields, or on the elements themselves.
 * `path` is the array in the schema.
 */
export const parseElementWhere = (collection: Collection, path: string, value: unknown): ElementMatch['element'] =>
  parseElement({ collection, prefix: '', at: path, level: 1, tally: { conditions: 0 } }, path, value);

/** The operand of a MongoDB operator. */
type Test = Readonly<Record<string, unknown>>;

/** A pattern that matches a text literally. */
const literally = (text: unknown): string =>
  String(text)
    .replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
    .replaceAll('\0', '\\x00');

const compared = ({ operator, operand, ignoresCase }: Comparison): Test => {
  switch (operator) {
    case '$regex':
      return { $regex: boundedPattern(String(operand)), ...(ignoresCase && { $options: 'i' }) };
    case '$contains':
      return { $regex: literally(operand) };
    case '$startsWith':
      return { $regex: `^${literally(operand)}` };
    case '$endsWith':
      // `$` would also match before a final line break.
      return { $regex: `${literally(operand)}\\z` };
    default:
      return { [operator]: operand };
  }
};

/** Tests of one value that must all hold. A second test of the same name is added as a double negation. */
export const together = ([first, ...others]: readonly Test[]): Test => {
  if (!first) return {};
  const rest = together(others);
  return Object.keys(first).some((name) => Object.hasOwn(rest, name))
    ? { ...first, $not: { $not: rest } }
    : { ...rest, ...first };
};

/** MongoDB's condition for an array element. */
export const elementTest = (element: ElementMatch['element']): Test =>
  'length' in element ? together(element.map(toTest)) : toCondition(element);

const toTest = (test: FieldTest): Test =>
  'element' in test ? { $elemMatch: elementTest(test.element) } : compared(test);

const toCondition = (filter: ParsedFilter): Condition => {
  if ('path' in filter) return { [filter.path]: toTest(filter) };
  if ('not' in filter) return { $nor: [toCondition(filter.not)] };
  return 'any' in filter ? anyOf(filter.any.map(toCondition)) : allOf(filter.all.map(toCondition));
};

/** MongoDB's conditions for the filters, one each. Values are only placed where literals are read. */
export const toConditions = (filters: readonly ParsedFilter[]): readonly Condition[] => filters.map(toCondition);
