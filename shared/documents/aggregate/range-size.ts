import { isJsonObject } from '../write/schema-values.ts';

/** What the numbers of a range may depend on. */
export interface Sizes {
  /** Elements that an array has at most. */
  readonly elements: (array: unknown) => number;
  /** Characters that a text has at most. */
  readonly bytes: (text: unknown) => number;
}

/** MongoDB makes no range that takes more than 100 MB. */
const anyRange = (100 * 1024 * 1024) / 16;

const bounded = (numbers: readonly (number | undefined)[]): readonly number[] =>
  numbers.filter((number) => number !== undefined);

/** How large a number can become, as far as its expression tells; `undefined` where it does not. */
const mostOf = (expression: unknown, sizes: Sizes): number | undefined => {
  if (typeof expression === 'number') return expression;
  const [name, operand] = isJsonObject(expression) ? (Object.entries(expression)[0] ?? []) : [];
  const parts = Array.isArray(operand) ? operand : [operand];
  const most = () => parts.map((part) => mostOf(part, sizes));
  switch (name) {
    case '$size':
      return sizes.elements(parts[0]);
    case '$strLenCP':
    case '$strLenBytes':
      return sizes.bytes(parts[0]);
    case '$min': {
      const known = bounded(most());
      return known.length > 0 ? Math.min(...known) : undefined;
    }
    case '$max':
    case '$add': {
      const known = bounded(most());
      if (known.length < parts.length) return undefined;
      return name === '$max' ? Math.max(...known) : known.reduce((sum, number) => sum + Math.max(0, number), 0);
    }
    case '$subtract':
    case '$divide':
      return typeof parts[1] === 'number' && parts[1] >= 1 ? mostOf(parts[0], sizes) : undefined;
    case '$ceil':
    case '$floor':
    case '$round':
    case '$trunc':
    case '$toInt': {
      const number = mostOf(parts[0], sizes);
      return number === undefined ? undefined : number + 1;
    }
    default:
      return undefined;
  }
};

/** Elements that a `$range` of these operands makes at most. */
export const mostElements = ([start, end, step]: readonly unknown[], sizes: Sizes): number => {
  const by = typeof step === 'number' && Math.abs(step) >= 1 ? Math.abs(step) : 1;
  const last = mostOf(end, sizes);
  if (typeof start !== 'number' || last === undefined) return anyRange;
  const isDown = typeof step === 'number' ? step < 0 : step !== undefined;
  if (isDown && typeof end !== 'number') return anyRange;
  return Math.abs(last - start) / by + 1;
};
