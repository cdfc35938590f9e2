import type { Collection } from '../../collections/collection.ts';
import { cutText } from '../../core/bounded-text.ts';
import { AppError } from '../../core/errors.ts';
import type { JsonObject } from '../document.ts';
import { isJsonObject } from '../write/schema-values.ts';

/** One stage of an aggregation: an object with exactly one key, the stage's name. */
export type Stage = JsonObject;
/** The stages of an aggregation, in order. */
export type Pipeline = readonly Stage[];

/** `{ $match: { a: 1 } }` → `['$match', { a: 1 }]` */
export const stageParts = (stage: Stage): readonly [name: string, operand: unknown] =>
  Object.entries(stage)[0] ?? ['', undefined];

/**
 * A stage with every pipeline inside it changed: the parts of a `$facet`, or that of a join. `at`: the stage's place,
 * as `pipeline[2].$facet`; each has its own.
 */
export const withPipelines = (stage: Stage, at: string, change: (inner: Pipeline, at: string) => Stage[]): Stage => {
  const [name, operand] = stageParts(stage);
  if (!isJsonObject(operand)) return stage;
  const inner =
    name === '$facet' ? Object.entries(operand) : Object.entries(operand).filter(([key]) => key === 'pipeline');
  if (name !== '$facet' && name !== '$lookup' && name !== '$unionWith') return stage;
  const changed = inner.map(([key, stages]) => [key, change(stages as Pipeline, `${at}.${cutText(key, 40)}`)] as const);
  return changed.length === 0 ? stage : { [name]: { ...operand, ...Object.fromEntries(changed) } };
};

/** A pipeline that cannot be run as it was sent (400). */
export const invalidPipeline = (message: string, cause?: unknown): AppError =>
  new AppError('INVALID_PIPELINE', message, { cause });

/** A collection that documents are read from; `visibilityFilter` is there where the caller may not read all of them. */
export interface Source {
  readonly collection: Collection;
  readonly visibilityFilter: JsonObject | undefined;
}

/** What a pipeline reads: the collection it runs on, and those it joins by name. */
export interface Sources {
  readonly main: Source;
  readonly joined: ReadonlyMap<string, Source>;
  readonly includeDeleted: boolean;
}

/** Both conditions, ours first. */
export const both = (ours: JsonObject | undefined, theirs: JsonObject): JsonObject => {
  if (!ours) return theirs;
  return Object.keys(theirs).length === 0 ? ours : { $and: [ours, theirs] };
};
