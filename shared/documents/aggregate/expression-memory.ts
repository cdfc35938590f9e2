import type { JsonObject } from '../document.ts';
import { isJsonObject } from '../values.ts';
import { invalidPipeline, ruleOf } from './pipeline.ts';

/**
 * The bytes that an expression produces: its result as BSON, the memory that the result holds, and all that it uses.
 */
export interface Made {
  readonly size: number;
  readonly held: number;
  readonly memory: number;
}

/** Bytes of a variable, and of any field of it. */
type Size = readonly [whole: number, field: number];

/** How many values of the pipeline were examined. */
export type Work = { looked: number };

/** The position of an expression; the variable `ROOT` is the document. */
interface Place {
  readonly where: string;
  readonly sizeOf: (variable: string) => Size | undefined;
  /** The number of loops around it. */
  readonly depth: number;
  /** Collects the paths that must not lead through lists for the bound to hold, if that is needed. */
  readonly notLists?: Set<string> | undefined;
  readonly work: Work;
}

/**
 * Some values are examined for each loop around them and each possible size of a document. This many take a second
 * or two.
 */
const maxLooked = 1_000_000;
const maxLoops = 2;
const maxSteps = 10_000;
/** The minimum bytes of an element in a long list, and the bytes of a value in memory. */
const element = 8;
const scalar = 16;
/** A value so large that nothing else counts. */
const huge = 2 ** 80;

const made = (size: number, held: number, memory = held): Made => ({ size, held, memory });
export const sum = (all: readonly Made[]): Made =>
  all.reduce((a, b) => made(a.size + b.size, a.held + b.held, a.memory + b.memory), made(0, 0));
/** Of several iterations only their results remain. */
const inTurns = ({ size, held, memory }: Made, turns: number): Made =>
  made(size * turns, held * turns, memory + held * turns);
/** The memory used in addition to the result. */
const besides = ({ held, memory }: Made): Made => made(0, held, memory);

/** True for an object of fields, false for an operator. */
export const isObject = (value: unknown): value is JsonObject =>
  isJsonObject(value) && !Object.keys(value).some((key) => key.startsWith('$'));
const partsOf = (operand: unknown): JsonObject => (isJsonObject(operand) ? operand : {});
const operandsOf = (operand: unknown): readonly unknown[] =>
  isObject(operand) ? Object.values(operand) : [operand].flat();

/** The same position with more variables, which hide others of their names. */
const inside = (place: Place, variables: readonly (readonly [string, Size])[]): Place => {
  const own = new Map(variables);
  return { ...place, sizeOf: (name) => own.get(name) ?? place.sizeOf(name) };
};

const ofText = (text: string, { sizeOf, depth, notLists }: Place): Made => {
  if (!text.startsWith('$')) return made(Buffer.byteLength(text), scalar);
  const [, named = 'ROOT', path = ''] = /^\$(?:\$([^.]*)\.?)?(.*)$/s.exec(text) ?? [];
  const name = named === 'CURRENT' ? 'ROOT' : named;
  const size = sizeOf(name)?.[path ? 1 : 0] ?? element;
  const isDocument = name === 'ROOT';
  if (isDocument ? !path.includes('.') : path === '') return made(size, scalar);
  // A path through a list creates another list.
  if (!isDocument || depth === 0 || !notLists) return made(size, Math.max(size, scalar));
  notLists.add(path.slice(0, path.lastIndexOf('.')));
  return made(size, scalar);
};

const ofLet = ({ vars, in: inner }: JsonObject, place: Place): Made => {
  const set = Object.entries(partsOf(vars)).map(([name, value]) => [name, memoryOf(value, place)] as const);
  const sizes = set.map(([name, { size }]) => [name, [size, size]] as const);
  return sum([memoryOf(inner, inside(place, sizes)), ...set.map(([, value]) => besides(value))]);
};

/** The greatest absolute value of a `$range` bound, as a size: a number up to the limit, a length, or a sum of them. */
const reach = (bound: unknown, furthest: number, place: Place): Made => {
  if (typeof bound === 'number') return made(Math.abs(bound) <= furthest ? Math.abs(bound) : Infinity, 0);
  const [name = '', operand] = Object.entries(partsOf(bound))[0] ?? [];
  const parts = [operand].flat();
  if (name === '$divide' && Number(parts[1]) >= 1) return reach(parts[0], furthest, place);
  const isSum = /^\$(add|subtract|max|ceil|floor|round|trunc|toInt)$/.test(name);
  if (isSum) return sum(parts.map((one) => reach(one, furthest, place)));
  const { size, memory } = memoryOf(parts[0], place);
  return made(name === '$size' ? size / element : /^\$strLen/.test(name) ? size : Infinity, 0, memory);
};

const ofRange = ([start, end, step = 1]: readonly unknown[], place: Place): Made => {
  const stride = Math.max(1, Math.abs(Number(step)) || 1);
  const isConstant = typeof start === 'number' && typeof end === 'number';
  // Counting up to the least of several bounds is no longer than counting to any one of them.
  const ends = Number(step) > 0 ? [partsOf(end).$min ?? end].flat() : [end];
  const bounds = isConstant ? [0, end - start] : [start, ...ends];
  const [from = made(0, 0), ...to] = bounds.map((one) => reach(one, maxSteps * stride, place));
  const furthest = to.find(({ size }) => size < Infinity) ?? made(Infinity, 0);
  const steps = (from.size + furthest.size) / stride;
  if (steps === Infinity) {
    throw invalidPipeline(
      `${place.where}: $range may have ${maxSteps} steps, or as many as a list or a text is long, by $size or ` +
        '$strLenCP. Bound what comes from numbers, as in {"$range":[0,{"$min":["$n",1000]}]}.',
    );
  }
  return sum([made(element * steps, scalar * (1 + steps)), ...[from, ...to, memoryOf(step, place)].map(besides)]);
};

/**
 * `$map`, `$filter` or `$reduce`: what each iteration makes in addition to its element, and what all make of the
 * elements together.
 */
const ofLoop = (name: string, parts: JsonObject, place: Place): Made => {
  if (place.depth === maxLoops) {
    throw invalidPipeline(
      `${place.where}: loops ($map, $filter, $reduce) may be used ${maxLoops} deep. Use $unwind, or a stage for each.`,
    );
  }
  const list = memoryOf(parts.input, place);
  const turns = Array.isArray(parts.input) ? parts.input.length : list.size / element;
  const fields = name === '$reduce' && isObject(parts.in) ? Object.values(parts.in) : undefined;
  /**
   * What an iteration makes of a value of this size, and each field of it: double if a field receives the whole
   * value.
   */
  const turn = (bytes: number, value: number): readonly Made[] => {
    const one = [String(parts.as ?? 'this'), [bytes, bytes]] as const;
    const given = [String(parts.valueAs ?? 'value'), [fields ? 2 * value : value, value]] as const;
    const within = inside({ ...place, depth: place.depth + 1 }, name === '$reduce' ? [one, given] : [one]);
    return (fields ?? [parts.in ?? parts.cond]).map((each) => memoryOf(each, within));
  };
  const looped = sum([
    ...[inTurns(sum(turn(0, 0)), turns), ...turn(list.size, 0), memoryOf(parts.initialValue, place)],
    ...[list, memoryOf(parts.limit, place)].map(besides),
  ]);
  if (name !== '$reduce') return looped;
  const grown = turn(list.size, huge);
  if (grown.some(({ size }) => size > 1.5 * huge)) {
    throw invalidPipeline(
      `${place.where}: $reduce may have $$value, or each field of it, once, and not inside another loop, because it would grow ` +
        'with every step. Operators that only read it, such as $size, may use it more often.',
    );
  }
  return sum([looped, made(0, (sum(grown).memory / huge) * looped.size)]);
};

const ofOperator = (name: string, operand: unknown, place: Place): Made => {
  const parts = partsOf(operand);
  if (name === '$let') return ofLet(parts, place);
  if (name === '$map' || name === '$filter' || name === '$reduce') return ofLoop(name, parts, place);
  if (name === '$range') return ofRange(operandsOf(operand), place);
  if (name === '$literal') return memoryOf(operand, place);
  // Only the number of a date counts.
  const said = name === '$dateToString' ? { ...parts, date: { $toLong: parts.date } } : operand;
  const operands = name === '$switch' ? operandsOf(said).flat() : operandsOf(said);
  const given = operands.map((one) => memoryOf(one, place));
  const all = sum(given);
  const rule = ruleOf(name);
  if (rule === 'looks') return made(element, scalar, all.memory);
  const most = Math.max(0, ...given.map(({ size }) => size));
  if (rule === 'picks') return { ...all, size: most };
  const copies = most * (1 + all.size - most);
  if (rule === 'multiplies') return made(copies, all.held + copies, all.memory + copies);
  const isSpread = rule > 12;
  // Lists and objects written as literals share their parts; only the containers are copied.
  const copied = sum(given.filter((_, at) => isSpread || !(Array.isArray(operands[at]) || isObject(operands[at]))));
  const columns = parts.useLongestLength ? operandsOf(parts.inputs).length : 1;
  const held = scalar + copied.size * rule * columns;
  return made(all.size * (isSpread ? 8 : 1) * columns, all.held + held, all.memory + held);
};

/**
 * An upper bound for what an expression makes of a document of a given size, from how often it copies its inputs
 * (contract 2, "Aggregation"). What an iteration uses is freed after it; the results remain. Throws 400
 * `INVALID_PIPELINE` for a pipeline that takes too long to bound.
 */
export const memoryOf = (value: unknown, place: Place): Made => {
  place.work.looked += 1;
  if (place.work.looked > maxLooked) {
    throw invalidPipeline(
      `${place.where}: the pipeline has too many values in its expressions. Use fewer values and fewer loops.`,
    );
  }
  if (typeof value === 'string') return ofText(value, place);
  if (isJsonObject(value) && !isObject(value)) {
    return sum(Object.entries(value).map(([key, inner]) => ofOperator(key, inner, place)));
  }
  if (!Array.isArray(value) && !isJsonObject(value)) return made(element, scalar);
  const parts = operandsOf(value);
  const held = Array.isArray(value) ? 48 + 16 * parts.length : 256 + 64 * parts.length;
  return sum([made(scalar * (1 + parts.length), held), ...parts.map((one) => memoryOf(one, place))]);
};
