import type { Applied } from '../access/rule-access.ts';
import type { Document, JsonObject } from '../document.ts';
import { isJsonObject } from '../values.ts';
import { changedBy, type FieldOperation } from './operations.ts';

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
