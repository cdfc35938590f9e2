import { searchesText } from '../read/revealing-condition.ts';
import { isJsonObject } from '../write/schema-values.ts';
import { Growth, smallestDocument } from './growth.ts';
import { memoryGuard } from './memory-guard.ts';
import { invalidPipeline, type Pipeline, type Stage, stageParts } from './pipeline.ts';

const mebibyte = 1024 * 1024;
/** What a stage may make of one document, and all stages together of what needs no document. */
const maxMade = 128 * mebibyte;
/** MongoDB stores no larger document; on their way they may have what joins and groups put into them. */
const maxStored = 16 * mebibyte;
const maxOnTheWay = 200 * mebibyte;
const joined = 64 * mebibyte;
const gathered = 128 * mebibyte;

const gathering: ReadonlySet<string> = new Set([
  ...['$group', '$bucket', '$bucketAuto', '$facet', '$fill', '$setWindowFields'],
]);
const joining: ReadonlySet<string> = new Set(['$lookup', '$graphLookup']);
/** Stages that look at no more of a document than they need. */
const passing: ReadonlySet<string> = new Set([
  ...['$match', '$geoNear', '$unset', '$limit', '$skip', '$count', '$unwind', '$sample', '$search', '$vectorSearch'],
]);

/** True where a join's documents go on one by one. */
const isUnwound = (join: unknown, next: Stage | undefined): boolean => {
  const path = isJsonObject(next?.$unwind) ? next.$unwind.path : next?.$unwind;
  return isJsonObject(join) && path === `$${String(join.as)}`;
};

const computesFields = (name: string): boolean => /^\$(project|addFields|set)$/.test(name);

const conditions = (value: unknown): readonly unknown[] => {
  if (Array.isArray(value)) return value.flatMap(conditions);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => (key === '$expr' ? [inner] : conditions(inner)));
};

/** How often the documents that a stage makes have the one in them that it takes. */
const countStage = (name: string, operand: unknown, growth: Growth): number => {
  if (name === '$match' || name === '$geoNear') return growth.count({ $and: conditions(operand) });
  if (name === '$facet' || name === '$unionWith') return 0;
  if (!isJsonObject(operand)) return growth.count(operand);
  if (name === '$lookup') return growth.count({ $and: Object.values(operand.let ?? {}) });
  if (name === '$graphLookup') {
    return growth.count([operand.startWith, { $and: conditions(operand.restrictSearchWithMatch) }]);
  }
  return computesFields(name) ? growth.countFields(operand) : growth.count(operand);
};

/** The fields on the way to those that a stage computes inside others. */
const insideOthers = (name: string, operand: unknown, path = '$'): readonly string[] => {
  if (!computesFields(name) || !isJsonObject(operand)) return [];
  return Object.entries(operand).flatMap(([key, value]) => {
    const names = key.split('.');
    const ways = names.map((_, at) => path + names.slice(0, at + 1).join('.'));
    const isOutside = !isJsonObject(value) || Object.keys(value).some((inner) => inner.startsWith('$'));
    return isOutside ? ways.slice(0, -1) : [...ways, ...insideOthers(name, value, `${ways.at(-1)}.`)];
  });
};

/** Bytes that a document may have for a stage to make no more of it than it may. */
const mostBytes = ({ linear, squared }: Growth): number => {
  // The list of a loop, at 5 bytes an element, and what is copied for each of them share the document.
  const by = squared / 20;
  return by === 0 ? maxMade / linear : (Math.sqrt(linear * linear + 4 * by * maxMade) - linear) / (2 * by);
};

const tooMuch = (where: string, operator: string): Error =>
  invalidPipeline(
    `${where} could take more than ${maxMade / mebibyte} MiB of memory for one document, however small it is: ` +
      `${operator} makes too many copies. Use fewer operands and loops.`,
  );

/** A pipeline with its guards, bytes that its documents may have, and that the stage allows which allows least. */
interface Bounded {
  readonly stages: Stage[];
  readonly size: number;
  readonly least: number;
}

class PipelineBound {
  readonly #stored: number;
  readonly #isGuarded: boolean;
  #made = 0;

  constructor(stored: number, isGuarded: boolean) {
    this.#stored = stored;
    this.#isGuarded = isGuarded;
  }

  run(pipeline: Pipeline, at: string, start: number, variables: readonly string[]): Bounded {
    let [size, least] = [start, Number.POSITIVE_INFINITY];
    const stages = pipeline.flatMap((stage, position): Stage[] => {
      const [name, operand] = stageParts(stage);
      const where = `${at}[${position}].${name}`;
      const growth = new Growth(where, variables, true);
      const copies = countStage(name, operand, growth);
      const plain = new Growth(where, variables, false);
      countStage(name, operand, plain);
      const inner = this.#inside(stage, where, size, variables);
      const most = Math.min(mostBytes(growth), inner.least);
      this.#made += growth.linear * smallestDocument;
      if (most < smallestDocument || this.#made > maxMade) throw tooMuch(where, growth.culprit.name);
      least = Math.min(least, most);
      const fits = size <= Math.min(most, maxOnTheWay) || (most === Number.POSITIVE_INFINITY && passing.has(name));
      const limit = {
        bytes: Math.floor(Math.min(most, maxStored)),
        withoutLists: Math.floor(Math.min(mostBytes(plain), inner.least, maxStored)),
        notLists: insideOthers(name, operand),
      };
      if (!fits) size = limit.withoutLists;
      const guards = fits || !this.#isGuarded ? [] : [memoryGuard(limit, where, growth.culprit.name)];
      if (guards.length > 0 && position === 0 && (name === '$geoNear' || searchesText(operand))) {
        throw tooMuch(where, 'its $expr');
      }
      if (gathering.has(name)) size = gathered;
      else if (joining.has(name)) size += isUnwound(operand, pipeline[position + 1]) ? this.#stored : joined;
      else size = Math.max(size * (1 + copies), name === '$unionWith' ? Math.max(this.#stored, inner.size) : 0);
      return [...guards, inner.stage];
    });
    return { stages, size, least };
  }

  /** A stage with the pipelines inside it bounded. */
  #inside(stage: Stage, where: string, size: number, variables: readonly string[]) {
    const [name, operand] = stageParts(stage);
    const inner = { stage, size: 0, least: Number.POSITIVE_INFINITY };
    if (!isJsonObject(operand)) return inner;
    if (name === '$facet') {
      const facets = Object.entries(operand).map(([key, stages]) => [
        key,
        this.run(stages as Pipeline, `${where}.${key.slice(0, 40)}`, size, variables).stages,
      ]);
      return { ...inner, stage: { $facet: Object.fromEntries(facets) } };
    }
    if (operand.pipeline === undefined || (name !== '$lookup' && name !== '$unionWith')) return inner;
    const set = [...variables, ...Object.keys(operand.let ?? {})];
    const bounded = this.run(operand.pipeline as Pipeline, `${where}.pipeline`, this.#stored, set);
    const { size: joinedSize, least, stages } = bounded;
    // Its variables are of this document, which may then be no larger than the stages that have them allow.
    return {
      stage: { [name]: { ...operand, pipeline: stages } },
      size: joinedSize,
      least: set.length > 0 ? least : Number.POSITIVE_INFINITY,
    };
  }
}

/**
 * A checked pipeline with what keeps it from taking more than some 100 MB of memory a stage, whatever it combines:
 * documents that are too large for what a stage makes of them end it with 400 `RESULT_TOO_LARGE`. One that would take
 * more for every document, however small, → 400 `INVALID_PIPELINE` (contract 2, "Aggregation"). `stored`: bytes of a
 * stored document; `isGuarded`: large documents are stopped, too.
 */
export const boundPipeline = (pipeline: Pipeline, stored: number, isGuarded = true): Stage[] =>
  new PipelineBound(stored, isGuarded).run(pipeline, 'pipeline', stored, []).stages;
