import { searchesText } from '../read/revealing-condition.ts';
import { maxDocumentBytes } from '../write/document-size.ts';
import { isJsonObject } from '../write/schema-values.ts';
import { element, inTurns, isObject, type Made, memoryOf, object, sum, type Work } from './expression-memory.ts';
import { memoryGuard } from './memory-guard.ts';
import { invalidPipeline, type Pipeline, type Stage, stageParts, withPipelines } from './pipeline.ts';

const mebibyte = 1024 * 1024;
/** What a stage may make of one document, and how large that may be worked out to be before it is measured. */
const maxMade = 128 * mebibyte;
const maxGiven = 200 * mebibyte;
/** What may be allowed to documents that are measured; in memory they may be 16 times as large. */
const limits = Array.from({ length: 13 }, (_, step) => (8 * mebibyte) / 2 ** step);
const joined = 64 * mebibyte;
const gathering = /^\$(group|bucket|bucketAuto|facet|fill|setWindowFields|unionWith)$/;

/** An expression of a stage, and the path of what it is for. */
type Computed = readonly [path: string, value: unknown];

const fieldsOf = (spec: object, path = ''): readonly Computed[] =>
  Object.entries(spec).flatMap(([key, value]): readonly Computed[] =>
    isObject(value) ? fieldsOf(value, `${path}${key}.`) : [[path + key, value]],
  );

/** The expressions of a stage; pipelines inside are bounded by themselves. */
const expressionsOf = (name: string, operand: unknown): readonly Computed[] => {
  if (!isObject(operand)) return [['', operand]];
  if (name === '$project') return fieldsOf(operand).filter(([, value]) => /^(string|object)$/.test(typeof value));
  if (name === '$addFields' || name === '$set') return fieldsOf(operand);
  if (name === '$facet' || name === '$unionWith') return [];
  const entries = Object.entries(operand).filter(([key]) => name !== '$lookup' || key !== 'pipeline');
  return entries.map(([key, value]) => [key.split('.')[0] ?? '', value]);
};

interface Bounding extends Work {
  /** Whether documents are measured that may be too large. */
  readonly isGuarded: boolean;
}

const boundStages = (pipeline: Pipeline, at: string, start: number, around: readonly string[], work: Bounding) => {
  const known = new Set(['ROOT', 'CURRENT', ...around]);
  let size = start;
  return pipeline.flatMap((stage, position): Stage[] => {
    const [name, operand] = stageParts(stage);
    const where = `${at}[${position}].${name}`;
    const computed = expressionsOf(name, operand);
    const each = (bytes: number, notLists?: Set<string>): readonly Made[] => {
      const sizeOf = (variable: string) => (known.has(variable) ? ([bytes, bytes] as const) : undefined);
      return computed.map(([path, value]) => {
        const parents = path.includes('.') ? path.split('.').slice(0, -1) : [];
        const one = memoryOf(value, { where, sizeOf, depth: Math.min(1, parents.length), notLists, work });
        if (parents.length === 0 || notLists?.add(parents.join('.'))) return one;
        // A field inside a list is worked out for each of its elements.
        return inTurns(sum([one, ...parents.map(() => object)]), bytes / element);
      });
    };
    const largest = (notLists?: Set<string>): number =>
      limits.find((limit) => sum(each(limit, notLists)).memory <= maxMade) ?? 0;
    const guards: Stage[] = [];
    let made = sum(each(size));
    if (made.memory > maxMade || size > maxGiven) {
      const memories = each(Number(limits.at(-1))).map(({ memory }) => memory);
      const [field] = computed[memories.indexOf(Math.max(...memories))] ?? [];
      const notLists = new Set<string>();
      const limit = { bytes: largest(), withoutLists: largest(notLists), notLists, variables: around };
      const mustBeFirst = position === 0 && (name === '$geoNear' || searchesText(operand));
      if (limit.bytes === 0 || (mustBeFirst && work.isGuarded)) {
        throw invalidPipeline(
          `${where} could take more than ${maxMade / mebibyte} MiB of memory for one document, however small it is: ` +
            `${field ? `"${field}"` : 'it'} makes too many copies. Use fewer operands and loops.`,
        );
      }
      size = limit.withoutLists;
      made = sum(each(size));
      if (work.isGuarded) guards.push(memoryGuard(limit, where, field));
    }
    const parts = isJsonObject(operand) ? operand : {};
    const within = name === '$lookup' ? [...around, ...Object.keys(parts.let ?? {})] : around;
    const first = name === '$facet' ? size : maxDocumentBytes + (within.length > 0 ? size : 0);
    const bounded = withPipelines(stage, where, (inner, path) => boundStages(inner, path, first, within, work));
    const { $unwind } = pipeline[position + 1] ?? {};
    const isUnwound = `$${String(parts.as)}` === (isJsonObject($unwind) ? $unwind.path : $unwind);
    if (gathering.test(name)) size = maxMade;
    else if (name === '$lookup' || name === '$graphLookup') size += isUnwound ? maxDocumentBytes : joined;
    else size += Math.max(made.size, made.held);
    return [...guards, bounded];
  });
};

/**
 * A checked pipeline with what keeps it from taking more than some 100 MB of memory a stage, whatever it combines:
 * documents that are too large for what a stage makes of them end it with 400 `RESULT_TOO_LARGE`, where it `isGuarded`.
 * One that would take more for every document, however small, → 400 `INVALID_PIPELINE` (contract 2, "Aggregation").
 */
export const boundPipeline = (pipeline: Pipeline, isGuarded = true): Stage[] =>
  boundStages(pipeline, 'pipeline', maxDocumentBytes, [], { isGuarded, looked: 0 });
