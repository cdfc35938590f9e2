import { AppError } from '../../core/errors.ts';
import type { Stage } from './pipeline.ts';

const begin = 'The aggregation was stopped before ';
const end = 'Project fewer fields earlier, $unwind the array, or filter it.';

/** Bytes that the `variables` may have, of which `ROOT` is the document: more where the paths `notLists` hold none. */
export interface Limit {
  readonly bytes: number;
  readonly withoutLists: number;
  readonly notLists: Iterable<string>;
  readonly variables: Iterable<string>;
}

/**
 * A stage that ends the aggregation at a document beyond the limit: MongoDB puts the text that it cannot read as a
 * number into its error. `stage`: the next one, as `pipeline[2].$set`; `field`: that for which it makes most.
 */
export const memoryGuard = ({ bytes, withoutLists, notLists, variables }: Limit, stage: string, field = ''): Stage => {
  const names = [...variables].map((name) => `$$${name}`);
  const size = { $bsonSize: names.length > 1 ? { all: names } : names[0] };
  const what = `${begin}${stage}: what it may make${field && ` for "${field}"`} of a document of `;
  const text = [what, { $toString: size }, ` bytes takes too much memory. ${end}`];
  const plain = [...notLists].map((path) => ({ $not: [{ $isArray: [`$${path}`] }] }));
  const fits = { $or: [{ $lte: [size, bytes] }, { $and: [{ $lte: [size, withoutLists] }, ...plain] }] };
  return { $match: { $expr: { $cond: [fits, true, { $toInt: { $concat: text } }] } } };
};

/** The refusal that a guard has put into MongoDB's error (400 `RESULT_TOO_LARGE`), if it was one. */
export const guardError = (error: Error): AppError | undefined => {
  const [, text] = error.message.split(begin);
  const to = text?.indexOf(end) ?? -1;
  if (to < 0) return undefined;
  return new AppError('RESULT_TOO_LARGE', `${begin}${text?.slice(0, to)}${end}`, { cause: error });
};
