import { setBounded } from './cache.ts';
import {
  isIn,
  type Node,
  parsePattern,
  type Ranges,
  type TextPlace,
  toPcre,
  Unusable,
  wordCharacters,
} from './pattern-syntax.ts';

type Step =
  | { readonly of: Ranges; readonly next: number }
  | { readonly place: TextPlace; readonly next: number }
  | { readonly forks: number[] }
  | { readonly ends: true };

const maxSteps = 500;
const tooLarge = (): Unusable =>
  new Unusable('has too many repetitions or alternatives. Begin it with ^, or bound the length by maxLength instead');

/** Thompson's construction. The last step ends a match. */
const stepsOf = (root: Node): readonly Step[] => {
  const steps: Step[] = [];
  let visited = 0;
  const add = (node: Node): void => {
    visited += 1;
    if (steps.length > maxSteps || visited > 10 * maxSteps) throw tooLarge();
    if (node.kind === 'one') steps.push({ of: node.of, next: steps.length + 1 });
    else if (node.kind === 'at') steps.push({ place: node.place, next: steps.length + 1 });
    else if (node.kind === 'all') node.parts.forEach(add);
    else if (node.kind === 'any') addAny(node.parts);
    else addRepeated(node);
  };
  const addAny = (parts: readonly Node[]): void => {
    const fork: number[] = [];
    const exits: number[][] = [];
    steps.push({ forks: fork });
    for (const part of parts) {
      fork.push(steps.length);
      add(part);
      const exit: number[] = [];
      exits.push(exit);
      steps.push({ forks: exit });
    }
    for (const exit of exits) exit.push(steps.length);
  };
  const addRepeated = ({ part, min, max }: Extract<Node, { kind: 'repeat' }>): void => {
    for (let index = 0; index < min; index += 1) add(part);
    if (max === Number.POSITIVE_INFINITY) {
      const begin = steps.length;
      const fork = [begin + 1];
      steps.push({ forks: fork });
      add(part);
      steps.push({ forks: [begin] });
      fork.push(steps.length);
      return;
    }
    const skips: number[][] = [];
    for (let index = min; index < max; index += 1) {
      const fork = [steps.length + 1];
      skips.push(fork);
      steps.push({ forks: fork });
      add(part);
    }
    for (const skip of skips) skip.push(steps.length);
  };
  add(root);
  return [...steps, { ends: true }];
};

/** What is before and after a place in a text. */
const edge = 0;
const other = 1;
const word = 2;

const holds = (place: TextPlace, before: number, after: number): boolean => {
  if (place === 'start') return before === edge;
  if (place === 'end') return after === edge;
  return ((before === word) !== (after === word)) === (place === 'word edge');
};

const maxStates = 1000;
/** Maximum steps to compute all states: a few milliseconds. */
const maxWork = 1_000_000;
const unknown = -1;
const accepted = -2;

interface State {
  /** The steps reached by the characters so far, in ascending order. */
  readonly at: readonly number[];
  readonly before: number;
  /** The next state by the class of the next character. */
  readonly next: Int32Array;
}

/**
 * A deterministic automaton that computes a state when a text first reaches it. A character then costs one look-up, and
 * all texts together at most `maxWork` further steps.
 */
class Automaton {
  readonly #steps: readonly Step[];
  /** The first code point of each class of characters that no step distinguishes. */
  readonly #firsts: readonly number[];
  readonly #ascii: Uint16Array;
  readonly #states: State[] = [];
  readonly #numbers = new Map<string, number>();
  #work = 0;

  constructor(root: Node) {
    this.#steps = stepsOf(root);
    const sets = [wordCharacters, ...this.#steps.flatMap((step) => ('of' in step ? [step.of] : []))];
    const firsts = new Set([0, ...sets.flat().flatMap(([first, last]) => [first, last + 1])]);
    this.#firsts = [...firsts].sort((a, b) => a - b);
    this.#ascii = Uint16Array.from({ length: 128 }, (_, point) => this.#search(point));
    this.#numberOf([], edge);
  }

  #search(point: number): number {
    let low = 0;
    let high = this.#firsts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#firsts[middle] ?? 0) <= point) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #numberOf(at: readonly number[], before: number): number {
    const key = `${before}:${at.join()}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    if (this.#states.length === maxStates) throw tooLarge();
    this.#numbers.set(key, this.#states.length);
    this.#states.push({ at, before, next: new Int32Array(this.#firsts.length).fill(unknown) });
    return this.#states.length - 1;
  }

  /** The steps that accept the next character; `undefined` if a match ends here. A match may begin anywhere. */
  #takers({ at, before }: State, after: number): readonly number[] | undefined {
    const seen = new Set<number>();
    const left = [0, ...at];
    const takers: number[] = [];
    for (let index = left.pop(); index !== undefined; index = left.pop()) {
      if (seen.has(index)) continue;
      seen.add(index);
      const step = this.#steps[index];
      if (!step) continue;
      if ('ends' in step) return undefined;
      if ('of' in step) takers.push(index);
      else if ('forks' in step) left.push(...step.forks);
      else if (holds(step.place, before, after)) left.push(step.next);
    }
    this.#work += seen.size;
    return takers;
  }

  #follow(state: State, kind: number): number {
    const point = this.#firsts[kind] ?? 0;
    const after = isIn(wordCharacters, point) ? word : other;
    const takers = this.#takers(state, after);
    const at = new Set<number>();
    this.#work += takers?.length ?? 0;
    for (const index of takers ?? []) {
      const step = this.#steps[index];
      if (step && 'of' in step && isIn(step.of, point)) at.add(step.next);
    }
    const next = takers
      ? this.#numberOf(
          [...at].sort((a, b) => a - b),
          after,
        )
      : accepted;
    state.next[kind] = next;
    return next;
  }

  /** Computes every state; throws `Unusable` if there are too many. */
  explore(): void {
    for (const state of this.#states) {
      for (const kind of this.#firsts.keys()) this.#follow(state, kind);
      if (this.#work > maxWork) throw tooLarge();
    }
  }

  test(text: string): boolean {
    let number = 0;
    for (let index = 0; index < text.length; ) {
      const point = text.codePointAt(index) ?? 0;
      index += point > 0xffff ? 2 : 1;
      const kind = (point < 128 ? this.#ascii[point] : this.#search(point)) ?? 0;
      const state = this.#states[number];
      if (!state) return false;
      const known = state.next[kind] ?? unknown;
      number = known === unknown ? this.#follow(state, kind) : known;
      if (number === accepted) return true;
    }
    const last = this.#states[number];
    return last !== undefined && this.#takers(last, edge) === undefined;
  }
}

/**
 * An unanchored pattern in JavaScript's Unicode syntax, without lookaround and backreferences, which need backtracking
 * in exponential time.
 */
interface LinearPattern {
  readonly test: (text: string) => boolean;
  /** The same expression for MongoDB. */
  readonly pcre: string;
}

const known = new Map<string, LinearPattern>();

/** `source` must have passed `patternProblem`. */
export const linearPattern = (source: string): LinearPattern => {
  const before = known.get(source);
  if (before) return before;
  const root = parsePattern(source);
  const automaton = new Automaton(root);
  const pattern: LinearPattern = { test: (text) => automaton.test(text), pcre: toPcre(root) };
  setBounded(known, source, pattern, 200);
  return pattern;
};

/** Why a pattern cannot be matched in linear time, in words that follow "has a pattern that". */
export const patternProblem = (source: string): string | undefined => {
  try {
    new Automaton(parsePattern(source)).explore();
    return undefined;
  } catch (error) {
    if (error instanceof Unusable) return error.message;
    throw error;
  }
};
