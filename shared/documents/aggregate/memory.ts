import { AppError } from '../../core/errors.ts';
import { searchesText } from '../query/condition.ts';
import { maxDocumentBytes } from '../store/validate.ts';
import { isJsonObject } from '../values.ts';
import { isObject, type Made, memoryOf, sum, type Work } from './expression-memory.ts';
import { invalidPipeline, type Pipeline, ruleOf, type Stage, stageParts, withPipelines } from './pipeline.ts';

const begin = 'The aggregation was stopped before ';
const end = 'Project fewer fields earlier, $unwind the array, or filter it.';

/**
 * The maximum bytes of the `variables`, of which `ROOT` is the document; more if the paths in `notLists` hold no
 * lists.
 */
interface Limit {
  readonly bytes: number;
  readonly withoutLists: number;
  readonly notLists: Iterable<string>;
  readonly variables: Iterable<string>;
}

/**
 * A stage that ends the aggregation at a document above the limit: MongoDB's error contains the text that it cannot
 * read as a number. `stage` is the next stage, such as `pipeline[2].$set`; `field` is its largest result.
 */
const memoryGuard = ({ bytes, withoutLists, notLists, variables }: Limit, stage: string, field = ''): Stage => {
  const names = [...variables].map((name) => `$$${name}`);
  const size = { $bsonSize: names.length > 1 ? { all: names } : names[0] };
  const what = `${begin}${stage}: it could take too much memory${field && ` for "${field}"`}, with a document of `;
  const text = [what, { $toString: size }, ` bytes. ${end}`];
  const plain = [...notLists].map((path) => ({ $not: [{ $isArray: [`$${path}`] }] }));
  const fits = { $or: [{ $lte: [size, bytes] }, { $and: [{ $lte: [size, withoutLists] }, ...plain] }] };
  return { $match: { $expr: { $cond: [fits, true, { $toInt: { $concat: text } }] } } };
};

/** The error of a memory guard, from MongoDB's error (400 `RESULT_TOO_LARGE`). */
export const guardError = (error: Error): AppError | undefined => {
  const [, text] = error.message.split(begin);
  const to = text?.indexOf(end) ?? -1;
  if (to < 0) return undefined;
  return new AppError('RESULT_TOO_LARGE', `${begin}${text?.slice(0, to)}${end}`, { cause: error });
};

/*
 * What an aggregation may cost (contract 2, "Aggregation"), in rules:
 *
 * - A stage makes at most 128 MiB of one document. What an operator makes is in one table: it looks, picks, multiplies
 *   or takes so many bytes for each byte that it is given. Where a smaller document is needed for that, it is measured.
 * - A loop makes for each element what stands in it, and of an element no more than the elements are together. A field
 *   inside a list is a loop, too. Loops stand two deep.
 * - A `$range` is as long as numbers up to 10 000 steps, or the lengths of lists and texts, say.
 * - A `$reduce` keeps `$$value`, or each field of it, once.
 * - Stages that keep documents at the same time, by joins and inside `$facet`, are counted: at most 10.
 * - Values in expressions are counted, once for each time that bounding them takes: at most 1 000 000.
 */

const mebibyte = 1024 * 1024;
/**
 * The maximum bytes that a stage may make of one document, and up to which size that is bounded without measuring
 * it.
 */
const maxMade = 128 * mebibyte;
const maxGiven = 200 * mebibyte;
/** The sizes allowed for documents that are measured. In memory they may be 16 times as large. */
const limits = Array.from({ length: 13 }, (_, step) => (8 * mebibyte) / 2 ** step);
const joined = 64 * mebibyte;
const gathering = /^\$(group|bucket|bucketAuto|facet|fill|setWindowFields|unionWith)$/;

/** An expression of a stage, and its path. */
type Computed = readonly [value: unknown, path: readonly string[]];

const fieldsOf = (spec: object, around: readonly string[] = []): readonly Computed[] =>
  Object.entries(spec).flatMap(([key, value]): readonly Computed[] => {
    const path = [...around, ...key.split('.')];
    return isObject(value) ? fieldsOf(value, path) : [[value, path]];
  });

/** The expressions of a stage. Inner pipelines are bounded separately. */
const expressionsOf = (name: string, operand: unknown): readonly Computed[] => {
  if (!isObject(operand)) return [[operand, []]];
  if (name === '$project') return fieldsOf(operand).filter(([value]) => /^(string|object)$/.test(typeof value));
  if (name === '$addFields' || name === '$set') return fieldsOf(operand);
  if (name === '$facet' || name === '$unionWith') return [];
  const entries = Object.entries(operand).filter(([key]) => name !== '$lookup' || key !== 'pipeline');
  return entries.map(([key, value]) => [value, [key]]);
};

/** A field inside a list is computed for each element, like a loop over an unnamed variable. */
const forEach = ([value, path]: Computed, notLists: Set<string> | undefined): unknown => {
  const parents = path.slice(0, -1);
  if (parents.length === 0 || notLists?.add(parents.join('.'))) return value;
  return { $map: { input: `$${path[0]}`, as: '', in: parents.reduce((inner) => ({ inner }), value) } };
};

/** The stages of a pipeline for documents of a given size; `variables` are as large. */
const boundStages = (
  pipeline: Pipeline,
  at: string,
  given: number,
  variables: ReadonlySet<string>,
  work: Work,
): Stage[] => {
  let size = given;
  return pipeline.flatMap((stage, position): Stage[] => {
    const [name, operand] = stageParts(stage);
    const where = `${at}[${position}].${name}`;
    const computed = expressionsOf(name, operand);
    const each = (bytes: number, notLists?: Set<string>): readonly Made[] => {
      const sizeOf = (variable: string) => (variables.has(variable) ? ([bytes, bytes] as const) : undefined);
      const place = { where, sizeOf, depth: 0, notLists, work };
      return computed.map((one) => memoryOf(forEach(one, notLists), place));
    };
    const largest = (notLists?: Set<string>): number =>
      limits.find((limit) => sum(each(limit, notLists)).memory <= maxMade) ?? 0;
    const guards: Stage[] = [];
    let made = sum(each(size));
    if (!(made.memory <= maxMade && size <= maxGiven)) {
      const memories = each(size).map(({ memory }) => memory);
      const field = computed[memories.indexOf(Math.max(...memories))]?.[1].join('.');
      const notLists = new Set<string>();
      const limit = { bytes: largest(), withoutLists: largest(notLists), notLists, variables };
      const mustBeFirst = position === 0 && (name === '$geoNear' || searchesText(operand));
      if (limit.bytes === 0 || mustBeFirst) {
        throw invalidPipeline(
          `${where} could take more than ${maxMade / mebibyte} MiB of memory for one document, however small it is: ` +
            `${field ? `"${field}"` : 'it'} makes too many copies. Use fewer operands and loops.`,
        );
      }
      size = limit.withoutLists;
      made = sum(each(size));
      guards.push(memoryGuard(limit, where, field));
    }
    const parts = isJsonObject(operand) ? operand : {};
    const within = name === '$lookup' ? new Set([...variables, ...Object.keys(parts.let ?? {})]) : variables;
    const bounded = withPipelines(stage, where, (inner, path) => boundStages(inner, path, size, within, work));
    const { $unwind } = pipeline[position + 1] ?? {};
    const isUnwound = `$${String(parts.as)}` === (isJsonObject($unwind) ? $unwind.path : $unwind);
    if (gathering.test(name)) size = maxMade;
    else if (name === '$lookup' || name === '$graphLookup') size += isUnwound ? maxDocumentBytes : joined;
    else size += Math.max(made.size, made.held);
    return [...guards, bounded];
  });
};

/**
 * Adds guards to a checked pipeline that keep each stage below about 100 MB of memory, whatever it combines. If
 * `isGuarded`, documents that are too large end it with 400 `RESULT_TOO_LARGE`. Throws 400 `INVALID_PIPELINE` if it
 * breaks a rule or is too large for every document.
 */
export const boundPipeline = (pipeline: Pipeline, isGuarded = true): Stage[] => {
  const bounded = boundStages(pipeline, 'pipeline', maxDocumentBytes, new Set(['ROOT']), { looked: 0 });
  return isGuarded ? bounded : [...pipeline];
};

/** The maximum number of stages of each kind, because each may hold 100 MB at the same time. */
const keptLimits = {
  keeping: [10, 'may join, by $lookup or $graphLookup, or group or sort inside $facet'],
  inFacets: [5, 'inside $facet may group or sort'],
  gathering: [2, 'inside $facet may gather documents ($push, a $sort without a $limit behind it, $setWindowFields …)'],
} as const;

/** The stages of each kind in a pipeline so far. */
export type Kept = Record<keyof typeof keptLimits, number>;

const inFacets = /^\$(group|bucket|bucketAuto|sortByCount|sort|setWindowFields|densify|fill)$/;

/** Such a stage soon holds 100 MB. One that counts by key, or picks one value per key, hardly ever does. */
const gathers = (stage: Stage, next: unknown): boolean => {
  const [name, operand] = stageParts(stage);
  if (name === '$sort') return !(isJsonObject(next) && Object.hasOwn(next, '$limit'));
  if (!/^\$(group|bucket|bucketAuto)$/.test(name) || !isJsonObject(operand)) return name !== '$sortByCount';
  const { _id, ...outputs } = name === '$group' ? operand : isJsonObject(operand.output) ? operand.output : {};
  return Object.values(outputs).some((one) => Object.keys(one ?? {}).some((key) => typeof ruleOf(key) === 'number'));
};

/** Counts a stage. Throws 400 `INVALID_PIPELINE` if there are too many. */
export const countKept = (kept: Kept, kind: keyof Kept, at: string): void => {
  kept[kind] += 1;
  const [most, what] = keptLimits[kind];
  if (kept[kind] <= most) return;
  throw invalidPipeline(`${at}: at most ${most} stages ${what}. Split it into several requests, or count and sum.`);
};

/** Counts the stages of one part of a `$facet`, whose parts run at the same time. */
export const countInFacet = (kept: Kept, stages: readonly unknown[], at: string): void => {
  for (const [position, stage] of stages.entries()) {
    if (!isJsonObject(stage) || !inFacets.test(stageParts(stage)[0])) continue;
    countKept(kept, 'keeping', at);
    countKept(kept, 'inFacets', at);
    if (gathers(stage, stages[position + 1])) countKept(kept, 'gathering', at);
  }
};
