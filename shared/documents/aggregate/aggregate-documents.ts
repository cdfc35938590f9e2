import { type AggregationCursor, MongoServerError } from 'mongodb';
import { findCollections } from '../../collections/find-collections.ts';
import { AppError } from '../../core/errors.ts';
import { cutText } from '../../core/text.ts';
import { isOutage } from '../../persistence/mongo-errors.ts';
import { deserialize, rawBatches } from '../../persistence/raw-documents.ts';
import { type AccessContext, obeysRules } from '../access/access.ts';
import { unreadableFor, unusableIn } from '../access/field-rights.ts';
import { filterReadable } from '../access/reading.ts';
import type { JsonObject } from '../document.ts';
import { answerPerBson, measured, PageBudget } from '../page-size.ts';
import { boundedQuery } from '../query/bounded-query.ts';
import { hintForAll, withHint } from '../query/index-hint.ts';
import { entriesIn } from '../values.ts';
import { wireDocument } from '../wire.ts';
import { checkPipeline } from './check-pipeline.ts';
import { boundPipeline, guardError } from './memory.ts';
import { invalidPipeline, type Pipeline, type Source } from './pipeline.ts';
import { refuseUnreadable } from './refuse-unreadable.ts';
import { restrictPipeline } from './restrict-pipeline.ts';

/** The error of an aggregation that takes too long (400). */
const queryTimeout = (cause?: unknown): AppError =>
  new AppError(
    'QUERY_TIMEOUT',
    'The aggregation took longer than 5 seconds. Filter in a first $match, join by an indexed field, or add an index: POST /api/projects/:projectId/collections/:name/indexes of the dashboard API.',
    { cause },
  );

/**
 * Reads all documents of a cursor that was opened with `raw: true`, ready for `JSON.stringify`, and closes it.
 * Throws 400 `RESULT_TOO_LARGE` above 5 MiB of JSON, 400 `QUERY_TIMEOUT` after `limitMs`.
 */
export const loadResults = async (cursor: AggregationCursor, limitMs: number): Promise<unknown[]> => {
  const start = performance.now();
  const budget = new PageBudget();
  const results: unknown[] = [];
  for await (const batch of rawBatches(cursor)) {
    if (performance.now() - start > limitMs) throw queryTimeout();
    for (const raw of batch) {
      const document = wireDocument(deserialize(raw));
      if (!budget.add({ atMost: raw.byteLength * answerPerBson, exact: () => measured(document) })) {
        throw new AppError(
          'RESULT_TOO_LARGE',
          'The result is larger than 5 MiB of JSON (each quote and backslash counts twice). Add a $limit, or project fewer fields.',
        );
      }
      results.push(document);
    }
  }
  return results;
};

/** The stage or operator in MongoDB's error, if the caller wrote it. */
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
  `The pipeline was rejected at ${name}: a regular expression is not valid or too costly.`;

const unknownOperator = (name: string): string => `The pipeline was rejected at ${name}: it names an unknown operator.`;

const badCount = (): string => 'A $count must be the name of a field for the number, without $ and dots.';

const badSortByCount = (): string => 'A $sortByCount must be a path such as "$tags", or an expression.';

/** The message for a MongoDB error code, for a stage or operator. */
const kinds: ReadonlyMap<unknown, (name: string) => string> = new Map([
  [14, (name) => `The pipeline was stopped at ${name}: a value has a type that it does not accept.`],
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
  [40228, () => 'The value of $replaceRoot or $replaceWith must be an object.'],
  [40234, () => 'Each field of a $group except _id must be an accumulator, such as {"$sum":1}.'],
  [40235, () => 'A field of a $group must not have a dot in its name.'],
  [51091, badPattern],
  [51111, badPattern],
  [51156, badPattern],
]);

/** Codes of a document or text that is too large for MongoDB. */
const tooLarge: ReadonlySet<unknown> = new Set([10334, 13548, 17419]);

/**
 * The error of a failed aggregation: a 400 that names at most the stage and the kind of mistake if MongoDB rejects
 * the pipeline, `QUERY_TIMEOUT` if it is too slow, `RESULT_TOO_LARGE` for a document over MongoDB's 16 MiB. Failures
 * of the database are returned unchanged.
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
    kind ? kind(name) : `The pipeline was rejected at ${name}: check its operands and its place in the pipeline.`,
    error,
  );
};

/** Otherwise MongoDB sends a million tiny documents in one batch. */
const batchSize = 1000;

const sourceOf = async (context: AccessContext, includeDeleted: boolean): Promise<Source> => {
  const readable = await filterReadable(context, 'list', includeDeleted);
  const hidden = await unreadableFor(context);
  const unreadable = hidden ? await unusableIn(context, hidden) : [];
  return { collection: context.collection, visibilityFilter: readable?.condition, joins: readable?.joins, unreadable };
};

const joinedSources = async (
  context: AccessContext,
  names: ReadonlySet<string>,
  includeDeleted: boolean,
): Promise<ReadonlyMap<string, Source>> => {
  const collections = await findCollections(context.project, [...names]);
  for (const name of names) {
    if (!collections.has(name)) {
      throw new AppError(
        'COLLECTION_NOT_FOUND',
        `The collection "${cutText(name, 63)}" of the pipeline does not exist.`,
      );
    }
  }
  const sources = [...collections].map(
    async ([name, collection]) => [name, await sourceOf({ ...context, collection }, includeDeleted)] as const,
  );
  return new Map(await Promise.all(sources));
};

/**
 * Runs the aggregation of a body `{ pipeline: [stage, …] }`. The results are ready for `JSON.stringify`. Contract 2,
 * "Aggregation": only allowed stages, only the caller's active documents of every collection, at most 5 s, 50 stages
 * and 5 MiB of JSON, no use of disk.
 */
export const aggregateDocuments = async (
  context: AccessContext,
  body: JsonObject,
  { includeDeleted }: { readonly includeDeleted: boolean },
): Promise<unknown[]> => {
  const { project, collection, caller } = context;
  const main = await sourceOf(context, includeDeleted);
  const { pipeline, joined } = checkPipeline(body.pipeline);
  // The rules apply everywhere. Memory is only limited where projects share a database.
  const bounded = boundPipeline(pipeline, project.placement.kind === 'managed');
  const sources = { main, joined: await joinedSources(context, joined, includeDeleted), includeDeleted };
  refuseUnreadable(pipeline, sources);
  const stages = restrictPipeline(bounded, sources);
  const options = { raw: true, batchSize, allowDiskUse: false };
  const hint = main.visibilityFilter && stages[0]?.$match && !obeysRules(context) ? hintForAll(context) : undefined;
  const asked = () => [caller, includeDeleted, pipeline];
  return boundedQuery(
    project,
    collection.name,
    asked,
    async (db, limitMs) => {
      try {
        return await withHint(hint, (named) =>
          loadResults(
            db.collection(collection.name).aggregate(stages, { ...options, ...named, maxTimeMS: limitMs }),
            limitMs,
          ),
        );
      } catch (error) {
        throw pipelineFailure(error, pipeline);
      }
    },
    'aggregation',
  );
};
