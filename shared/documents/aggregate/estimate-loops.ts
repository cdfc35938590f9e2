import type { JsonObject } from '../document.ts';
import { type Estimate, type Expressions, elementsIn, type Scope, type Variable } from './estimate.ts';

const large = 2 ** 40;
const endless: Estimate = { weight: Infinity, flat: Infinity, held: Infinity, work: Infinity };

const withVariables = (scope: Scope, variables: readonly (readonly [name: string, value: Variable])[]): Scope =>
  new Map([...scope, ...variables]);

const nameOf = (as: unknown): string => (typeof as === 'string' ? as : 'this');

/** What a loop makes of an array, by what one turn makes of an element of so many bytes. */
interface Turns {
  /** For an element that has all bytes of the array. */
  readonly whole: Estimate;
  /** For one that has none. */
  readonly empty: Estimate;
  readonly count: number;
  /** Of the array, as far as the result keeps its elements. */
  readonly kept: number;
}

/**
 * All bytes in one element and as many more elements as there may be with next to none: no way to spread the bytes over
 * the elements makes more, since no operator makes less than twice as much of what is twice as large.
 */
const turnsOf = (array: Estimate, count: number, turn: (bytes: number) => Estimate): Turns => {
  const [whole, empty] = [turn(array.weight), turn(0)];
  return { whole, empty, count: count + 1, kept: whole.weight > empty.weight ? array.held : 0 };
};

export const mapped = ({ input, as, in: inner }: JsonObject, scope: Scope, estimator: Expressions): Estimate => {
  const array = estimator.of(input, scope);
  const { whole, empty, count, kept } = turnsOf(array, estimator.elementsOf(input, array), (bytes) =>
    estimator.of(inner, withVariables(scope, [[nameOf(as), () => bytes]])),
  );
  const made = whole.held + count * (empty.held + 16);
  return {
    weight: whole.weight + count * (empty.weight + 16),
    flat: 16 * count,
    count,
    held: kept + made,
    work: array.work + whole.work + made,
  };
};

export const filtered = ({ input, as, cond, limit }: JsonObject, scope: Scope, estimator: Expressions): Estimate => {
  const array = estimator.of(input, scope);
  const { work } = estimator.of(cond, withVariables(scope, [[nameOf(as), () => array.weight]]));
  const count = estimator.elementsOf(input, array);
  const made = 16 * count + 64;
  const flat = Math.min(array.flat, 16 * count);
  const all = array.work + work + made + (limit === undefined ? 0 : estimator.of(limit, scope).work);
  return { weight: array.weight, flat, count, held: array.held + made, work: all };
};

/** How many bytes a turn adds to its result for each that one field of the value has, or the value as a whole. */
const slopeOf = (turn: (value: Variable, bytes: number) => Estimate, wanted: string | undefined): number => {
  const at = (bytes: number) =>
    turn((segment) => (segment === undefined || wanted === undefined || segment === wanted ? bytes : 0), 0).weight;
  return (at(2 * large) - at(large)) / large;
};

/**
 * A loop whose turns hand on a value. Where each turn holds at most one copy of it, it grows by what the turns add;
 * where it holds more it doubles with each, which nothing bounds.
 */
export const reduced = (
  { input, initialValue, as, valueAs, in: inner }: JsonObject,
  scope: Scope,
  estimator: Expressions,
): Estimate => {
  const [array, initial] = [estimator.of(input, scope), estimator.of(initialValue, scope)];
  const turn = (value: Variable, bytes: number): Estimate =>
    estimator.of(
      inner,
      withVariables(scope, [
        [typeof valueAs === 'string' ? valueAs : 'value', value],
        [nameOf(as), () => bytes],
      ]),
    );
  const segments = new Set<string | undefined>();
  const noted: Variable = (segment) => {
    segments.add(segment);
    return 0;
  };
  const turns = turnsOf(array, estimator.elementsOf(input, array), (bytes) => turn(noted, bytes));
  const { whole, empty, kept } = turns;
  const slopes = [...segments].map((segment) => slopeOf(turn, segment));
  if (!slopes.every((slope) => slope < 1.01)) return endless;
  const count = slopes.some((slope) => slope > 0) ? turns.count : 0;
  const weight = initial.weight + whole.weight + count * empty.weight;
  const last = turn(() => weight, array.weight);
  const held = Math.min(whole.held + count * empty.held, 16 * weight) + initial.held + kept + last.held;
  return {
    weight,
    flat: weight,
    count: elementsIn(weight),
    held,
    work: array.work + initial.work + held + last.work,
  };
};
