import { isJsonObject } from '../write/schema-values.ts';

/** How long a list or a text is that a bound takes by `$size` and the like. */
type LengthOf = (list: unknown, by: string) => number;

const partsOf = (bound: unknown): readonly [name: string, parts: readonly unknown[]] => {
  const [name = '', operand] = isJsonObject(bound) ? (Object.entries(bound)[0] ?? []) : [];
  return [name, [operand].flat()];
};

/** How far from 0 a bound can be; not a number where one of a document decides. */
const reach = (bound: unknown, lengthOf: LengthOf): number => {
  if (typeof bound === 'number') return Math.abs(bound);
  const [name, parts] = partsOf(bound);
  if (/^\$(size|strLenCP|strLenBytes)$/.test(name)) return lengthOf(parts[0], name);
  if (name === '$divide') return typeof parts[1] === 'number' && parts[1] >= 1 ? reach(parts[0], lengthOf) : Number.NaN;
  if (!/^\$(add|subtract|max|ceil|floor|round|trunc|toInt)$/.test(name)) return Number.NaN;
  return parts.reduce<number>((sum, part) => sum + reach(part, lengthOf), 1);
};

/** Steps that a `$range` of these operands has at most, where a list or a text is as long as `lengthOf` says. */
export const rangeSteps = ([start, end, step = 1]: readonly unknown[], lengthOf: LengthOf): number => {
  const stride = Math.max(1, Math.abs(Number(step)) || 1);
  if (typeof start === 'number' && typeof end === 'number') return Math.abs(end - start) / stride;
  const [name, parts] = partsOf(end);
  // Upwards to the least of several is no longer than to the one of them that is bound.
  const ends = name === '$min' && Number(step) > 0 ? parts : [end];
  const reached = ends.map((one) => reach(one, lengthOf)).filter((one) => !Number.isNaN(one));
  return (reach(start, lengthOf) + Math.min(...reached)) / stride;
};
