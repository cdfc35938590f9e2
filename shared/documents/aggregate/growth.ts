import type { JsonObject } from '../document.ts';
import { isJsonObject } from '../write/schema-values.ts';
import { looking, picking, weightOf } from './operator-weights.ts';
import { invalidPipeline } from './pipeline.ts';
import { lengthsIn, rangeSteps } from './range-steps.ts';

/** How often a value has in it the document, an element of a loop, of a loop inside that, and a `$reduce`'s value. */
export type Copies = readonly [document: number, outer: number, inner: number, value: number];

interface Loop {
  /** 1, or 2 inside another. */
  readonly depth: number;
  /** `undefined` where a list of a document decides. */
  readonly turns: number | undefined;
  /** How often the document is in the list. */
  readonly lists: number;
  /** Bytes that each turn makes, whatever it is given, and that all make for each byte of the list. */
  bytes: number;
  own: number;
}

/** Where an expression stands: `loops` keep what it makes, unless an operator that only looks drops it. */
interface Place {
  readonly variables: ReadonlyMap<string, Copies>;
  readonly loops: readonly Loop[];
  readonly depth: number;
}

const maxLoops = 2;
const maxSteps = 10_000;
/** Bytes of BSON that an element takes at least. */
const element = 5;
/** Turns of a loop over a list of a document, where only that they are many matters. */
const many = 10_000;
/** What needs no document counts as parts of one of so many bytes. */
export const smallestDocument = 4 * 1024;

const none: Copies = [0, 0, 0, 0];
const once: Copies = [1, 0, 0, 0];
const inDocuments = (bytes: number): Copies => [bytes / smallestDocument, 0, 0, 0];
const sum = (all: readonly Copies[]): Copies =>
  all.reduce<Copies>(([a, b, c, d], [w, x, y, z]) => [a + w, b + x, c + y, d + z], none);
const most = (all: readonly Copies[]): Copies =>
  all.reduce<Copies>(
    ([a, b, c, d], [w, x, y, z]) => [Math.max(a, w), Math.max(b, x), Math.max(c, y), Math.max(d, z)],
    none,
  );
const withValue = ([a, b, c, d]: Copies, count: number): Copies => [a, b, c, d === 0 ? 0 : count];
const times = ([a, b, c, d]: Copies, factor: number): Copies => [a * factor, b * factor, c * factor, d * factor];

const partsOf = (operand: unknown): JsonObject => (isJsonObject(operand) ? operand : {});
const isExpression = (value: unknown): boolean => Object.keys(partsOf(value)).some((key) => key.startsWith('$'));
const isObject = (value: unknown): value is JsonObject => isJsonObject(value) && !isExpression(value);
const operandsOf = (operand: unknown): readonly unknown[] => {
  if (Array.isArray(operand)) return operand;
  return isObject(operand) ? Object.values(operand) : [operand];
};
const plainLength = (value: unknown): number | undefined =>
  typeof value === 'string' && !value.startsWith('$') ? Buffer.byteLength(value) : undefined;

/**
 * Counts what the expressions of one stage make of a document, in bytes for each byte that it has: from how often they
 * copy what they are given, never from what documents hold (contract 2, "Aggregation").
 */
export class Growth {
  /** Bytes for each byte of a document. */
  linear = 0;
  /** Bytes for each byte of it that a loop over one of its lists copies in every turn. */
  squared = 0;
  /** The operator that makes most by itself. */
  culprit = { name: '', made: 0 };
  readonly #at: string;
  readonly #top: Place;

  readonly #inLists: boolean;

  /**
   * `at`: the stage, as `pipeline[2].$set`; `variables`: of joins around it; `inLists`: inner fields may be in lists.
   */
  constructor(at: string, variables: readonly string[], inLists: boolean) {
    this.#at = at;
    this.#inLists = inLists;
    this.#top = { variables: new Map(variables.map((name) => [name, once])), loops: [], depth: 0 };
  }

  /** How often the document is in a value; counts what is made on the way. */
  count(value: unknown): number {
    return this.#of(value, this.#top)[0];
  }

  /** The same of the fields of a stage: one inside others is worked out for each element on the way to it. */
  countFields(fields: JsonObject): number {
    const copies = Object.entries(fields).map(([key, value]) => {
      if (typeof value === 'number' || typeof value === 'boolean') return none;
      if (!this.#inLists || (!key.includes('.') && !isObject(value))) return this.#of(value, this.#top);
      return this.#loop('$map', { input: `$${key.split('.')[0]}`, in: { [key]: value } }, this.#top);
    });
    return sum(copies)[0];
  }

  #refuse(rule: string): never {
    throw invalidPipeline(`${this.#at}: ${rule}`);
  }

  #of(value: unknown, place: Place): Copies {
    if (typeof value === 'string') return this.#text(value, place);
    if (Array.isArray(value)) return this.#written(value, 48 + (16 + element) * value.length, place);
    if (!isJsonObject(value)) return none;
    if (!isExpression(value)) return this.#written(Object.values(value), 256 + 64 * Object.keys(value).length, place);
    return sum(Object.entries(value).map(([key, inner]) => this.#operator(key, inner, place)));
  }

  #text(text: string, { variables, loops }: Place): Copies {
    if (!text.startsWith('$')) return this.#constant(Buffer.byteLength(text), loops);
    const [name = '', ...deeper] = text.replace(/^\$+/, '').split('.');
    const known = text.startsWith('$$') && name !== 'ROOT' && name !== 'CURRENT' ? variables.get(name) : once;
    if (!known || deeper.length === 0) return known ?? none;
    this.#make('a path', known, 1, loops);
    return [known[0], known[1], known[2], Math.min(1, known[3])];
  }

  /** Bytes that the pipeline itself has are there once, or come with every turn. */
  #constant(bytes: number, loops: readonly Loop[]): Copies {
    const loop = loops.at(-1);
    if (!loop) return inDocuments(bytes);
    loop.bytes += bytes;
    return none;
  }

  /** A list or an object with its parts: it hands them on, but the database may copy them outside of loops. */
  #written(parts: readonly unknown[], bytes: number, place: Place): Copies {
    const copies = sum([...parts.map((part) => this.#of(part, place)), this.#constant(bytes, place.loops)]);
    if (place.loops.length === 0) this.#make('a list', copies, 1, []);
    return copies;
  }

  /** Counts `bytes` for each one copied, in every turn of the loops whose elements have nothing to do with it. */
  #make(name: string, [document, outer, inner]: Copies, bytes: number, loops: readonly Loop[]): void {
    for (const [depth, count] of [document, outer, inner].entries()) {
      const around = loops.filter((loop) => loop.depth > depth);
      const open = around.filter(({ turns }) => turns === undefined).length;
      const made = around.reduce((product, { turns, lists }) => product * (turns ?? lists), count * bytes);
      const of = loops.find((loop) => loop.depth === depth);
      if (open === 0 && of) of.own += made;
      else if (open === 0) this.linear += made;
      else this.squared += made * many ** (open - 1);
      if (made * many ** open > this.culprit.made) this.culprit = { name, made: made * many ** open };
    }
  }

  #operator(name: string, operand: unknown, place: Place): Copies {
    const parts = partsOf(operand);
    const each = (operands: readonly unknown[], at = place) => operands.map((part) => this.#of(part, at));
    switch (name) {
      case '$literal':
        return this.#constant(Buffer.byteLength(JSON.stringify(operand ?? null)), place.loops);
      case '$meta':
        return once;
      case '$let': {
        const set = Object.entries(partsOf(parts.vars)).map(([key, value]) => [key, this.#of(value, place)] as const);
        return this.#of(parts.in, { ...place, variables: new Map([...place.variables, ...set]) });
      }
      case '$switch':
        return most(each([...operandsOf(parts.branches).flatMap(operandsOf), parts.default]));
      case '$map':
      case '$filter':
      case '$reduce':
        return this.#loop(name, parts, place);
      case '$range':
        return this.#range(operandsOf(operand), place);
    }
    if (looking.has(name)) {
      each(operandsOf(operand), { ...place, loops: [] });
      return none;
    }
    if (picking.has(name)) return most(each(operandsOf(operand)));
    return this.#copied(name, operandsOf(operand), parts, place);
  }

  /** What copies its operands: of a list or an object that stands among them only what holds the parts together. */
  #copied(name: string, operands: readonly unknown[], parts: JsonObject, place: Place): Copies {
    const { memory, result } = weightOf(name);
    const columns = parts.useLongestLength ? operandsOf(parts.inputs).length : 1;
    const replaced = (plainLength(parts.replacement) ?? many) / Math.max(1, plainLength(parts.find) ?? 1);
    const factor = name === '$zip' ? columns : name === '$replaceAll' ? 1 + replaced : 1;
    const copies = operands.map((part) => this.#of(part, place));
    const handsOn = (part: unknown) => result === 1 && (Array.isArray(part) || isObject(part));
    const copied = sum(copies.filter((_, at) => !handsOn(operands[at])));
    this.#make(name, copied, memory * factor, place.loops);
    this.#constant(place.loops.length === 0 ? 0 : 64, place.loops);
    return times(sum(copies), result * factor);
  }

  #range(operands: readonly unknown[], place: Place): Copies {
    const steps = rangeSteps(operands);
    if (steps === undefined || steps > maxSteps) {
      this.#refuse(
        `$range may have ${maxSteps} steps, or as many as a list or a text is long, by $size or $strLenCP. ` +
          'Bound what comes from numbers, as in {"$range":[0,{"$min":["$n",1000]}]}.',
      );
    }
    const texts = operands.flatMap(lengthsIn).map((part) => this.#of(part, { ...place, loops: [] }));
    const lengths = times(sum(texts), element);
    this.#make('$range', lengths, 16, place.loops);
    const made = this.#constant(16 * steps, place.loops);
    this.#make('$range', made, 1, []);
    return sum([lengths, made]);
  }

  /** `$map`, `$filter` or `$reduce`: its elements together are the list, anything else is there in each turn. */
  #loop(name: string, parts: JsonObject, place: Place): Copies {
    const depth = place.depth + 1;
    if (depth > maxLoops) {
      this.#refuse(`loops ($map, $filter, $reduce) may stand ${maxLoops} deep. Use $unwind, or a stage for each.`);
    }
    const list = this.#of(parts.input, place);
    const { $range } = partsOf(parts.input);
    const steps = Array.isArray($range) && $range.flatMap(lengthsIn).length === 0 ? rangeSteps($range) : undefined;
    const turns = Array.isArray(parts.input) ? parts.input.length : steps;
    const loop: Loop = { depth, turns, lists: Math.max(1, list[0] + list[1]), bytes: 16, own: 0 };
    const initial = this.#of(parts.initialValue, place);
    const variables = new Map(
      [...place.variables].map(
        ([key, copies]) => [key, place.loops.length === 0 ? copies : withValue(copies, many)] as const,
      ),
    );
    variables.set(String(parts.as ?? 'this'), depth === 1 ? [0, 1, 0, 0] : [0, 0, 1, 0]);
    if (name === '$reduce') variables.set(String(parts.valueAs ?? 'value'), [0, 0, 0, isObject(parts.in) ? many : 1]);
    const loops = [...place.loops, loop];
    if (name === '$filter') this.#of(parts.cond, { variables, loops: [], depth });
    const fields = name === '$filter' ? [] : isObject(parts.in) ? Object.values(parts.in) : [parts.in];
    const made = fields.map((field) => this.#of(field, { variables, loops, depth }));
    if (isObject(parts.in)) this.#constant(256 + 64 * made.length, loops);
    if (name === '$reduce' && most(made)[3] > 1) {
      this.#refuse(
        '$reduce may have $$value, or each field of it, once, and not inside another loop: it would grow with every ' +
          'turn. Operators that only look at it, such as $size, may have it more often.',
      );
    }
    const turned = sum(made);
    const ofElements = times(list, turned[depth] ?? 0);
    this.#make(name, list, loop.own + (turns === undefined ? loop.bytes / element : 0), place.loops);
    if (name === '$reduce') this.#make(name, sum([initial, list, ofElements]), 8, place.loops);
    const constant = turns === undefined ? none : this.#constant(turns * loop.bytes, place.loops);
    this.#make(name, constant, 1, []);
    const [document, outer, , value] = times(turned, turns ?? many);
    const others: Copies = [document, depth === 1 ? 0 : outer, 0, name === '$reduce' ? 0 : value];
    // A loop over the value of a loop around it grows with each of its turns, unless it only picks.
    const kept = withValue(list, name === '$filter' ? list[3] : list[3] * many);
    return sum([initial, others, ofElements, kept, constant]);
  }
}
