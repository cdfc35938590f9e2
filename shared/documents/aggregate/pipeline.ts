import { AppError } from '../../core/errors.ts';
import type { JsonObject } from '../document.ts';

/** One stage of an aggregation: an object with exactly one key, the stage's name. */
export type Stage = JsonObject;
/** The stages of an aggregation, in order. */
export type Pipeline = readonly Stage[];

/** `{ $match: { a: 1 } }` → `['$match', { a: 1 }]` */
export const stageParts = (stage: Stage): readonly [name: string, operand: unknown] =>
  Object.entries(stage)[0] ?? ['', undefined];

/** A pipeline that cannot be run as it was sent (400). */
export const invalidPipeline = (message: string, cause?: unknown): AppError =>
  new AppError('INVALID_PIPELINE', message, { cause });
