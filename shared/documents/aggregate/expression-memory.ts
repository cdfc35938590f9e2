import type { JsonObject } from '../document.ts';
import { isJsonObject } from '../write/schema-values.ts';
import { ruleOf } from './operators.ts';
import { invalidPipeline } from './pipeline.ts';
import { rangeSteps } from './range-steps.ts';

/** What an expression makes, in bytes: its result as BSON, memory that the result holds, and all that it takes. */
export interface Made {
  readonly size: number;
  readonly held: number;
  readonly memory: number;
}

/** Where an expression stands: bytes of variables (`ROOT` is the document, `v.` any field of `v`), loops around it. */
interface Place {
  readonly where: string;
  readonly sizes: ReadonlyMap<string, number>;
  readonly depth: number;
}

const maxLoops = 2;
const maxSteps = 10_000;
/** Bytes that an element of a long list has at least, and that a value takes in memory. */
export const element = 8;
const scalar = 16;
/** A value beside which nothing else counts. */
const huge = 2 ** 40;

const made = (size: number, held: number, memory = held): Made => ({ size, held, memory });
const nothing = made(0, 0);
export const sum = (all: readonly Made[]): Made =>
  all.reduce((a, b) => made(a.size + b.size, a.held + b.held, a.memory + b.memory), nothing);
const most = (all: readonly Made[]): Made =>
  all.reduce((a, b) => made(Math.max(a.size, b.size), Math.max(a.held, b.held), Math.max(a.memory, b.memory)), nothing);
/** Of so many turns stays what they hand on. */
export const inTurns = ({ size, held, memory }: Made, turns: number): Made =>
  made(size * turns, held * turns, memory + held * turns);

/** True for an object of fields, false for one that is an operator. */
export const isObject = (value: unknown): value is JsonObject =>
  isJsonObject(value) && !Object.keys(value).some((key) => key.startsWith('$'));
const partsOf = (operand: unknown): JsonObject => (isJsonObject(operand) ? operand : {});
const operandsOf = (operand: unknown): readonly unknown[] => {
  if (Array.isArray(operand)) return operand;
  return isObject(operand) ? Object.values(operand) : [operand];
};

type Sizes = readonly (readonly [name: string, bytes: number])[];
/** Sizes of variables, and of their fields, beside those of others. */
export const withSizes = (others: Iterable<readonly [string, number]>, set: Sizes): ReadonlyMap<string, number> => {
  const sizes = new Map(others);
  for (const [name, bytes] of set) sizes.set(name, bytes).set(`${name}.`, bytes);
  return sizes;
};

const ofText = (text: string, { sizes }: Place): Made => {
  if (!text.startsWith('$')) return made(Buffer.byteLength(text), scalar);
  const dot = text.indexOf('.');
  const name = text.startsWith('$$') ? text.slice(2, dot < 0 ? undefined : dot) : 'ROOT';
  const size = sizes.get(dot < 0 ? name : `${name}.`) ?? element;
  return made(size, scalar, dot < 0 ? scalar : size);
};

const ofLet = ({ vars, in: inner }: JsonObject, place: Place): Made => {
  const set = Object.entries(partsOf(vars)).map(([name, value]) => [name, memoryOf(value, place)] as const);
  const sizes = withSizes(
    place.sizes,
    set.map(([name, { size }]) => [name, size]),
  );
  const result = memoryOf(inner, { ...place, sizes });
  return { ...result, memory: sum([result, ...set.map(([, value]) => value)]).memory };
};

const ofRange = (operands: readonly unknown[], place: Place): Made => {
  if (!(rangeSteps(operands, () => 0) <= maxSteps)) {
    throw invalidPipeline(
      `${place.where}: $range may have ${maxSteps} steps, or as many as a list or a text is long, by $size or ` +
        '$strLenCP. Bound what comes from numbers, as in {"$range":[0,{"$min":["$n",1000]}]}.',
    );
  }
  const lengthOf = (list: unknown, per: string) => memoryOf(list, place).size / (per === '$size' ? element : 1);
  const held = scalar * rangeSteps(operands, lengthOf);
  return made(held, held, held + sum(operands.map((one) => memoryOf(one, place))).memory);
};

/** `$map`, `$filter` or `$reduce`: the more of many small elements, and of one that is all of the list. */
const ofLoop = (name: string, parts: JsonObject, place: Place): Made => {
  const { where, depth } = place;
  if (depth === maxLoops) {
    throw invalidPipeline(
      `${where}: loops ($map, $filter, $reduce) may stand ${maxLoops} deep. Use $unwind, or a stage for each.`,
    );
  }
  const list = memoryOf(parts.input, place);
  const as = String(parts.as ?? 'this');
  const whole = { where, sizes: withSizes(place.sizes, [[as, list.size]]), depth: depth + 1 };
  if (name === '$filter') {
    const { memory } = memoryOf([parts.cond, parts.limit], whole);
    return made(list.size, scalar + 2 * list.size, list.memory + memory + 2 * list.size);
  }
  const turns = Array.isArray(parts.input) ? 2 * parts.input.length : list.size / element;
  // The list and what is copied in each of its turns share the document.
  const halves = [...place.sizes].map(([key, bytes]) => [key, bytes / 2] as const);
  const few = { ...whole, sizes: withSizes(halves, [[as, element]]) };
  const value = String(parts.valueAs ?? 'value');
  const fields = name === '$reduce' && isObject(parts.in) ? Object.values(parts.in) : undefined;
  /** What a turn makes, or each field of it, of a value of so many bytes: twice, if a field is given all of it. */
  const turn = (at: Place, bytes: number): readonly Made[] => {
    const given = [[value, fields ? 2 * bytes : bytes] as const, [`${value}.`, bytes] as const];
    const sizes = name === '$reduce' ? withSizes(at.sizes, given) : at.sizes;
    return (fields ?? [parts.in]).map((one) => memoryOf(one, { ...at, sizes }));
  };
  const one = turn(whole, 0);
  const all = most([inTurns(sum(turn(few, 0)), turns), sum(one)]);
  const looped = made(all.size, scalar + all.held, list.memory + all.memory);
  if (name !== '$reduce') return looped;
  const grown = turn(whole, huge);
  if (grown.some(({ size }, at) => size - Number(one[at]?.size) > huge)) {
    throw invalidPipeline(
      `${where}: $reduce may have $$value, or each field of it, once, and not inside another loop: it would grow with ` +
        'every turn. Operators that only look at it, such as $size, may have it more often.',
    );
  }
  const reduced = sum([looped, memoryOf(parts.initialValue, place)]);
  const copied = ((sum(grown).memory - sum(one).memory) / huge) * reduced.size;
  return sum([reduced, made(0, copied)]);
};

const ofOperator = (name: string, operand: unknown, place: Place): Made => {
  const parts = partsOf(operand);
  if (name === '$literal') {
    // Two characters of JSON at least for each element.
    const elements = JSON.stringify(operand).length / 2;
    return made(elements * element, scalar + elements * scalar);
  }
  if (name === '$let') return ofLet(parts, place);
  if (name === '$map' || name === '$filter' || name === '$reduce') return ofLoop(name, parts, place);
  if (name === '$range') return ofRange(operandsOf(operand), place);
  const operands = name === '$switch' ? operandsOf(operand).flat() : operandsOf(operand);
  const given = operands.map((one) => memoryOf(one, place));
  const all = sum(given);
  const rule = ruleOf(name);
  if (rule === 'looks') return made(element, scalar, all.memory);
  if (rule === 'picks') return { ...most(given), memory: all.memory };
  const [perByte, result] = rule;
  // Of a list or an object that is written there it copies no more than what holds the parts together.
  const copied = sum(given.filter((_, at) => result > 1 || !(Array.isArray(operands[at]) || isObject(operands[at]))));
  const replaced = name === '$replaceAll' ? 1 + memoryOf(parts.replacement, place).size : 1;
  const factor = parts.useLongestLength ? operandsOf(parts.inputs).length : replaced;
  const held = scalar + copied.size * perByte * factor;
  return made(all.size * result * factor, all.held + held, all.memory + held);
};

/**
 * What an expression makes at most of a document of so many bytes, worked out from how often it copies what it is given
 * (contract 2, "Aggregation"). What one turn of a loop works with is gone after it; what the turns hand on stays.
 */
export const memoryOf = (value: unknown, place: Place): Made => {
  if (typeof value === 'string') return ofText(value, place);
  if (isJsonObject(value) && !isObject(value)) {
    return sum(Object.entries(value).map(([key, inner]) => ofOperator(key, inner, place)));
  }
  if (!Array.isArray(value) && !isJsonObject(value)) return made(element, scalar);
  const parts = operandsOf(value);
  const held = Array.isArray(value) ? 48 + 16 * parts.length : 256 + 64 * parts.length;
  return sum([made(scalar * (1 + parts.length), held), ...parts.map((part) => memoryOf(part, place))]);
};
