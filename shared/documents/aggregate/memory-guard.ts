import { AppError } from '../../core/errors.ts';
import type { Bounds } from './estimate.ts';
import type { Stage } from './pipeline.ts';

const begin = 'The aggregation was stopped before ';
const end = 'Project fewer fields earlier, $unwind the array, or filter it.';

/** A stage and the operator of it that takes most. */
export interface Taker {
  /** `pipeline[2].$set` */
  readonly stage: string;
  readonly operator: string;
}

/** An object that is larger is not taken apart to count its fields, which would itself take memory. */
const largestCounted = 512 * 1024;

/** Elements of an array or fields of an object. */
const lengthOf = (path: string) => {
  const fields = {
    $cond: [{ $lte: [{ $bsonSize: path }, largestCounted] }, { $size: { $objectToArray: path } }, 1e15],
  };
  const ofObject = { $cond: [{ $eq: [{ $type: path }, 'object'] }, fields, 0] };
  return { $cond: [{ $isArray: path }, { $size: path }, ofObject] };
};

const fits = ({ document, elements }: Bounds, paths: readonly string[]) => ({
  $and: [
    { $lte: [{ $bsonSize: '$$ROOT' }, document] },
    ...(elements === Infinity ? [] : paths.map((path) => ({ $lte: [lengthOf(path), elements] }))),
  ],
});

/**
 * A stage that lets documents through which are within one of the bounds, `elements` holding for the arrays at `paths`,
 * and ends the aggregation at any other: MongoDB puts the text that it cannot read as a number into its error.
 */
export const memoryGuard = (bounds: readonly Bounds[], paths: readonly string[], { stage, operator }: Taker): Stage => {
  const what = operator === '' ? 'it may get' : `what ${operator} may make`;
  const size = { $toString: { $bsonSize: '$$ROOT' } };
  const text = {
    $concat: [`${begin}${stage}: ${what} of a document of `, size, ` bytes takes too much memory. ${end}`],
  };
  return { $match: { $expr: { $cond: [{ $or: bounds.map((of) => fits(of, paths)) }, true, { $toInt: text }] } } };
};

/** The refusal that a guard has put into MongoDB's error (400 `RESULT_TOO_LARGE`), if it was one. */
export const guardRefusal = (error: Error): AppError | undefined => {
  const from = error.message.indexOf(begin);
  const to = error.message.indexOf(end);
  if (from < 0 || to < from) return undefined;
  return new AppError('RESULT_TOO_LARGE', error.message.slice(from, to + end.length), { cause: error });
};
