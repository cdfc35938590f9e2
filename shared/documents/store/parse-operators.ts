import { type Collection, ownerFieldOf, type ValueType } from '../../collections/collection.ts';
import { fieldAt, fieldsOf, isPosition, requireKnownPaths, unknownPaths } from '../../collections/schema/field-path.ts';
import { type FieldType, isScalar, scalarRules, withArticle } from '../../collections/schema/field-types.ts';
import { clock } from '../../core/clock.ts';
import { type FieldError, validationFailed } from '../../core/errors.ts';
import { cutText } from '../../core/text.ts';
import type { JsonObject } from '../document.ts';
import { type ParsedFilter, pathsOf } from '../query/filter.ts';
import { parseElementWhere } from '../query/where.ts';
import { convert, isJsonObject } from '../values.ts';
import { elementMatch } from './element-match.ts';
import {
  type Addition,
  type FieldOperation,
  invalidUpdate,
  isEqual,
  type NumericOperator,
  rootOf,
  shownPath,
} from './operations.ts';
import { requirePath } from './update-path.ts';
import { isIgnored, requireName, requireNames } from './validate.ts';

const operators = ['$inc', '$mul', '$min', '$max', '$push', '$addToSet', '$pull', '$unset', '$currentDate'] as const;

type Operator = (typeof operators)[number];

const isOperator = (key: string): key is Operator => (operators as readonly string[]).includes(key);

/** The operators of an update in stored form. */
export interface ParsedOperators {
  readonly operations: readonly FieldOperation[];
  /** The fields set by `$currentDate`. */
  readonly dates: JsonObject;
  /** Every path in operators, of fields that callers may write. */
  readonly paths: readonly string[];
  /** The conditions of `$pull`, with the path of the array in front. */
  readonly filters: readonly ParsedFilter[];
  /** The values that operators add, for validation. */
  readonly additions: JsonObject;
}

/** The collection's fields, and the errors found so far. */
interface Reading {
  readonly collection: Collection;
  readonly errors: FieldError[];
  readonly operations: FieldOperation[];
  readonly dates: Record<string, unknown>;
  readonly paths: string[];
  readonly filters: ParsedFilter[];
  readonly additions: Record<string, unknown>;
}

const typeOf = ({ collection }: Reading, path: string): ValueType | undefined => fieldAt(fieldsOf(collection), path);

/** Whether a field may hold one of the types. Adds a validation error if the schema gives it another type. */
const allows = (reading: Reading, path: string, operator: Operator, types: readonly FieldType[]): boolean => {
  const at = typeOf(reading, path);
  if (!at || types.includes(at.type)) return true;
  const needed = types.map(withArticle).join(' or ');
  const message = `${shownPath(path)} is ${withArticle(at.type)}, and ${operator} needs ${needed}`;
  reading.errors.push({ field: path, message });
  return false;
};

const entriesOf = (operator: Operator, value: unknown): readonly (readonly [string, unknown])[] => {
  if (isJsonObject(value)) return Object.entries(value).filter(([path]) => !isIgnored(path));
  throw invalidUpdate(`${operator} takes an object of fields, such as {"${operator}":{"field":…}}.`);
};

const requireNumber = (operator: Operator, path: string, value: unknown): number => {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw invalidUpdate(`${operator} of "${shownPath(path)}" takes a number.`);
};

const readNumeric = (reading: Reading, operator: NumericOperator, path: string, value: unknown): void => {
  const takesDates = operator === '$min' || operator === '$max';
  if (!allows(reading, path, operator, takesDates ? ['Number', 'Date'] : ['Number'])) return;
  if (!takesDates || typeOf(reading, path)?.type !== 'Date') {
    reading.operations.push({ operator, path, operand: requireNumber(operator, path, value) });
    return;
  }
  const date = scalarRules.Date.fromJson(value);
  if (date instanceof Date) reading.operations.push({ operator, path, operand: date });
  else reading.errors.push({ field: path, message: `${shownPath(path)} must be a Date in ISO 8601` });
};

const wholeNumber = (path: string, modifier: string, value: unknown): number => {
  if (Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31) return Number(value);
  throw invalidUpdate(`${modifier} of "${shownPath(path)}" takes a whole number.`);
};

const modifiers: Readonly<Record<'$push' | '$addToSet', readonly string[]>> = {
  $push: ['$each', '$position', '$slice'],
  $addToSet: ['$each'],
};

const additionOf = (operator: '$push' | '$addToSet', path: string, value: unknown): Addition => {
  if (!isJsonObject(value) || !Object.keys(value).some((key) => key.startsWith('$'))) return { elements: [value] };
  const surplus = Object.keys(value).find((key) => !modifiers[operator].includes(key));
  if (surplus !== undefined) {
    const allowed = modifiers[operator].join(', ');
    throw invalidUpdate(
      `${operator} of "${shownPath(path)}" takes an element, or an object with ${allowed}. ${cutText(surplus, 40)} is not known.`,
    );
  }
  const { $each, $position, $slice } = value;
  if (!Array.isArray($each)) throw invalidUpdate(`$each of "${shownPath(path)}" takes a list of elements.`);
  return {
    elements: $each,
    ...($position !== undefined && { position: wholeNumber(path, '$position', $position) }),
    ...($slice !== undefined && { slice: wholeNumber(path, '$slice', $slice) }),
  };
};

const readAddition = (reading: Reading, operator: '$push' | '$addToSet', path: string, value: unknown): void => {
  const addition = additionOf(operator, path, value);
  requirePath(path, addition.elements);
  requireNames(addition.elements, path);
  if (!allows(reading, path, operator, ['Array'])) return;
  const { collection, errors } = reading;
  errors.push(...unknownPaths({ ...collection }, fieldsOf(collection), { [path]: addition.elements }));
  const items = typeOf(reading, path)?.items;
  const elements = addition.elements.map((element, index) =>
    items ? convert(items, element, `${path}.${index}`, errors) : element,
  );
  reading.operations.push({ operator, path, added: { ...addition, elements } });
  reading.additions[path] = elements;
};

/** A value that elements equal, in the stored form of their type. */
const equalTo = (items: ValueType | undefined, path: string, value: unknown): unknown => {
  if (value === null || !items) return value;
  const stored = isScalar(items.type)
    ? scalarRules[items.type].fromJson(value)
    : Array.isArray(value)
      ? value
      : undefined;
  if (stored !== undefined) return stored;
  throw invalidUpdate(
    `$pull of "${shownPath(path)}" takes a value of the type of the elements, ${withArticle(items.type)}, or a condition on them.`,
  );
};

const readPull = (reading: Reading, path: string, value: unknown): void => {
  const { collection, filters, operations } = reading;
  if (!allows(reading, path, '$pull', ['Array'])) return;
  if (isJsonObject(value)) {
    const element = parseElementWhere(collection, path, value);
    const filter = { path, element };
    requireKnownPaths(collection, pathsOf([filter]));
    filters.push(filter);
    operations.push({ operator: '$pull', path, ...elementMatch(element, path) });
    return;
  }
  requireNames(value, path);
  const equal = equalTo(typeOf(reading, path)?.items, path, value);
  operations.push({ operator: '$pull', path, condition: equal, removes: (element) => isEqual(element, equal) });
};

/** The paths of an operator that takes a list. MongoDB's own form is an object. */
const listedPaths = (operator: '$unset' | '$currentDate', value: unknown): readonly string[] => {
  if (Array.isArray(value) && value.every((path) => typeof path === 'string'))
    return value.filter((path) => !isIgnored(path));
  throw invalidUpdate(`${operator} takes a list of fields: {"${operator}":["a","b.c"]}.`);
};

const requireNoPosition = (reading: Reading, path: string): void => {
  const segments = path.split('.');
  for (const [index, segment] of segments.entries()) {
    const above = segments.slice(0, index).join('.');
    if (!isPosition(segment) || typeOf(reading, above)?.type !== 'Array') continue;
    throw invalidUpdate(`$unset cannot remove an element of the Array "${shownPath(above)}". Use $pull.`);
  }
};

const readUnset = (reading: Reading, path: string): void => {
  requireNoPosition(reading, path);
  const at = typeOf(reading, path);
  if (at && 'required' in at && at.required === true)
    reading.errors.push({ field: path, message: `${shownPath(path)} is required` });
  reading.operations.push({ operator: '$unset', path });
};

const readEntry = (reading: Reading, operator: Operator, path: string, value: unknown): void => {
  requireName(path, path);
  requirePath(path, value);
  reading.paths.push(path);
  const { collection, errors } = reading;
  errors.push(...unknownPaths(collection, fieldsOf(collection), { [path]: undefined }));
  // Any operator would change or remove the owner, which a guard rejects.
  if (rootOf(path) === ownerFieldOf(collection.rls)) return;
  switch (operator) {
    case '$push':
    case '$addToSet':
      readAddition(reading, operator, path, value);
      return;
    case '$pull':
      readPull(reading, path, value);
      return;
    case '$unset':
      readUnset(reading, path);
      return;
    case '$currentDate':
      if (allows(reading, path, operator, ['Date'])) reading.dates[path] = new Date(clock.now());
      return;
    default:
      readNumeric(reading, operator, path, value);
  }
};

const unknownOperator = (key: string) => {
  const hint = key === '$set' ? ' Send the fields to set beside the operators.' : '';
  return invalidUpdate(`There is no operator "${cutText(key, 40)}". An update takes ${operators.join(', ')}.${hint}`);
};

/**
 * The operators in the body of an update; `undefined` if there are none. Throws 400 `INVALID_UPDATE` for an unknown
 * operator or an invalid operand, 400 `VALIDATION_FAILED` for another type than the schema's. Contract 2,
 * "Operators".
 */
export const parseOperators = (collection: Collection, body: JsonObject): ParsedOperators | undefined => {
  const keys = Object.keys(body).filter((key) => key.startsWith('$'));
  if (keys.length === 0) return undefined;
  const reading: Reading = { collection, errors: [], operations: [], dates: {}, paths: [], filters: [], additions: {} };
  for (const key of keys) {
    if (!isOperator(key)) throw unknownOperator(key);
    if (key === '$unset' || key === '$currentDate')
      for (const path of listedPaths(key, body[key])) readEntry(reading, key, path, undefined);
    else for (const [path, value] of entriesOf(key, body[key])) readEntry(reading, key, path, value);
  }
  if (reading.errors.length > 0) throw validationFailed(...reading.errors);
  return reading;
};
