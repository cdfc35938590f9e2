import type { Collection } from '../../../shared/collections/collection.ts';
import { typeAt } from '../../../shared/collections/schema/field-path.ts';
import { type FieldType, fieldTypes, isNumber } from '../../../shared/collections/schema/field-types.ts';
import { comparedTypeAt, type Operator, type ParsedFilter } from '../../../shared/documents/query/filter.ts';
import { parseWhere } from '../../../shared/documents/query/where.ts';
import { plainNumber } from '../../../shared/transfers/csv-format.ts';

/** A condition as it is typed. */
export interface Condition {
  readonly field: string;
  readonly operator: Operator;
  readonly text: string;
}

const ordered: readonly Operator[] = ['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$exists'];
const ofTexts: readonly Operator[] = ['$contains', '$startsWith', '$endsWith', '$regex'];
const ofLists: readonly Operator[] = ['$all', '$size'];

const ofType: Readonly<Record<FieldType, readonly Operator[]>> = {
  String: ['$eq', '$ne', ...ofTexts, '$in', '$nin', '$gt', '$gte', '$lt', '$lte', '$exists'],
  Number: ordered,
  Date: ordered,
  Boolean: ['$eq', '$ne', '$exists'],
  Ref: ['$eq', '$ne', '$in', '$nin', '$exists'],
  Object: ['$exists'],
  Array: ordered,
};

/** The operators for a field; all of them if its type is not known. */
export const operatorsOf = (collection: Collection, field: string): readonly Operator[] => {
  const type = comparedTypeAt(collection, field);
  const whole = typeAt(collection, field)?.type;
  const single = type ? ofType[type] : [...ordered, ...ofTexts];
  return whole === undefined || whole === 'Array' ? [...single, ...ofLists] : single;
};

const isListed = (operator: Operator): boolean => operator === '$in' || operator === '$nin' || operator === '$all';

/** How the value of a condition is typed: a choice, or a text with an example. */
export const valueChoice = (
  collection: Collection,
  { field, operator }: Pick<Condition, 'field' | 'operator'>,
): { readonly options: readonly string[] } | { readonly example: string } => {
  const type = comparedTypeAt(collection, field);
  if (operator === '$exists') return { options: ['true', 'false'] };
  if (operator === '$size') return { example: '2' };
  if (isListed(operator)) return { example: 'a, b, c' };
  if (type === 'Boolean') return { options: ['true', 'false', 'null'] };
  if (type === 'Date') return { example: '2026-01-31' };
  return { example: type && isNumber(type) ? '10' : '' };
};

/** Replaces an operator or value that does not fit the field. */
export const fitting = (collection: Collection, condition: Condition): Condition => {
  const allowed = operatorsOf(collection, condition.field);
  const operator = allowed.includes(condition.operator) ? condition.operator : (allowed[0] ?? '$eq');
  const choice = valueChoice(collection, { ...condition, operator });
  const isOffered = !('options' in choice) || choice.options.includes(condition.text);
  return { ...condition, operator, text: isOffered ? condition.text : 'true' };
};

const json = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** The value of a field's type for a text. Other texts stay as they are and are rejected by the service. */
const scalarOf = (type: FieldType | undefined, text: string): unknown => {
  if (type && fieldTypes[type].json.type === 'string') return text === 'null' && type !== 'String' ? null : text;
  const value = json(text);
  return typeof value === 'object' && value !== null ? text : value;
};

const isText = (operator: Operator): boolean => ofTexts.includes(operator);

const operandOf = (type: FieldType | undefined, operator: Operator, text: string): unknown => {
  if (isText(operator)) return text;
  if (operator === '$exists' || operator === '$size') return json(text);
  // In a list, a comma separates the values.
  if (!isListed(operator)) return scalarOf(type, type && isNumber(type) ? plainNumber('value', text, '\t') : text);
  const listed = text.trimStart().startsWith('[') ? json(text) : undefined;
  return Array.isArray(listed) ? listed : text.split(',').map((one) => scalarOf(type, one.trim()));
};

/** A value without what its type added, such as midnight for a date without a time. */
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replace(/"(\d{4}-\d\d-\d\d)T00:00:00\.000Z"/g, '"$1"'));

const scalarText = (type: FieldType | undefined, value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return scalarOf(type, text) === value ? text : JSON.stringify(value);
};

/** A condition as it would be typed; `undefined` if only JSON can express it. */
const conditionOf = (collection: Collection, filter: ParsedFilter): Condition | undefined => {
  if (!('operator' in filter) || !operatorsOf(collection, filter.path).includes(filter.operator)) return undefined;
  const { path: field, operator } = filter;
  const type = comparedTypeAt(collection, field);
  const operand = plain(filter.operand);
  const texts = Array.isArray(operand)
    ? [operand.map((one) => scalarText(type, one)).join(', '), JSON.stringify(operand)]
    : [isText(operator) ? String(operand) : scalarText(type, operand)];
  const text = texts.find((one) => JSON.stringify(operandOf(type, operator, one)) === JSON.stringify(operand));
  return text === undefined ? undefined : { field, operator, text };
};

/** The filter for conditions of which one must match. Throws the service's own error. */
export const filterOf = (collection: Collection, conditions: readonly Condition[]): ParsedFilter => {
  const alternatives = conditions.map(({ field, operator, text }) => ({
    [field]: { [operator]: operandOf(comparedTypeAt(collection, field), operator, text) },
  }));
  const [filter = { all: [] }] = parseWhere(
    collection,
    alternatives.length === 1 ? alternatives[0] : { $or: alternatives },
  );
  return filter;
};

/** The alternatives of a filter, if all of them can be typed in the form. */
export const conditionsOf = (collection: Collection, filter: ParsedFilter): readonly Condition[] | undefined => {
  const conditions = ('any' in filter ? filter.any : [filter]).map((one) => conditionOf(collection, one));
  const typed = conditions.filter((one) => one !== undefined);
  return typed.length === conditions.length ? typed : undefined;
};
