import type { ObjectId } from 'mongodb';
import type { Collection, ValueType } from '../../collections/collection.ts';
import { typeAt } from '../../collections/schema/field-path.ts';
import { isScalar, scalarRules } from '../../collections/schema/field-types.ts';
import { AppError } from '../../core/errors.ts';
import { cutText } from '../../core/text.ts';
import { parseDate } from '../../core/values.ts';
import { idOf } from '../../core/view.ts';
import type { JsonObject } from '../document.ts';
import { isJsonObject } from '../values.ts';
import { invalidPipeline } from './pipeline.ts';

type TypeOf = (path: string) => ValueType | undefined;

const logical: ReadonlySet<string> = new Set(['$and', '$or', '$nor']);
const withValue: ReadonlySet<string> = new Set(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte']);
const withList: ReadonlySet<string> = new Set(['$in', '$nin', '$all']);

const isOperators = (value: unknown): value is JsonObject => {
  const key = isJsonObject(value) ? Object.keys(value)[0] : undefined;
  return key?.startsWith('$') === true && !logical.has(key);
};

const convertText = ({ type }: ValueType, text: string): unknown =>
  isScalar(type) ? (scalarRules[type].fromJson(text) ?? text) : text;

const convertValue = (at: ValueType | undefined, value: unknown): unknown => {
  const compared = at?.type === 'Array' ? at.items : at;
  if (!compared) return value;
  if (Array.isArray(value)) return value.map((element) => convertValue(compared, element));
  return typeof value === 'string' ? convertText(compared, value) : value;
};

const convertOperator = (
  operator: string,
  operand: unknown,
  path: string,
  at: ValueType | undefined,
  typeOf: TypeOf,
) => {
  if (withValue.has(operator)) return convertValue(at, operand);
  if (withList.has(operator) && Array.isArray(operand)) {
    return operand.map((element) => convertComparison(element, path, at, typeOf));
  }
  if (operator === '$not') return convertComparison(operand, path, at, typeOf);
  if (operator !== '$elemMatch' || !isJsonObject(operand)) return operand;
  return isOperators(operand)
    ? convertComparison(operand, path, at?.items, typeOf)
    : convertCondition(operand, (inner) => typeOf(`${path}.${inner}`));
};

const convertComparison = (value: unknown, path: string, at: ValueType | undefined, typeOf: TypeOf): unknown => {
  if (!isOperators(value)) return convertValue(at, value);
  return Object.fromEntries(
    Object.entries(value).map(([operator, operand]) => [
      operator,
      convertOperator(operator, operand, path, at, typeOf),
    ]),
  );
};

const convertCondition = (condition: JsonObject, typeOf: TypeOf): JsonObject =>
  Object.fromEntries(
    Object.entries(condition).map(([key, value]) => {
      if (logical.has(key) && Array.isArray(value)) {
        return [key, value.map((part) => (isJsonObject(part) ? convertCondition(part, typeOf) : part))];
      }
      return [key, key.startsWith('$') ? value : convertComparison(value, key, typeOf(key), typeOf)];
    }),
  );

/**
 * The condition of a `$match` on a collection's stored documents, with strings that are compared with `_id`, `Ref` and
 * `Date` fields as ObjectIds and dates. Values that do not fit stay as they are.
 */
export const convertMatch = (collection: Collection, condition: JsonObject): JsonObject =>
  convertCondition(condition, (path) => typeAt(collection, path));

/** Server-side JavaScript; names starting with `$_` are MongoDB's own internals. */
const blockedOperators: ReadonlySet<string> = new Set(['$where', '$function', '$accumulator']);

/** The first tells the service's own database roles, the second counts documents that the caller may not read. */
const blockedVariables = /^\$\$(USER_ROLES|SEARCH_META)(?![A-Za-z0-9_])/;

/** What `$meta` may show; `recordId` counts the documents that others insert. */
const knownMeta: ReadonlySet<string> = new Set([
  ...['textScore', 'searchScore', 'searchScoreDetails', 'searchHighlights', 'vectorSearchScore', 'score'],
  ...['scoreDetails', 'geoNearDistance', 'geoNearPoint', 'sortKey', 'randVal'],
]);

const requireMeta = (name: unknown): void => {
  if (typeof name === 'string' && knownMeta.has(name)) return;
  throw invalidPipeline(`$meta can be one of ${[...knownMeta].join(', ')}.`);
};

const requireKey = (key: string): void => {
  if (blockedOperators.has(key) || key.startsWith('$_')) {
    throw new AppError('BLOCKED_STAGE', `${cutText(key, 40)} is not allowed in an aggregation.`);
  }
  if (key.includes('\0')) throw new AppError('INVALID_BODY', 'A field name of the pipeline contains a NUL character.');
};

/** The keys of their operands are names of fields, so that `as` is one. */
const namingFields = /^\$(match|elemMatch|project|addFields|set|group|literal)$/;

/**
 * Refuses an operator that sets one of MongoDB's own variables, such as `CURRENT`, which every field path is read from:
 * 400 `INVALID_PIPELINE`. Looks at what the operand says (`as`, `valueAs`, `arrayIndexAs` beside an `input`), so that
 * it holds for operators not known here, too.
 */
const requireOwnNames = (operator: string, operand: unknown): void => {
  if (!operator.startsWith('$') || !isJsonObject(operand) || namingFields.test(operator)) return;
  const options = Object.hasOwn(operand, 'input') ? Object.entries(operand) : [];
  const named = options.flatMap(([option, name]) => (/^as$|As$/.test(option) ? [name] : []));
  const set = Object.keys((operator === '$lookup' ? operand.let : operand.vars) ?? {});
  const taken = [...named, ...set].find((name) => typeof name === 'string' && /^[A-Z]/.test(name));
  if (taken === undefined) return;
  throw invalidPipeline(
    `${cutText(operator, 40)} cannot name a variable ${cutText(String(taken), 40)}: names in capitals are the database's own, and one set anew changes what fields mean. Begin it with a small letter.`,
  );
};

/** Field names and operators in all, used or defined: the work on a `$project` grows with their square. */
const maxNames = 5000;

/** Names that have been read so far. */
interface Names {
  count: number;
}

const countName = (names: Names): void => {
  names.count += 1;
  if (names.count > maxNames) throw invalidPipeline(`The pipeline names more than ${maxNames} fields and operators.`);
};

const parseText = (text: string, names: Names): string => {
  if (!text.startsWith('$')) return text;
  countName(names);
  const variable = blockedVariables.exec(text)?.[0];
  if (variable) throw invalidPipeline(`The variable ${variable} is not available.`);
  return text;
};

const parseObjectId = (value: unknown): ObjectId => {
  const id = idOf(value);
  if (!id) throw invalidPipeline('{"$oid"} must hold 24 hexadecimal characters.');
  return id;
};

const parseExtendedDate = (value: unknown): Date => {
  const date = parseDate(value);
  if (!date) throw invalidPipeline('{"$date"} must hold an ISO 8601 date or whole milliseconds since 1970.');
  return date;
};

const extendedTypes: ReadonlyMap<string, (value: unknown) => unknown> = new Map<string, (value: unknown) => unknown>([
  ['$oid', parseObjectId],
  ['$date', parseExtendedDate],
]);

const parseObject = (object: JsonObject, names: Names): unknown => {
  const entries = Object.entries(object);
  for (const [key, value] of entries) {
    const read = extendedTypes.get(key);
    if (!read) continue;
    if (entries.length > 1) throw invalidPipeline(`{"${key}"} must be the only key of its object.`);
    return read(value);
  }
  return Object.fromEntries(
    entries.map(([key, value]) => {
      countName(names);
      requireKey(key);
      requireOwnNames(key, value);
      if (key === '$meta') requireMeta(value);
      return [key, parseOperand(value, names)];
    }),
  );
};

/**
 * A value of a pipeline with its Extended JSON (`{"$oid"}`, `{"$date"}`) read, at any depth. Malformed Extended JSON,
 * variables and `$meta` that tell too much, and variables of MongoDB's own that are set anew → 400 `INVALID_PIPELINE`;
 * server-side JavaScript and internal operators → 400 `BLOCKED_STAGE`.
 */
export const parseOperand = (value: unknown, names: Names = { count: 0 }): unknown => {
  if (typeof value === 'string') return parseText(value, names);
  if (Array.isArray(value)) return value.map((element) => parseOperand(element, names));
  return isJsonObject(value) ? parseObject(value, names) : value;
};
