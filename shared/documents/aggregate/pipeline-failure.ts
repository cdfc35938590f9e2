import { MongoServerError } from 'mongodb';
import { isOutage } from '../../clients/mongo-failure.ts';
import { AppError } from '../../core/errors.ts';
import { entriesIn } from '../entries-in.ts';
import { queryTimeout } from './load-results.ts';
import { guardError } from './memory-guard.ts';
import { invalidPipeline, type Pipeline } from './pipeline.ts';

/** The stage or operator that MongoDB complains about, if the caller wrote it. */
const culprit = (error: MongoServerError, pipeline: Pipeline): string => {
  const written = new Set(entriesIn(pipeline).map(([key]) => key));
  const named = error.message.match(/\$[A-Za-z]+/g) ?? [];
  return named.find((name) => written.has(name)) ?? 'a stage';
};

const needsIndex = (name: string): string =>
  `${name} needs ${name === '$text' ? 'a text' : 'a 2dsphere'} index on the collection. Create it in the dashboard.`;

const outOfMemory = (name: string): string =>
  `The pipeline was stopped at ${name}: it needs more than 100 MB of memory. Filter or project earlier.`;

const badPattern = (name: string): string =>
  `The pipeline was refused at ${name}: a regular expression is not valid or too costly.`;

const unknownOperator = (name: string): string => `The pipeline was refused at ${name}: it names an unknown operator.`;

const badCount = (): string => 'A $count must be the name of a field for the number, without $ and dots.';

const badSortByCount = (): string => 'A $sortByCount must be a path such as "$tags", or an expression.';

/** What went wrong, by MongoDB's error code; given the stage or operator. */
const kinds: ReadonlyMap<unknown, (name: string) => string> = new Map([
  [14, (name) => `The pipeline was stopped at ${name}: it was given a value of a type it does not take.`],
  [27, needsIndex],
  [146, outOfMemory],
  [168, unknownOperator],
  [241, (name) => `The pipeline was stopped at ${name}: a value cannot be converted. Use $convert with onError.`],
  [292, outOfMemory],
  [13103, () => 'A $sort may have at most 32 keys.'],
  [15947, () => 'A $group must be an object with an _id.'],
  [15955, () => 'A $group needs an _id: what to group by, or null for all together.'],
  [15958, () => 'A $limit must be at least 1.'],
  [31082, () => '$search and $vectorSearch need a search index, which this database does not offer.'],
  [31325, unknownOperator],
  [40147, badSortByCount],
  [40148, badSortByCount],
  [40149, badSortByCount],
  [40156, badCount],
  [40157, badCount],
  [40158, badCount],
  [40160, badCount],
  [40228, () => 'What $replaceRoot or $replaceWith puts in the place of a document must be an object.'],
  [40234, () => 'Each field of a $group but _id must be an accumulator, such as {"$sum":1}.'],
  [40235, () => 'A field of a $group must not have a dot in its name.'],
  [51091, badPattern],
  [51111, badPattern],
  [51156, badPattern],
]);

/** A document, or a text, that MongoDB refuses to build. */
const tooLarge: ReadonlySet<unknown> = new Set([10334, 13548, 17419]);

/**
 * What a failed aggregation is to the caller: MongoDB refusing the pipeline → 400 that names at most the stage and the
 * kind of mistake, too slow → `QUERY_TIMEOUT`, a document over MongoDB's 16 MiB → `RESULT_TOO_LARGE`. Trouble with the
 * database itself is handed back as it is.
 */
export const pipelineFailure = (error: unknown, pipeline: Pipeline): unknown => {
  if (!(error instanceof MongoServerError) || isOutage(error)) return error;
  if (error.code === 50) return queryTimeout(error);
  if (tooLarge.has(error.code)) {
    const message =
      'The pipeline builds a document of more than 16 MiB. Project fewer fields, or group into smaller parts.';
    return new AppError('RESULT_TOO_LARGE', message, { cause: error });
  }
  const refusal = guardError(error);
  if (refusal) return refusal;
  const name = culprit(error, pipeline);
  const kind = kinds.get(error.code);
  return invalidPipeline(
    kind ? kind(name) : `The pipeline was refused at ${name}: check its operands and its place in the pipeline.`,
    error,
  );
};
