import { ObjectId } from 'mongodb';
import type { Outcome } from '../../../shared/collections/rules/rule.ts';
import type { JsonObject } from '../../../shared/documents/document.ts';

/* The values, comparisons and the logic of the model of access rules (rule-model.ts). */

export const isRecord = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
export const isMissing = (value: unknown): boolean => value === undefined || value === null;

export const not = (outcome: Outcome): Outcome => (outcome === 'unknown' ? outcome : !outcome);
export const all = (outcomes: readonly Outcome[]): Outcome =>
  outcomes.includes(false) ? false : outcomes.includes('unknown') ? 'unknown' : true;
export const any = (outcomes: readonly Outcome[]): Outcome => not(all(outcomes.map(not)));

const leaves = (value: unknown, [key, ...rest]: readonly string[]): readonly unknown[] => {
  if (key === undefined) return [value];
  if (Array.isArray(value)) {
    const found = value.filter(isRecord).flatMap((element) => leaves(element, [key, ...rest]));
    return found.length > 0 ? found : [undefined];
  }
  return isRecord(value) ? leaves(value[key], rest) : [undefined];
};

export const segmentsOf = (path: string): readonly string[] => (path === '' ? [] : path.split('.'));
export const valuesOf = (value: unknown, path: string): readonly unknown[] =>
  leaves(value, segmentsOf(path)).flatMap((one) => (path !== '' && Array.isArray(one) ? [one, ...one] : [one]));

/** Through arrays, the list of what their elements have there. */
export const wholeOf = (value: unknown, [key, ...rest]: readonly string[]): unknown => {
  if (key === undefined) return value;
  if (Array.isArray(value) && /^\d+$/.test(key)) return wholeOf(value[Number(key)], rest);
  if (Array.isArray(value)) return value.map((one) => wholeOf(one, [key, ...rest])).filter((one) => one !== undefined);
  return isRecord(value) ? wholeOf(value[key], rest) : undefined;
};

/** Ids are the same by value, in whichever form. */
const plain = (value: unknown): unknown => {
  if (value instanceof ObjectId) return value.toHexString();
  if (value instanceof Date) return `date ${value.getTime()}`;
  if (Array.isArray(value)) return value.map(plain);
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]));
  return value ?? null;
};
export const same = (one: unknown, other: unknown): boolean =>
  JSON.stringify(plain(one)) === JSON.stringify(plain(other));

const kindOf = (value: unknown): string =>
  value instanceof Date ? 'date' : value instanceof ObjectId ? 'id' : Array.isArray(value) ? 'array' : typeof value;
const hasOrder = new Set(['number', 'string', 'boolean', 'date', 'id']);
const order = (one: unknown, other: unknown): number | undefined => {
  if (isMissing(one) || kindOf(one) !== kindOf(other) || !hasOrder.has(kindOf(one))) return undefined;
  const [left, right] = [one, other].map((each) =>
    kindOf(each) === 'string' || kindOf(each) === 'id' ? Buffer.from(String(each)).toString('hex') : Number(each),
  ) as [number, number];
  return left < right ? -1 : Number(left > right);
};

const ranges: Readonly<Record<string, (order: number) => boolean>> = {
  ...{ $gt: (at) => at > 0, $gte: (at) => at >= 0, $lt: (at) => at < 0, $lte: (at) => at <= 0 },
};
export const texts: Readonly<Record<string, (text: string, part: string) => boolean>> = {
  $contains: (text, part) => text.includes(part),
  $startsWith: (text, part) => text.startsWith(part),
  $endsWith: (text, part) => text.endsWith(part),
};

/** Whether one of the values has a relation to the operand. */
export const relates = (operator: string, values: readonly unknown[], operand: unknown): boolean => {
  const [range, text] = [ranges[operator], texts[operator]];
  if (range) {
    return values.some((value) => {
      const at = order(value, operand);
      return at !== undefined && range(at);
    });
  }
  if (text)
    return values.some((value) => typeof value === 'string' && typeof operand === 'string' && text(value, operand));
  const among = (list: unknown): boolean =>
    (Array.isArray(list) ? list : [list]).some((one) => values.some((value) => same(value, one)));
  switch (operator) {
    case '$in':
      return among(operand);
    case '$nin':
      return !among(operand);
    case '$ne':
      return !values.some((value) => same(value, operand));
    case '$all':
      return (operand as readonly unknown[]).every((one) => values.some((value) => same(value, one)));
    case '$exists':
      return values.some((value) => value !== undefined) === operand;
    case '$size':
      return values.some((value) => Array.isArray(value) && value.length === operand);
    default:
      return values.some((value) => same(value, operand));
  }
};
