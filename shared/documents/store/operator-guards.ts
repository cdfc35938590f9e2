import type { Collection, ValueType } from '../../collections/collection.ts';
import { type Bounds, brokenBound } from '../../collections/schema/field-bounds.ts';
import { fieldAt, fieldsOf } from '../../collections/schema/field-path.ts';
import { isScalar } from '../../collections/schema/field-types.ts';
import { type AppError, validationFailed } from '../../core/errors.ts';
import { type Document, isAt, revisionOf } from '../document.ts';
import { allOf, type Condition } from '../query/condition.ts';
import type { Guard } from './guarded-write.ts';
import { changedBy, type FieldOperation, invalidUpdate, isExact, resultOf, shownPath } from './operations.ts';
import { valueAt } from './update-path.ts';
import { sizeOf } from './validate.ts';

/** Matches no document, so that it is read and decided at its revision. */
const undecided: Condition = { _id: { $in: [] } };

type Numeric = Extract<FieldOperation, { operand: unknown }>;
type Addition = Extract<FieldOperation, { added: unknown }>;

/** All types except those named. For an array MongoDB checks its elements and the array itself. */
const otherThan = (...kinds: readonly string[]): Condition => ({
  $not: {
    $type: [
      ...['double', 'int', 'long', 'decimal', 'date', 'string', 'object', 'array', 'binData', 'objectId', 'bool'],
      ...['null', 'regex', 'javascript', 'timestamp', 'minKey', 'maxKey'],
    ].filter((kind) => !kinds.includes(kind)),
  },
});

/** The next greater (`1`) or smaller (`-1`) number, or the one after it. */
const beside = (value: number, direction: 1 | -1): number =>
  value + direction * Math.max(Math.abs(value) * Number.EPSILON, Number.MIN_VALUE);

/**
 * The lowest (`1`) or highest (`-1`) value for which the result is known to stay within the limit. Results grow with
 * values.
 */
const turned = (
  made: (value: number) => number,
  start: number,
  limit: number,
  direction: 1 | -1,
): number | undefined => {
  let value = Math.min(Math.max(start, -Number.MAX_VALUE), Number.MAX_VALUE);
  for (let tries = 0; tries < 4; tries += 1) {
    const result = made(value);
    if (direction === 1 ? result >= limit : result <= limit) return value;
    value = beside(value, direction);
  }
  return undefined;
};

/** The values whose results lie in a range; `undefined` if that is not known. */
const sourceOf = (
  operator: Numeric['operator'],
  operand: number,
  low: number,
  high: number,
): { readonly from: number; readonly to: number } | undefined => {
  const made = (value: number): number => resultOf(operator, value, operand);
  if (operator === '$min') return operand < low ? undefined : { from: low, to: operand <= high ? Infinity : high };
  if (operator === '$max') return operand > high ? undefined : { from: operand >= low ? -Infinity : low, to: high };
  if (operator === '$mul' && operand === 0)
    return low <= 0 && high >= 0 ? { from: -Infinity, to: Infinity } : undefined;
  const inverse = (limit: number): number => (operator === '$inc' ? limit - operand : limit / operand);
  const falls = operator === '$mul' && operand < 0;
  const from = falls ? turned((value) => -made(value), inverse(high), -high, 1) : turned(made, inverse(low), low, 1);
  const to = falls ? turned((value) => -made(value), inverse(low), -low, -1) : turned(made, inverse(high), high, -1);
  return from === undefined || to === undefined ? undefined : { from, to };
};

/** The values whose result is in a list; `undefined` if that is not known. */
const listedFilter = (operation: Numeric, operand: number, at: ValueType | undefined): Condition => {
  const { operator, path } = operation;
  const allowed = (at?.enum ?? []).map(Number);
  const sources = [...allowed, ...allowed.map((value) => (operator === '$mul' ? value / operand : value - operand))];
  const leads = (value: number): boolean =>
    Number.isFinite(value) && at !== undefined && brokenBound(at, resultOf(operator, value, operand)) === undefined;
  const listed = { [path]: { $in: sources.filter(leads) } };
  return suitsFromNothing(operation, at) ? { $or: [listed, { [path]: { $exists: false } }] } : listed;
};

/**
 * The values for which the result is valid, as MongoDB compares them. It may be too strict, because a document that
 * does not match is read and decided in code.
 */
const numericFilter = (operation: Numeric, at: ValueType | undefined): Condition => {
  const { operator, path, operand } = operation;
  if (operand instanceof Date) return { [path]: otherThan('date') };
  const bounds: Bounds = at ?? {};
  if (bounds.enum) return listedFilter(operation, operand, at);
  const isChosen = operator === '$min' || operator === '$max';
  const limit = isChosen ? Infinity : Number.MAX_SAFE_INTEGER;
  const range = sourceOf(
    operator,
    operand,
    Math.max(bounds.min ?? -limit, -limit),
    Math.min(bounds.max ?? limit, limit),
  );
  if (!range || (bounds.integer && !Number.isInteger(operand))) return undecided;
  const conditions: Condition[] = [];
  if (range.from > -Infinity) conditions.push({ [path]: { $not: { $lt: range.from } } });
  if (range.to < Infinity) conditions.push({ [path]: { $not: { $gt: range.to } } });
  if (bounds.integer) conditions.push({ [path]: otherThan('int', 'long') });
  else if (isChosen) conditions.push({ [path]: otherThan('int', 'long', 'double') });
  if (!suitsFromNothing(operation, at)) conditions.push({ [path]: { $exists: true } });
  return allOf(conditions);
};

/** Whether the operator may be used on a missing value. */
const suitsFromNothing = ({ operator, operand }: Numeric, at: ValueType | undefined): boolean => {
  if (operator === '$inc' && !isExact(Number(operand))) return false;
  return !at || brokenBound(at, operator === '$mul' ? 0 : operand) === undefined;
};

/** The arrays that stay within their bounds regardless of their elements. */
const additionFilter = ({ operator, path, added }: Addition, at: ValueType | undefined): Condition => {
  if (!at) return {};
  const { minItems = 0, maxItems = Infinity, uniqueItems } = at;
  const isSet = operator === '$addToSet' && at.items !== undefined && isScalar(at.items.type);
  const { elements, slice } = added;
  if (uniqueItems && !isSet) return undecided;
  if (slice !== undefined) return minItems > 0 || Math.abs(slice) > maxItems ? undecided : {};
  const conditions: Condition[] = [];
  const room = maxItems - elements.length;
  if (room < 0) return undecided;
  if (room < Infinity) conditions.push({ [`${path}.${room}`]: { $exists: false } });
  const needed = minItems - (operator === '$addToSet' ? 0 : elements.length);
  if (needed > 0) conditions.push({ [`${path}.${needed - 1}`]: { $exists: true } });
  return allOf(conditions);
};

const filterOf = (operation: FieldOperation, at: ValueType | undefined): Condition => {
  switch (operation.operator) {
    case '$push':
    case '$addToSet':
      return additionFilter(operation, at);
    case '$pull':
      return (at?.minItems ?? 0) > 0 ? undecided : {};
    case '$unset':
      return unsetFilter(operation.path);
    default:
      return numericFilter(operation, at);
  }
};

/** No arrays where segments of a path could be positions. */
const positionsIn = (path: string): readonly string[] => {
  const segments = path.split('.');
  return segments.flatMap((segment, index) =>
    index > 0 && /^\d+$/.test(segment) ? [segments.slice(0, index).join('.')] : [],
  );
};

const unsetFilter = (path: string): Condition =>
  allOf(positionsIn(path).map((above) => ({ [above]: { $not: { $type: 'array' } } })));

const requireNoElement = (path: string, document: Document): AppError | undefined => {
  const array = positionsIn(path).find((above) => Array.isArray(valueAt(document, above)));
  return array === undefined
    ? undefined
    : invalidUpdate(`$unset cannot remove an element of the Array "${shownPath(array)}". Use $pull.`);
};

/** Why an operation cannot be applied to a document. */
const refusalOf = (operation: FieldOperation, at: ValueType | undefined, document: Document): AppError | undefined => {
  const { operator, path } = operation;
  if (operator === '$unset') return requireNoElement(path, document);
  const result = changedBy(operation, valueAt(document, path));
  const broken = at && result !== undefined ? brokenBound(at, result) : undefined;
  return broken === undefined ? undefined : validationFailed({ field: path, message: `${shownPath(path)} ${broken}` });
};

/** The guard of an operation: types, and the bounds of the result. */
const guardOf = (operation: FieldOperation, at: ValueType | undefined): Guard => {
  const filter = filterOf(operation, at);
  return {
    filter,
    ...(filter !== undecided && { isAlwaysNeeded: true }),
    filterFor: (document) => isAt(revisionOf(document)),
    refusal: (document) => refusalOf(operation, at, document),
  };
};

/** The guards of all operations, decided by the command that writes, or at the revision that was read. */
export const operatorGuards = (collection: Collection, operations: readonly FieldOperation[]): readonly Guard[] => {
  const fields = fieldsOf(collection);
  return operations.map((operation) => guardOf(operation, fieldAt(fields, operation.path)));
};

/** No operator changes the owner of a document. */
export const mustKeepOwner = (refusal: AppError): Guard => ({
  isOfOwner: true,
  filter: undecided,
  refusal: () => refusal,
});

/** The guards against operators that add to a document, if the database is full. */
export const mustNotAdd = (operations: readonly FieldOperation[], refusal: AppError): readonly Guard[] =>
  operations
    .filter((operation) => 'added' in operation)
    .map((operation) => ({
      filter: undecided,
      filterFor: (document) => isAt(revisionOf(document)),
      refusal: (document) => {
        const before = valueAt(document, operation.path);
        const grows = sizeOf({ value: changedBy(operation, before) }) > sizeOf({ value: before });
        return grows ? refusal : undefined;
      },
    }));
