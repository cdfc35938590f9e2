import { ObjectId } from 'mongodb';
import { AppError } from '../../core/errors.ts';
import { cutText } from '../../core/text.ts';
import type { Applied } from '../access/writing.ts';
import type { Document, JsonObject } from '../document.ts';
import { isJsonObject } from '../values.ts';

/** The error of an update (400). */
export const invalidUpdate = (message: string): AppError => new AppError('INVALID_UPDATE', message);

/** A caller's path, cut for a message. */
export const shownPath = (path: string): string => cutText(path, 200);

export type NumericOperator = '$inc' | '$mul' | '$min' | '$max';

/** What `$push` and `$addToSet` add. */
export interface Addition {
  readonly elements: readonly unknown[];
  readonly position?: number;
  readonly slice?: number;
}

/** An operator on a path, with its operand in stored form. */
export type FieldOperation =
  | { readonly operator: NumericOperator; readonly path: string; readonly operand: number | Date }
  | { readonly operator: '$push' | '$addToSet'; readonly path: string; readonly added: Addition }
  | {
      readonly operator: '$pull';
      readonly path: string;
      /** In MongoDB's form. */
      readonly condition: unknown;
      readonly removes: (element: unknown) => boolean;
    }
  | { readonly operator: '$unset'; readonly path: string };

/** Equality as in MongoDB: the order of names matters. */
export const isEqual = (one: unknown, other: unknown): boolean => {
  if (one instanceof ObjectId) return other instanceof ObjectId && one.equals(other);
  if (one instanceof Date) return other instanceof Date && one.getTime() === other.getTime();
  if (Array.isArray(one))
    return Array.isArray(other) && one.length === other.length && one.every((each, at) => isEqual(each, other[at]));
  if (!isJsonObject(one)) return one === other;
  if (!isJsonObject(other)) return false;
  const [names, others] = [Object.keys(one), Object.keys(other)];
  return (
    names.length === others.length && names.every((name, at) => name === others[at] && isEqual(one[name], other[name]))
  );
};

const results: Readonly<Record<NumericOperator, (value: number, operand: number) => number>> = {
  $inc: (value, operand) => value + operand,
  $mul: (value, operand) => value * operand,
  $min: Math.min,
  $max: Math.max,
};

/** The result of an operator on a number. */
export const resultOf = (operator: NumericOperator, value: number, operand: number): number =>
  results[operator](value, operand);

/** Whether every client reads a result exactly. */
export const isExact = (value: number): boolean => Math.abs(value) <= Number.MAX_SAFE_INTEGER;

const namesOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an Array';
  if (value instanceof Date) return 'a Date';
  if (typeof value === 'string') return 'a String';
  if (typeof value === 'boolean') return 'a Boolean';
  return typeof value === 'number' ? 'a Number' : 'no value of its kind';
};

const wrongType = (path: string, operator: string, needed: string, value: unknown): AppError =>
  invalidUpdate(`"${shownPath(path)}" is ${namesOf(value)}, and ${operator} needs ${needed}. Set it as a whole first.`);

/** The value that a missing number counts as. */
const nothing = (operator: NumericOperator, operand: number): number =>
  operator === '$min' || operator === '$max' ? operand : 0;

type Numeric = Extract<FieldOperation, { operand: unknown }>;

const computed = ({ operator, path, operand }: Numeric, value: unknown): unknown => {
  if (operand instanceof Date) {
    if (value === undefined) return operand;
    if (!(value instanceof Date)) throw wrongType(path, operator, 'a Date', value);
    return new Date(resultOf(operator, value.getTime(), operand.getTime()));
  }
  const isChosen = operator === '$min' || operator === '$max';
  const before = value === undefined ? nothing(operator, operand) : value;
  if (typeof before !== 'number') throw wrongType(path, operator, 'a Number', value);
  const result = resultOf(operator, before, operand);
  if (isChosen || isExact(result)) return result;
  throw invalidUpdate(
    `${operator} would make "${shownPath(path)}" larger than ${Number.MAX_SAFE_INTEGER}, up to which numbers are exact.`,
  );
};

const arrayAt = ({ operator, path }: FieldOperation, value: unknown): readonly unknown[] => {
  if (Array.isArray(value)) return value;
  throw wrongType(path, operator, 'an Array', value);
};

const pushed = (array: readonly unknown[], { elements, position, slice }: Addition): readonly unknown[] => {
  const all = position === undefined ? [...array, ...elements] : array.toSpliced(position, 0, ...elements);
  if (slice === undefined) return all;
  return slice < 0 ? all.slice(slice) : all.slice(0, slice);
};

const added = (array: readonly unknown[], elements: readonly unknown[]): readonly unknown[] => {
  const all = [...array];
  for (const element of elements) if (!all.some((each) => isEqual(each, element))) all.push(element);
  return all;
};

/**
 * The result of an operation on the value at its path, `undefined` for none. Throws 400 `INVALID_UPDATE` for a value
 * of the wrong type.
 */
export const changedBy = (operation: FieldOperation, value: unknown): unknown => {
  switch (operation.operator) {
    case '$unset':
      return undefined;
    case '$pull':
      if (value === undefined) return undefined;
      return arrayAt(operation, value).filter((element) => !operation.removes(element));
    case '$push':
      return pushed(value === undefined ? [] : arrayAt(operation, value), operation.added);
    case '$addToSet':
      return added(value === undefined ? [] : arrayAt(operation, value), operation.added.elements);
    default:
      return computed(operation, value);
  }
};

const argumentOf = (operation: FieldOperation): unknown => {
  switch (operation.operator) {
    case '$unset':
      return '';
    case '$pull':
      return operation.condition;
    case '$push':
    case '$addToSet': {
      const { elements, position, slice } = operation.added;
      return {
        $each: elements,
        ...(position !== undefined && { $position: position }),
        ...(slice !== undefined && { $slice: slice }),
      };
    }
    default:
      return operation.operand;
  }
};

/** MongoDB's operators for operations, each with its paths. */
export const toOperators = (operations: readonly FieldOperation[]): Readonly<Record<string, JsonObject>> => {
  const operators: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    operators[operation.operator] ??= {};
    Object.assign(operators[operation.operator] ?? {}, { [operation.path]: argumentOf(operation) });
  }
  return operators;
};

/** Combines operators on different paths. */
export const joinOperators = (...all: readonly Readonly<Record<string, JsonObject>>[]): Record<string, JsonObject> => {
  const joined: Record<string, JsonObject> = {};
  for (const operators of all)
    for (const [name, paths] of Object.entries(operators)) joined[name] = { ...joined[name], ...paths };
  return joined;
};

/** Copies a value and replaces the value at a path. */
export const withValue = (value: unknown, [segment, ...rest]: readonly string[], set: unknown): unknown => {
  if (segment === undefined) return set;
  if (Array.isArray(value)) {
    const position = Number(segment);
    return value.toSpliced(position, 1, withValue(value[position], rest, set));
  }
  const object = isJsonObject(value) ? value : {};
  return { ...object, [segment]: withValue(object[segment], rest, set) };
};

/**
 * Copies a value and changes the value at a path. If the change returns `undefined`, neither it nor its missing
 * parents are created.
 */
const withChange = (
  value: unknown,
  [segment, ...rest]: readonly string[],
  change: (value: unknown) => unknown,
): unknown => {
  if (segment === undefined) return change(value);
  if (Array.isArray(value)) {
    const position = Number(segment);
    const inner = withChange(value[position], rest, change);
    return inner === undefined ? value : value.toSpliced(position, 1, inner);
  }
  const object = isJsonObject(value) ? value : {};
  const { [segment]: before, ...others } = Object.hasOwn(object, segment) ? object : {};
  const inner = withChange(before, rest, change);
  if (inner !== undefined) return { ...object, [segment]: inner };
  return Object.hasOwn(object, segment) ? others : value;
};

/** The top-level field of a dotted path. */
export const rootOf = (path: string): string => path.split('.', 1)[0] ?? '';

/** The result of an update: stored values by dotted path, and operations. */
export const appliedBy = (fields: JsonObject, operations: readonly FieldOperation[] = []): Applied => ({
  fields: new Set([...Object.keys(fields), ...operations.map(({ path }) => path)].map(rootOf)),
  to: (document) => {
    const set = Object.entries(fields).reduce<unknown>(
      (made, [path, value]) => withValue(made, path.split('.'), value),
      document,
    );
    return operations.reduce<unknown>(
      (made, operation) => withChange(made, operation.path.split('.'), (value) => changedBy(operation, value)),
      set,
    ) as Document;
  },
});
