import type { JsonObject } from '../document.ts';
import { isJsonObject } from '../write/schema-values.ts';
import {
  type Bounds,
  type Estimate,
  type Expressions,
  elementsIn,
  given,
  oneOf,
  type Scope,
  scalar,
  sumOf,
} from './estimate.ts';
import { isOperator, listOf, plainText } from './operands.ts';
import { copies, growths, pickOperators, scalarOperators, textOperators } from './operator-sizes.ts';
import { specialOperators } from './special-operators.ts';

/** How many more expressions may be looked at for one pipeline; loops inside loops take several looks each. */
export interface Steps {
  left: number;
}

const beyond: Estimate = { weight: Infinity, flat: Infinity, held: Infinity, work: Infinity };
const constantBytes = 16;

/**
 * Works out what expressions may take at most, for documents of the given bounds: from how often they copy what they
 * are given, never from what documents hold. Meant to be right for whatever an expression is, and too high for most.
 */
export class Estimator implements Expressions {
  readonly bounds: Bounds;
  /** Plain paths whose number of elements, or of fields, a result depends on. */
  readonly paths = new Set<string>();
  /** The operator that takes most by itself. */
  culprit: { readonly name: string; readonly bytes: number } = { name: '', bytes: 0 };
  /** What the operands take of the operator that is looked at. */
  #inner = 0;
  readonly #steps: Steps;

  constructor(bounds: Bounds, steps: Steps) {
    this.bounds = bounds;
    this.#steps = steps;
  }

  /** Infinite where the steps have run out. */
  of(expression: unknown, scope: Scope): Estimate {
    if (--this.#steps.left < 0) return beyond;
    if (typeof expression === 'string') return this.#text(expression, scope);
    if (Array.isArray(expression)) return this.#array(expression, scope);
    if (!isJsonObject(expression)) return given(constantBytes);
    return isOperator(expression) ? this.#operator(expression, scope) : this.#object(expression, scope);
  }

  /** Elements that an array has at most; how many a plain path has is bound. */
  elementsOf(expression: unknown, { weight, count = elementsIn(weight) }: Estimate): number {
    if (typeof expression !== 'string' || !/^\$([^$]|\$ROOT$)/.test(expression)) return count;
    this.paths.add(expression);
    return Math.min(count, this.bounds.elements);
  }

  /** Several expressions side by side: fields that do not overlap have no more bytes together than their document. */
  together(expressions: readonly unknown[], scope: Scope): Estimate {
    const named = new Map<string, number>();
    for (const expression of expressions) {
      const [, field] = (typeof expression === 'string' && /^\$([^$.][^.]*)/.exec(expression)) || [];
      if (field !== undefined) named.set(field, (named.get(field) ?? 0) + 1);
    }
    const all = sumOf(expressions.map((expression) => this.of(expression, scope)));
    const times = [...named.values()];
    const twice = times.reduce((sum, each) => sum + each, 0) - Math.max(0, ...times);
    const counted = twice * this.bounds.document;
    return counted === 0 ? all : { ...all, weight: all.weight - counted, flat: all.flat - counted };
  }

  #text(text: string, scope: Scope): Estimate {
    if (!text.startsWith('$')) return given(constantBytes + Buffer.byteLength(text));
    const { document } = this.bounds;
    if (!text.startsWith('$$')) {
      const [first = '', ...deeper] = text.slice(1).split('.');
      if (deeper.length === 0) return given(document);
      // The values of a field of many objects are made into a list.
      const made = deeper.length === 1 ? 16 * this.elementsOf(`$${first}`, given(document)) : document;
      return { ...given(document), held: Math.min(document, made), work: document };
    }
    const [name = '', segment] = text.slice(2).split('.');
    const weight = (scope.get(name) ?? (() => document))(segment);
    return segment === undefined ? given(weight) : { ...given(weight), held: weight, work: weight };
  }

  #array(elements: readonly unknown[], scope: Scope): Estimate {
    const all = this.together(elements, scope);
    const own = 48 + 16 * elements.length;
    // MongoDB's newer engine copies what a list is made of.
    const work = all.work + own + all.weight;
    return { weight: all.weight + own, flat: own, count: elements.length, held: all.held + own, work };
  }

  #object(object: JsonObject, scope: Scope): Estimate {
    const all = this.together(Object.values(object), scope);
    const own = Object.keys(object).reduce((sum, key) => sum + 64 + Buffer.byteLength(key), 256);
    return { weight: all.weight + own, flat: own, held: all.held + own, work: all.work + own };
  }

  #operator(expression: JsonObject, scope: Scope): Estimate {
    const [name = '', operand] = Object.entries(expression)[0] ?? [];
    const outer = this.#inner;
    this.#inner = 0;
    const special = specialOperators.get(name);
    const found = special ? special(operand, scope, this) : this.#plain(name, operand, scope);
    const known = !Number.isNaN(found.weight + found.flat + found.held + found.work);
    const estimate = known ? found : beyond;
    const own = estimate.work - this.#inner;
    if (own > this.culprit.bytes) this.culprit = { name, bytes: own };
    this.#inner = outer + estimate.work;
    return estimate;
  }

  #plain(name: string, operand: unknown, scope: Scope): Estimate {
    const operands = listOf(operand);
    if (pickOperators.has(name)) return oneOf(operands.map((part) => this.of(part, scope)));
    const { weight, flat, held, work } = this.together(operands, scope);
    if (scalarOperators.has(name)) {
      const texts = 4 * operands.reduce((sum: number, part) => sum + (plainText(part) ?? 0), 0) + scalar.work;
      return { ...given(texts), held: texts, work: work + texts };
    }
    if (textOperators.has(name)) return { ...given(weight), held: weight + 32, work: work + weight + 32 };
    const growth = growths.get(name) ?? copies;
    return {
      weight: growth.weight * weight,
      flat: growth.weight * flat,
      held: held + growth.held * flat + 64,
      work: work + growth.work * flat + 64,
    };
  }
}
