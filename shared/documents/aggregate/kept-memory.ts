import { isJsonObject } from '../write/schema-values.ts';
import { ruleOf } from './operators.ts';
import { invalidPipeline, type Stage, stageParts } from './pipeline.ts';

/** How many stages of each kind there may be, since all may keep 100 MB at the same time. */
const limits = {
  keeping: [10, 'may join, by $lookup or $graphLookup, or group or sort inside $facet'],
  inFacets: [5, 'inside $facet may group or sort'],
  gathering: [2, 'inside $facet may gather documents ($push, a $sort without a $limit behind it, $setWindowFields …)'],
} as const;

/** Stages of each kind in a pipeline so far. */
export type Kept = Record<keyof typeof limits, number>;

const inFacets = /^\$(group|bucket|bucketAuto|sortByCount|sort|setWindowFields|densify|fill)$/;

/** Such a stage soon has its 100 MB; one that counts by key, or picks one value for each, hardly ever has. */
const gathers = (stage: Stage, next: unknown): boolean => {
  const [name, operand] = stageParts(stage);
  if (name === '$sort') return !(isJsonObject(next) && Object.hasOwn(next, '$limit'));
  if (!/^\$(group|bucket|bucketAuto)$/.test(name) || !isJsonObject(operand)) return name !== '$sortByCount';
  const { _id, ...outputs } = name === '$group' ? operand : isJsonObject(operand.output) ? operand.output : {};
  return Object.values(outputs).some((one) => Object.keys(one ?? {}).some((key) => typeof ruleOf(key) === 'number'));
};

/** Counts a stage; too many → 400 `INVALID_PIPELINE`. */
export const countKept = (kept: Kept, kind: keyof Kept, at: string): void => {
  kept[kind] += 1;
  const [most, what] = limits[kind];
  if (kept[kind] <= most) return;
  throw invalidPipeline(`${at}: at most ${most} stages ${what}. Make several requests of it, or count and sum.`);
};

/** Counts the stages of one part of a `$facet`, of which all run at the same time. */
export const countInFacet = (kept: Kept, stages: readonly unknown[], at: string): void => {
  for (const [position, stage] of stages.entries()) {
    if (!isJsonObject(stage) || !inFacets.test(stageParts(stage)[0])) continue;
    countKept(kept, 'keeping', at);
    countKept(kept, 'inFacets', at);
    if (gathers(stage, stages[position + 1])) countKept(kept, 'gathering', at);
  }
};
