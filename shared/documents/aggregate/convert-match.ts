import type { Collection, ValueType } from '../../collections/collection.ts';
import { isScalar } from '../../collections/schema/field-types.ts';
import { scalarRules } from '../../collections/schema/scalar-values.ts';
import type { JsonObject } from '../document.ts';
import { typeAt } from '../read/field-at.ts';
import { isJsonObject } from '../write/schema-values.ts';

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
