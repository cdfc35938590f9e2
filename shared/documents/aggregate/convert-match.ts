import type { ObjectId } from 'mongodb';
import type { Collection, ValueType } from '../../collections/collection.ts';
import { typeAt } from '../../collections/schema/field-path.ts';
import { isScalar, scalarRules } from '../../collections/schema/field-types.ts';
import { AppError } from '../../core/errors.ts';
import { cutText } from '../../core/text.ts';
import { idOf, parseDate } from '../../core/values.ts';
import type { JsonObject } from '../document.ts';
import { boundedPattern, strictestBound } from '../query/bounded-pattern.ts';
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
 * The condition of a `$match` on stored documents: strings compared with `_id`, `Ref` and `Date` fields become
 * ObjectIds and dates. Values that do not fit stay unchanged.
 */
export const convertMatch = (collection: Collection, condition: JsonObject): JsonObject =>
  convertCondition(condition, (path) => typeAt(collection, path));

/** Server-side JavaScript. Names that begin with `$_` are internal to MongoDB. */
const blockedOperators: ReadonlySet<string> = new Set(['$where', '$function', '$accumulator']);

/** The first reveals the service's database roles, the second counts documents that the caller may not read. */
const blockedVariables = /^\$\$(USER_ROLES|SEARCH_META)(?![A-Za-z0-9_])/;

/** The allowed values of `$meta`; `recordId` would count other users' inserts. */
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

/** The keys of these operands are field names, so `as` is one too. */
const namingFields = /^\$(match|elemMatch|project|addFields|set|group|literal)$/;

/**
 * Throws 400 `INVALID_PIPELINE` for an operator that redefines one of MongoDB's variables, such as `CURRENT`, from
 * which every field path is read. Checks the operand (`as`, `valueAs`, `arrayIndexAs` beside an `input`), so that it
 * also covers unknown operators.
 */
const requireOwnNames = (operator: string, operand: unknown): void => {
  if (!operator.startsWith('$') || !isJsonObject(operand) || namingFields.test(operator)) return;
  const options = Object.hasOwn(operand, 'input') ? Object.entries(operand) : [];
  const named = options.flatMap(([option, name]) => (/^as$|As$/.test(option) ? [name] : []));
  const set = Object.keys((operator === '$lookup' ? operand.let : operand.vars) ?? {});
  const taken = [...named, ...set].find((name) => typeof name === 'string' && /^[A-Z]/.test(name));
  if (taken === undefined) return;
  throw invalidPipeline(
    `${cutText(operator, 40)} cannot name a variable ${cutText(String(taken), 40)}: names in capitals are reserved. Begin the name with a small letter.`,
  );
};

/** All field names and operators together: the work on a `$project` grows with their square. */
const maxNames = 5000;

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

const patternOperators: ReadonlySet<string> = new Set(['$regexMatch', '$regexFind', '$regexFindAll']);

const boundedRegex = (regex: unknown): unknown => {
  if (typeof regex === 'string' && !regex.startsWith('$')) return boundedPattern(regex);
  return regex === null ? regex : { $concat: [{ $literal: strictestBound }, regex] };
};

const boundSchema = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(boundSchema);
  if (!isJsonObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === 'pattern' && typeof value === 'string' ? boundedPattern(value) : boundSchema(value),
    ]),
  );
};

/** The operand with its patterns bounded: `$regex`, those of expressions, and those of a `$jsonSchema`. */
const boundPatterns = (operator: string, operand: unknown): unknown => {
  if (operator === '$regex' && typeof operand === 'string') return boundedPattern(operand);
  if (operator === '$jsonSchema') return boundSchema(operand);
  if (!patternOperators.has(operator) || !isJsonObject(operand) || !Object.hasOwn(operand, 'regex')) return operand;
  return { ...operand, regex: boundedRegex(operand.regex) };
};

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
      return [key, boundPatterns(key, parseOperand(value, names))];
    }),
  );
};

/**
 * Parses the Extended JSON (`{"$oid"}`, `{"$date"}`) in a value of a pipeline, at any depth. Throws 400
 * `INVALID_PIPELINE` for malformed Extended JSON, revealing variables and `$meta`, and redefined variables of
 * MongoDB; 400 `BLOCKED_STAGE` for server-side JavaScript and internal operators.
 */
export const parseOperand = (value: unknown, names: Names = { count: 0 }): unknown => {
  if (typeof value === 'string') return parseText(value, names);
  if (Array.isArray(value)) return value.map((element) => parseOperand(element, names));
  return isJsonObject(value) ? parseObject(value, names) : value;
};
