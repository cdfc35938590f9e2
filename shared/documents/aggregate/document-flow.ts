import { isJsonObject } from '../write/schema-values.ts';
import type { Stage } from './pipeline.ts';

/** A stage at its place. */
export interface Here {
  readonly stage: Stage;
  readonly name: string;
  readonly operand: unknown;
  readonly next: Stage | undefined;
  /** `pipeline[2].$set` */
  readonly where: string;
}

/** Accumulators whose result is no larger than one of the values that they are given. */
const settled: ReadonlySet<string> = new Set([
  ...['$sum', '$avg', '$min', '$max', '$first', '$last', '$count', '$stdDevPop', '$stdDevSamp', '$top', '$bottom'],
]);

const isSettled = (output: unknown): boolean =>
  isJsonObject(output) && Object.keys(output).every((accumulator) => settled.has(accumulator));

/** True for a `$group` whose results are no larger than one of the documents each comes from. */
export const groupsSettled = (operand: unknown): boolean =>
  isJsonObject(operand) && Object.entries(operand).every(([key, output]) => key === '_id' || isSettled(output));

const keepsFields = (operand: unknown): boolean =>
  isJsonObject(operand) &&
  Object.values(operand).some((value) => typeof value === 'number' || typeof value === 'boolean');

/** True where a join's documents go on one by one. */
export const unwinds = ({ name, operand, next }: Here): boolean => {
  if (name !== '$lookup' || !isJsonObject(operand)) return false;
  const path = isJsonObject(next?.$unwind) ? next.$unwind.path : next?.$unwind;
  return path === `$${String(operand.as)}`;
};

/** True where a stage puts documents of a collection into one. */
export const joins = (here: Here): boolean =>
  here.name === '$graphLookup' || (here.name === '$lookup' && !unwinds(here));

/**
 * Bytes that a document may have behind a stage, of what it has before, what the stage makes (`weight`) and what a
 * stored one has; infinite behind stages that gather many.
 */
export const sizeBehind = (here: Here, before: number, weight: number, stored: number): number => {
  const { name, operand } = here;
  switch (name) {
    case '$set':
    case '$addFields':
      return before + weight;
    case '$project':
      return keepsFields(operand) ? before + weight : weight;
    case '$replaceRoot':
    case '$replaceWith':
    case '$sortByCount':
      return weight;
    case '$group':
      return groupsSettled(operand) ? weight : Infinity;
    case '$lookup':
      return unwinds(here) ? before + stored : Infinity;
    case '$unionWith':
      return typeof operand === 'string' ? Math.max(before, stored) : Infinity;
    case '$bucket':
    case '$bucketAuto':
    case '$facet':
    case '$fill':
    case '$graphLookup':
    case '$setWindowFields':
      return Infinity;
    default:
      return before;
  }
};
