import type { JsonObject } from '../document.ts';
import { searchesText } from '../read/revealing-condition.ts';
import { isJsonObject } from '../write/schema-values.ts';
import { type Here, joins, sizeBehind } from './document-flow.ts';
import type { Bounds, Estimate, Scope } from './estimate.ts';
import { Estimator, type Steps } from './estimate-expression.ts';
import { estimateStage } from './estimate-stage.ts';
import { memoryGuard } from './memory-guard.ts';
import { invalidPipeline, type Pipeline, type Stage, stageParts } from './pipeline.ts';

/** What one stage may take for one document, in bytes. */
const maxWork = 128 * 1024 * 1024;

/**
 * What a document and the stage that takes it may have together; a stage that makes next to nothing adds nothing to it.
 */
const maxTogether = 2 * maxWork;
const negligible = 64 * 1024;

/** MongoDB makes no larger one out of a document's parts. */
const maxDocument = 16 * 1024 * 1024;
/** What stages that gather documents may put into one: MongoDB lets each have 100 MB. */
const anyDocument = 512 * 1024 * 1024;
const documentSizes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024].map((part) => maxDocument / part);
const elementCounts = [Infinity, 10_000, 1000, 100, 10];

/** Joins that may put their documents, 100 MB each, into one document before it is measured. */
const maxJoins = 3;
const maxSteps = 100_000;

interface Bounding {
  /** Bytes that a stored document has at most. */
  readonly stored: number;
  /** What does not depend on documents is worked out before the first one comes, and stays until the last one went. */
  constants: number;
  readonly steps: Steps;
}

/** A document on its way through a pipeline: bytes that it has at most where it is, and had before the last stage. */
interface Flow {
  size: number;
  before: number;
  joins: number;
}

interface Found {
  readonly estimate: Estimate;
  readonly estimator: Estimator;
}

/** No guard can stand before such a stage. */
const mustBeFirst = (name: string, operand: unknown): boolean =>
  name === '$geoNear' || (name === '$match' && searchesText(operand));

const tooMuch = (stage: string, operator: string): Error =>
  invalidPipeline(
    `${stage} could take more than ${maxWork / 1024 / 1024} MiB of memory for one document, however small it is: ` +
      `${operator} makes too many copies. Use fewer operands and loops, and bound what comes from numbers, ` +
      'as in {"$range":[0,{"$min":["$n",1000]}]}.',
  );

class PipelineBound {
  readonly #bounding: Bounding;
  readonly #scope: Scope;

  constructor(bounding: Bounding, scope: Scope) {
    this.#bounding = bounding;
    this.#scope = scope;
  }

  /** The bounded stages of a pipeline at a place, whose documents have at most so many bytes. */
  run(stages: Pipeline, at: string, size: number): Stage[] {
    const flow: Flow = { size, before: size, joins: 0 };
    return stages.flatMap((stage, position) => {
      const [name, operand] = stageParts(stage);
      const here = { stage, name, operand, next: stages[position + 1], where: `${at}[${position}].${name}` };
      const guards = this.#guards(here, flow);
      if (guards.length > 0 && position === 0 && mustBeFirst(name, operand)) {
        throw tooMuch(here.where, 'its $expr');
      }
      return [...guards, ...this.#inside(here, flow)];
    });
  }

  #estimate({ name, operand }: Here, bounds: Bounds, scope = this.#scope): Found {
    const estimator = new Estimator(bounds, this.#bounding.steps);
    const estimate = estimateStage(name, operand, estimator, scope);
    if (this.#bounding.steps.left < 0) throw invalidPipeline('The pipeline has too many loops inside loops.');
    return { estimate, estimator };
  }

  /** What must hold of a document for a stage to take it, where that is not sure. Moves the flow behind the stage. */
  #guards(here: Here, flow: Flow): Stage[] {
    const given = Math.min(flow.size, anyDocument);
    const { estimate } = this.#estimate(here, { document: given, elements: Infinity });
    this.#countConstants(here);
    const fits = estimate.work <= negligible || given + estimate.work <= maxTogether;
    if (fits && estimate.work <= maxWork && !(flow.joins >= maxJoins && joins(here))) {
      flow.before = flow.size;
      flow.size = sizeBehind(here, flow.size, estimate.weight, this.#bounding.stored);
      if (joins(here)) flow.joins += 1;
      return [];
    }
    const bounds = this.#fitting(here);
    const behind = bounds.map((bound) => {
      const { weight } = this.#estimate(here, bound).estimate;
      return sizeBehind(here, bound.document, weight, this.#bounding.stored);
    });
    flow.before = Math.max(...bounds.map(({ document }) => document));
    flow.size = Math.max(...behind);
    flow.joins = joins(here) ? 1 : 0;
    const { estimator } = this.#estimate(here, bounds.at(-1) as Bounds);
    return [memoryGuard(bounds, [...estimator.paths], { stage: here.where, operator: estimator.culprit.name })];
  }

  #countConstants(here: Here): void {
    const empty = new Map([...this.#scope.keys()].map((name) => [name, () => 0] as const));
    const { estimate, estimator } = this.#estimate(here, { document: 0, elements: 0 }, empty);
    this.#bounding.constants += estimate.work;
    if (this.#bounding.constants > maxWork) throw tooMuch(here.where, estimator.culprit.name);
  }

  /** The bounds within which a stage takes no more than it may: for the longer the arrays, the smaller the document. */
  #fitting(here: Here): readonly Bounds[] {
    const found: Bounds[] = [];
    for (const elements of elementCounts) {
      const least = found.at(-1)?.document ?? 0;
      const document = documentSizes.find(
        (size) => size <= least || this.#estimate(here, { document: size, elements }).estimate.work <= maxWork,
      );
      if (document !== undefined && document > least) found.push({ document, elements });
      if (document === maxDocument) break;
    }
    if (found.length > 0) return found;
    const smallest = { document: documentSizes.at(-1) ?? 0, elements: elementCounts.at(-1) ?? 0 };
    throw tooMuch(here.where, this.#estimate(here, smallest).estimator.culprit.name);
  }

  /** A stage with the pipelines inside it bounded. */
  #inside(here: Here, flow: Flow): Stage[] {
    const { stage, name, operand, where } = here;
    if (!isJsonObject(operand)) return [stage];
    if (name === '$facet') {
      const facets = Object.entries(operand).map(([key, stages]) => [
        key,
        this.run(stages as Pipeline, `${where}.${key.slice(0, 40)}`, flow.before),
      ]);
      return [{ $facet: Object.fromEntries(facets) }];
    }
    if (operand.pipeline === undefined || (name !== '$lookup' && name !== '$unionWith')) return [stage];
    return this.#join(here, operand, flow);
  }

  #join({ name, where }: Here, join: JsonObject, flow: Flow): Stage[] {
    const variables = name === '$lookup' && isJsonObject(join.let) ? join.let : undefined;
    const whole = Math.min(flow.before, anyDocument);
    const sizes = variables ? [whole, ...documentSizes.filter((size) => size < whole)] : [whole];
    const { constants } = this.#bounding;
    let refusal: unknown;
    for (const size of sizes) {
      this.#bounding.constants = constants;
      const scope = variables ? this.#variables(variables, size) : this.#scope;
      try {
        const inner = new PipelineBound(this.#bounding, scope);
        const stages = inner.run(join.pipeline as Pipeline, `${where}.pipeline`, this.#bounding.stored);
        const guard = memoryGuard([{ document: size, elements: Infinity }], [], { stage: where, operator: 'let' });
        return [...(size < whole ? [guard] : []), { [name]: { ...join, pipeline: stages } }];
      } catch (error) {
        refusal = error;
      }
    }
    throw refusal;
  }

  /** The variables of a join, as large as a document of `size` bytes lets them be. */
  #variables(variables: JsonObject, size: number): Scope {
    const estimator = new Estimator({ document: size, elements: Infinity }, this.#bounding.steps);
    const weights = Object.entries(variables).map(([name, value]) => {
      const { weight } = estimator.of(value, this.#scope);
      return [name, () => weight] as const;
    });
    return new Map([...this.#scope, ...weights]);
  }
}

/**
 * A checked pipeline with what keeps it from taking more than some 100 MB of memory a stage, whatever it combines:
 * documents that are too large for what a stage makes of them end it with 400 `RESULT_TOO_LARGE`. One that would take
 * more for every document, however small → 400 `INVALID_PIPELINE` (contract 2, "Aggregation"). `stored`: bytes of a
 * stored document.
 */
export const boundPipeline = (pipeline: Pipeline, stored: number): Stage[] =>
  new PipelineBound({ stored, constants: 0, steps: { left: maxSteps } }, new Map()).run(pipeline, 'pipeline', stored);
