import { entriesIn } from '../entries-in.ts';
import { searchesText } from '../read/revealing-condition.ts';
import { isJsonObject } from '../write/schema-values.ts';
import { element, inTurns, isObject, type Made, memoryOf, sum, withSizes } from './expression-memory.ts';
import { memoryGuard } from './memory-guard.ts';
import { invalidPipeline, type Pipeline, type Stage, stageParts, withPipelines } from './pipeline.ts';

const mebibyte = 1024 * 1024;
/** What a stage may make of one document, and all stages together of the smallest. */
const maxMade = 128 * mebibyte;
/** MongoDB stores no document over 16 MiB. On their way they may be larger by what joins and groups put into them. */
const limits = Array.from({ length: 25 }, (_, step) => Math.floor((16 * mebibyte) / 2 ** (step / 2)));
const smallest = 4 * 1024;
const maxOnTheWay = 200 * mebibyte;
const joined = 64 * mebibyte;
const gathered = 128 * mebibyte;

const gathering = /^\$(group|bucket|bucketAuto|facet|fill|setWindowFields|unionWith)$/;
const joining = /^\$(lookup|graphLookup)$/;
const readingOthers = /^\$(lookup|graphLookup|unionWith)$/;
/** Stages that look at no more of a document than they need. */
const passing = /^\$(match|geoNear|unset|limit|skip|count|unwind|sample|search|vectorSearch)$/;
/** An expression of a stage, and the path of what it is for. */
type Computed = readonly [path: string, value: unknown];

const fieldsOf = (spec: object, path = ''): readonly Computed[] =>
  Object.entries(spec).flatMap(([key, value]): readonly Computed[] => {
    if (typeof value === 'number' || typeof value === 'boolean') return [];
    return isObject(value) ? fieldsOf(value, `${path}${key}.`) : [[path + key, value]];
  });

/** The expressions of a stage; conditions have them in `$expr` only, and pipelines inside are bounded by themselves. */
const expressionsOf = (name: string, operand: unknown): readonly Computed[] => {
  const inConditions = (value: unknown) => [...entriesIn(value)].filter(([key]) => key === '$expr');
  if (name === '$facet') return [];
  if (name === '$match' || name === '$geoNear') return inConditions(operand);
  if (!isObject(operand)) return [['', operand]];
  if (/^\$(project|addFields|set)$/.test(name)) return fieldsOf(operand);
  const { pipeline, restrictSearchWithMatch, ...rest } = operand;
  return [...inConditions(restrictSearchWithMatch), ...Object.entries(readingOthers.test(name) ? rest : operand)];
};

interface Bound {
  /** Bytes of a stored document. */
  readonly stored: number;
  /** Large documents are stopped, too. */
  readonly isGuarded: boolean;
  /** What all stages make of the smallest. */
  made: number;
}

/** `start`: bytes that documents have at first, together with `variables` around them. */
const boundStages = (
  pipeline: Pipeline,
  at: string,
  start: number,
  variables: readonly string[],
  bound: Bound,
): Stage[] => {
  let size = start;
  return pipeline.flatMap((stage, position): Stage[] => {
    const [name, operand] = stageParts(stage);
    const where = `${at}[${position}].${name}`;
    const computed = expressionsOf(name, operand);
    const notLists = computed.flatMap(([path]) => (path.includes('.') ? [`$${path.replace(/\.[^.]*$/, '')}`] : []));
    const each = (bytes: number, inLists = true): readonly Made[] => {
      const ofAll = (size: number) =>
        withSizes(
          [],
          ['ROOT', 'CURRENT', ...variables].map((name) => [name, size]),
        );
      const whole = ofAll(bytes);
      // A field inside another is worked out for each element of that if it is a list, and they share the document.
      const inside = inLists && notLists.length > 0 ? ofAll(bytes / 2) : whole;
      return computed.map(([path, value]) => {
        if (!path.includes('.')) return memoryOf(value, { where, sizes: whole, depth: 0 });
        const one = memoryOf({ value }, { where, sizes: inside, depth: 1 });
        return inLists ? inTurns(one, bytes / element) : one;
      });
    };
    let made = sum(each(size));
    // What is less does not matter in all the stages that there may be.
    if (made.memory > maxMade / 100) bound.made += sum(each(smallest)).memory;
    const guards: Stage[] = [];
    if (made.memory > maxMade || bound.made > maxMade || (size > maxOnTheWay && !passing.test(name))) {
      const memories = each(smallest).map(({ memory }) => memory);
      const [field = ''] = computed[made.memory > maxMade ? memories.indexOf(Math.max(...memories)) : -1] ?? [];
      const mustBeFirst = position === 0 && (name === '$geoNear' || searchesText(operand));
      if (bound.made > maxMade || (mustBeFirst && bound.isGuarded)) {
        throw invalidPipeline(
          `${where} could take more than ${maxMade / mebibyte} MiB of memory for one document, however small it is: ` +
            `${field === '' ? 'it' : `"${field}"`} makes too many copies. Use fewer operands and loops.`,
        );
      }
      const largest = (inLists: boolean): number =>
        limits.find((limit) => sum(each(limit, inLists)).memory <= maxMade) ?? smallest;
      const bytes = largest(true);
      size = notLists.length > 0 ? largest(false) : bytes;
      made = sum(each(size));
      if (bound.isGuarded) guards.push(memoryGuard({ bytes, withoutLists: size, notLists, variables }, where, field));
    }
    const parts = isJsonObject(operand) ? operand : {};
    const around = name === '$lookup' ? [...variables, ...Object.keys(parts.let ?? {})] : variables;
    const first = name === '$facet' ? size : bound.stored + (around.length > 0 ? size : 0);
    const bounded = withPipelines(stage, where, (inner, path) => boundStages(inner, path, first, around, bound));
    const { $unwind } = pipeline[position + 1] ?? {};
    const isUnwound = `$${String(parts.as)}` === (isJsonObject($unwind) ? $unwind.path : $unwind);
    if (gathering.test(name)) size = gathered;
    else if (joining.test(name)) size += isUnwound ? bound.stored : joined;
    else size += made.size;
    return [...guards, bounded];
  });
};

/**
 * A checked pipeline with what keeps it from taking more than some 100 MB of memory a stage, whatever it combines:
 * documents that are too large for what a stage makes of them end it with 400 `RESULT_TOO_LARGE`. One that would take
 * more for every document, however small, → 400 `INVALID_PIPELINE` (contract 2, "Aggregation"). `stored`: bytes of a
 * stored document; `isGuarded`: large documents are stopped, too.
 */
export const boundPipeline = (pipeline: Pipeline, stored: number, isGuarded = true): Stage[] =>
  boundStages(pipeline, 'pipeline', stored, [], { stored, isGuarded, made: 0 });
