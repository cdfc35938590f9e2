import { AppError } from '../../core/errors.ts';
import type { Stage } from './pipeline.ts';

const begin = 'The aggregation was stopped before ';
const end = 'Project fewer fields earlier, $unwind the array, or filter it.';

/** What a stage lets through: documents of so many bytes, or more where `notLists` hold no lists. */
export interface Limit {
  readonly bytes: number;
  readonly withoutLists: number;
  readonly notLists: readonly string[];
}

/**
 * A stage that ends the aggregation at a document beyond the limit: MongoDB puts the text that it cannot read as a
 * number into its error. `stage`: the next one, as `pipeline[2].$set`; `operator`: the one that makes most of it.
 */
export const memoryGuard = ({ bytes, withoutLists, notLists }: Limit, stage: string, operator: string): Stage => {
  const size = { $bsonSize: '$$ROOT' };
  const what = operator === '' ? 'it may get' : `what ${operator} may make`;
  const text = [
    `${begin}${stage}: ${what} of a document of `,
    { $toString: size },
    ` bytes takes too much memory. ${end}`,
  ];
  const plain = [{ $lte: [size, withoutLists] }, ...notLists.map((path) => ({ $not: [{ $isArray: [path] }] }))];
  const fits = { $or: [{ $lte: [size, bytes] }, ...(withoutLists > bytes ? [{ $and: plain }] : [])] };
  return { $match: { $expr: { $cond: [fits, true, { $toInt: { $concat: text } }] } } };
};

/** The refusal that a guard has put into MongoDB's error (400 `RESULT_TOO_LARGE`), if it was one. */
export const guardError = (error: Error): AppError | undefined => {
  const from = error.message.indexOf(begin);
  const to = error.message.indexOf(end);
  if (from < 0 || to < from) return undefined;
  return new AppError('RESULT_TOO_LARGE', error.message.slice(from, to + end.length), { cause: error });
};
