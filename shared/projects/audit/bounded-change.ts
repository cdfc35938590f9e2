import type { AuditedChange, ChangedValue } from './audit-record.ts';

/** What is kept as it is of a value before and after together, in characters of JSON. */
const wholeUpTo = 1024;
const longestText = 200;
const mostItems = 10;
/** Of the names of all fields together, in characters. */
const longestNames = 1024;

const jsonOf = (value: unknown): string => JSON.stringify(value) ?? 'null';

const shorten = (text: string): string => (text.length > longestText ? `${text.slice(0, longestText - 1)}…` : text);

const cut = (value: unknown): unknown => {
  if (typeof value === 'string') return shorten(value);
  if (Array.isArray(value)) return value.slice(0, mostItems).map(cut);
  const json = jsonOf(value);
  return json.length > longestText ? shorten(json) : value;
};

const without = (list: readonly unknown[], others: readonly unknown[]): readonly unknown[] => {
  const known = new Set(others.map(jsonOf));
  return list.filter((item) => !known.has(jsonOf(item)));
};

const boundedValue = (value: ChangedValue): ChangedValue => {
  const { field, before, after } = value;
  if (jsonOf([before, after]).length <= wholeUpTo) return value;
  return Array.isArray(before) && Array.isArray(after)
    ? { field, before: cut(without(before, after)), after: cut(without(after, before)) }
    : { field, before: cut(before), after: cut(after) };
};

const boundedNames = (names: readonly string[]): readonly string[] => {
  let length = 0;
  return names.filter((name) => {
    length += name.length;
    return length <= longestNames;
  });
};

/**
 * The change as its entry tells it, so that no entry takes more than a few KiB of what is kept for a year: of a long
 * value only its beginning, of a long list only what was removed (`before`) and what was added (`after`), the first ten
 * of each.
 */
export const boundedChange = (change: AuditedChange): AuditedChange => ({
  ...change,
  fields: boundedNames(change.fields),
  values: change.values.map(boundedValue),
});
