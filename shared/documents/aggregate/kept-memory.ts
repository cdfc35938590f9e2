import { isJsonObject } from '../write/schema-values.ts';
import { invalidPipeline, type Stage, stageParts } from './pipeline.ts';

const severally = 'Make several requests of it';
/** How many stages of each kind may keep 100 MB for as long as a pipeline runs, and what to say of more. */
const limits = {
  /** Joins, and what `$facet` runs side by side. */
  keeping: [
    10,
    `A pipeline may have at most 10 $lookup and $graphLookup stages, with those stages inside $facet that group or sort. ${severally}.`,
  ],
  inFacets: [5, `at most 5 stages inside $facet may group or sort, since they do so at the same time. ${severally}.`],
  /** Each of these soon has its 100 MB; one that counts by key hardly ever has. */
  gathering: [
    2,
    `at most 2 stages inside $facet may gather documents, by $push, a $sort without a $limit behind it, $setWindowFields and the like, since each may keep 100 MB. ${severally}, or count and sum.`,
  ],
} as const;

/** Stages of each kind in a pipeline so far. */
export type Kept = Record<keyof typeof limits, number>;

const inFacets = /^\$(group|bucket|bucketAuto|sortByCount|sort|setWindowFields|densify|fill)$/;
/** Accumulators whose result is no larger than one of the values that they are given. */
const settled = /^\$(sum|avg|min|max|first|last|count|stdDevPop|stdDevSamp|top|bottom)$/;

const gathers = (stage: Stage, next: unknown): boolean => {
  const [name, operand] = stageParts(stage);
  if (name === '$sort') return !(isJsonObject(next) && Object.hasOwn(next, '$limit'));
  if (!/^\$(group|bucket|bucketAuto)$/.test(name) || !isJsonObject(operand)) return name !== '$sortByCount';
  const { _id, ...outputs } = name === '$group' ? operand : isJsonObject(operand.output) ? operand.output : {};
  return !Object.values(outputs).every(
    (one) => isJsonObject(one) && Object.keys(one).every((key) => settled.test(key)),
  );
};

const count = (kept: Kept, kind: keyof Kept, at = ''): void => {
  kept[kind] += 1;
  const [most, rule] = limits[kind];
  if (kept[kind] > most) throw invalidPipeline(`${at}${rule}`);
};

/** Counts a join; too many → 400 `INVALID_PIPELINE`. */
export const countJoin = (kept: Kept): void => count(kept, 'keeping');

/** Counts the stages of one part of a `$facet`, of which all run at the same time. */
export const countInFacet = (kept: Kept, stages: readonly unknown[], at: string): void => {
  for (const [position, stage] of stages.entries()) {
    if (!isJsonObject(stage) || !inFacets.test(stageParts(stage)[0])) continue;
    count(kept, 'keeping');
    count(kept, 'inFacets', `${at}: `);
    if (gathers(stage, stages[position + 1])) count(kept, 'gathering', `${at}: `);
  }
};
