import type { Applied } from '../access/rule-access.ts';
import type { Document, JsonObject } from '../document.ts';
import { isJsonObject } from '../values.ts';

/** A copy of a value in which the value at a path is another. */
export const withValue = (value: unknown, [segment, ...rest]: readonly string[], set: unknown): unknown => {
  if (segment === undefined) return set;
  if (Array.isArray(value)) {
    const position = Number(segment);
    return value.toSpliced(position, 1, withValue(value[position], rest, set));
  }
  const object = isJsonObject(value) ? value : {};
  return { ...object, [segment]: withValue(object[segment], rest, set) };
};

const rootOf = (path: string): string => path.split('.', 1)[0] ?? '';

/** What an update makes of a document; `fields` by dotted paths, in their stored form. */
export const appliedBy = (fields: JsonObject): Applied => ({
  fields: new Set(Object.keys(fields).map(rootOf)),
  to: (document) =>
    Object.entries(fields).reduce<unknown>(
      (made, [path, value]) => withValue(made, path.split('.'), value),
      document,
    ) as Document,
});
