import { isJsonObject } from '../write/schema-values.ts';
import { invalidPipeline, type Stage, stageParts } from './pipeline.ts';

/** Stages of a pipeline that keep what they are given for as long as it runs. */
export interface Kept {
  keeping: number;
  inFacets: number;
  gathering: number;
}

/** Each may keep 100 MB in the database while the pipeline runs: joins, and what `$facet` runs side by side. */
const maxKeeping = 10;
const keepingInFacets: ReadonlySet<string> = new Set([
  ...['$group', '$bucket', '$bucketAuto', '$sortByCount', '$sort', '$setWindowFields', '$densify', '$fill'],
]);

/** Of those inside `$facet` that gather documents, each soon has its 100 MB; one that counts by key hardly ever has. */
const maxGathering = 2;
const maxInFacets = 5;

/** Accumulators whose result is no larger than one of the values that they are given. */
const settled: ReadonlySet<string> = new Set([
  ...['$sum', '$avg', '$min', '$max', '$first', '$last', '$count', '$stdDevPop', '$stdDevSamp', '$top', '$bottom'],
]);

const groupsSettled = (outputs: unknown): boolean =>
  isJsonObject(outputs) &&
  Object.entries(outputs).every(
    ([key, output]) =>
      key === '_id' || (isJsonObject(output) && Object.keys(output).every((name) => settled.has(name))),
  );

const gathers = (stage: Stage, next: unknown): boolean => {
  const [name, operand] = stageParts(stage);
  const outputs = isJsonObject(operand) && isJsonObject(operand.output) ? operand.output : {};
  switch (name) {
    case '$group':
      return !groupsSettled(operand);
    case '$bucket':
    case '$bucketAuto':
      return !groupsSettled(outputs);
    case '$sort':
      return !(isJsonObject(next) && Object.hasOwn(next, '$limit'));
    default:
      return name !== '$sortByCount';
  }
};

/** Counts a stage that may keep 100 MB; too many of them → 400 `INVALID_PIPELINE`. */
export const countKeeping = (kept: Kept): void => {
  kept.keeping += 1;
  if (kept.keeping > maxKeeping) {
    throw invalidPipeline(
      `A pipeline may have at most ${maxKeeping} $lookup and $graphLookup stages, with those stages inside $facet that group or sort. Make several requests of it.`,
    );
  }
};

const countOne = (kept: Kept, at: string, isGathering: boolean): void => {
  countKeeping(kept);
  kept.inFacets += 1;
  kept.gathering += isGathering ? 1 : 0;
  if (kept.inFacets > maxInFacets) {
    throw invalidPipeline(
      `${at}: at most ${maxInFacets} stages inside $facet may group or sort, since they do so at the same time. Make several requests of it.`,
    );
  }
  if (kept.gathering > maxGathering) {
    throw invalidPipeline(
      `${at}: at most ${maxGathering} stages inside $facet may gather documents, by $push, a $sort without a $limit behind it, $setWindowFields and the like, since each may keep 100 MB. Make several requests of it, or count and sum.`,
    );
  }
};

/** Counts the stages of one part of a `$facet`, of which all run at the same time. */
export const countInFacet = (kept: Kept, stages: readonly unknown[], at: string): void => {
  for (const [position, stage] of stages.entries()) {
    if (!isJsonObject(stage) || !keepingInFacets.has(stageParts(stage)[0])) continue;
    countOne(kept, at, gathers(stage, stages[position + 1]));
  }
};
