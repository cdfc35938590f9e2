import type { Collection } from '../../../shared/collections/collection.ts';
import { typeAt } from '../../../shared/collections/schema/field-path.ts';
import { type FieldType, fieldTypes, isNumber } from '../../../shared/collections/schema/field-types.ts';
import { comparedTypeAt, type Operator, type ParsedFilter } from '../../../shared/documents/query/filter.ts';
import { parseWhere } from '../../../shared/documents/query/where.ts';

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

/** Which comparisons make sense for a field; all of them where nothing says what its values are. */
export const operatorsOf = (collection: Collection, field: string): readonly Operator[] => {
  const type = comparedTypeAt(collection, field);
  const whole = typeAt(collection, field)?.type;
  const single = type ? ofType[type] : [...ordered, ...ofTexts];
  return whole === undefined || whole === 'Array' ? [...single, ...ofLists] : single;
};

const isListed = (operator: Operator): boolean => operator === '$in' || operator === '$nin' || operator === '$all';

/** What is typed as the value of a condition: one of few, or a text like the example. */
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

/** A condition whose operator and value are among those that its field takes. */
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

/** The value of a field's type that a text stands for; what is none stays a text, for which it is refused. */
const scalarOf = (type: FieldType | undefined, text: string): unknown => {
  if (type && fieldTypes[type].json.type === 'string') return text === 'null' && type !== 'String' ? null : text;
  const value = json(text);
  return typeof value === 'object' && value !== null ? text : value;
};

const isText = (operator: Operator): boolean => ofTexts.includes(operator);

const operandOf = (type: FieldType | undefined, operator: Operator, text: string): unknown => {
  if (isText(operator)) return text;
  if (operator === '$exists' || operator === '$size') return json(text);
  if (!isListed(operator)) return scalarOf(type, text);
  const listed = text.trimStart().startsWith('[') ? json(text) : undefined;
  return Array.isArray(listed) ? listed : text.split(',').map((one) => scalarOf(type, one.trim()));
};

/** A value of a condition without what its type makes it, such as the time of a date that has none. */
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replace(/"(\d{4}-\d\d-\d\d)T00:00:00\.000Z"/g, '"$1"'));

const scalarText = (type: FieldType | undefined, value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return scalarOf(type, text) === value ? text : JSON.stringify(value);
};

/** A condition as it would be typed; nothing for what only JSON says. */
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

/** The filter that conditions are, of which one must hold; what the service would refuse is thrown. */
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

/** Of a filter whose alternatives can all be typed, those; of any other nothing. */
export const conditionsOf = (collection: Collection, filter: ParsedFilter): readonly Condition[] | undefined => {
  const conditions = ('any' in filter ? filter.any : [filter]).map((one) => conditionOf(collection, one));
  const typed = conditions.filter((one) => one !== undefined);
  return typed.length === conditions.length ? typed : undefined;
};
