import { isJsonObject } from '../write/schema-values.ts';

const partsOf = (bound: unknown): readonly [name: string, parts: readonly unknown[]] => {
  const [name = '', operand] = isJsonObject(bound) ? (Object.entries(bound)[0] ?? []) : [];
  return [name, Array.isArray(operand) ? operand : [operand]];
};
const isLength = (name: string): boolean => /^\$(size|strLenCP|strLenBytes)$/.test(name);

/** How far from 0 a bound of a `$range` can be, lengths left out; `undefined` where a number of a document decides. */
const reach = (bound: unknown): number | undefined => {
  if (typeof bound === 'number') return Math.abs(bound);
  const [name, parts] = partsOf(bound);
  if (isLength(name)) return 0;
  if (!/^\$(add|subtract|max|divide|ceil|floor|round|trunc|toInt)$/.test(name)) return undefined;
  const known = parts.map(reach);
  if (name === '$divide') return (known[1] ?? 0) >= 1 ? known[0] : undefined;
  return known.reduce((sum, part) => (sum === undefined || part === undefined ? undefined : sum + part), 1);
};

/** The end may be the least of several if one of them is bound, since a range upwards to less is shorter. */
const reachOfEnd = (end: unknown, step: unknown = 1): number | undefined => {
  const [name, parts] = partsOf(end);
  const isUpwards = typeof step === 'number' && step > 0;
  return name === '$min' && isUpwards ? parts.map(reach).find((part) => part !== undefined) : reach(end);
};

/** Steps that a `$range` of these operands has at most beside the lengths in it; `undefined` where nothing bounds it. */
export const rangeSteps = ([start, end, step]: readonly unknown[]): number | undefined => {
  const [from, to] = [reach(start), reachOfEnd(end, step)];
  if (from === undefined || to === undefined) return undefined;
  const steps = typeof start === 'number' && typeof end === 'number' ? Math.abs(end - start) : from + to;
  return steps / (typeof step === 'number' ? Math.max(1, Math.abs(step)) : 1);
};

/** The lists and texts that a bound is long by. */
export const lengthsIn = (bound: unknown): readonly unknown[] => {
  const [name, parts] = partsOf(bound);
  return isLength(name) ? parts : name === '' ? [] : parts.flatMap(lengthsIn);
};
