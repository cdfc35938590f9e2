import { findCollections } from '../../collections/find-collections.ts';
import { cutText } from '../../core/bounded-text.ts';
import { AppError } from '../../core/errors.ts';
import type { JsonObject } from '../document.ts';
import { boundedQuery } from '../read/bounded-query.ts';
import { hintForAll, withHint } from '../read/owner-hint.ts';
import { type Visit, visibilityFilter } from '../row-security.ts';
import { boundPipeline } from './bound-pipeline.ts';
import { checkPipeline } from './check-pipeline.ts';
import { loadResults } from './load-results.ts';
import type { Source } from './pipeline.ts';
import { pipelineFailure } from './pipeline-failure.ts';
import { restrictPipeline } from './restrict-pipeline.ts';

/** Documents fetched at once: without it MongoDB sends a million tiny ones in one answer. */
const batchSize = 1000;

const sourceOf = (visit: Visit, includeDeleted: boolean): Source => ({
  collection: visit.collection,
  visibilityFilter: visibilityFilter(visit, includeDeleted),
});

const joinedSources = async (
  visit: Visit,
  names: ReadonlySet<string>,
  includeDeleted: boolean,
): Promise<ReadonlyMap<string, Source>> => {
  const collections = await findCollections(visit.project, [...names]);
  for (const name of names) {
    if (!collections.has(name)) {
      throw new AppError(
        'COLLECTION_NOT_FOUND',
        `The collection "${cutText(name, 63)}" of the pipeline does not exist.`,
      );
    }
  }
  return new Map(
    [...collections].map(([name, collection]) => [name, sourceOf({ ...visit, collection }, includeDeleted)]),
  );
};

/**
 * Runs the aggregation of a body `{ pipeline: [stage, …] }` on a collection; the results are ready for
 * `JSON.stringify`. Contract 2, "Aggregation": only allowed stages, only the caller's active documents of every
 * collection it reads, at most 5 s, 50 stages and 5 MiB of JSON, nothing spilled to disk.
 */
export const aggregateDocuments = async (
  visit: Visit,
  body: JsonObject,
  { includeDeleted }: { readonly includeDeleted: boolean },
): Promise<unknown[]> => {
  const { project, collection, caller } = visit;
  const main = sourceOf(visit, includeDeleted);
  const { pipeline, joined } = checkPipeline(body.pipeline);
  // The rules hold everywhere; what documents have of memory is guarded where projects share a database.
  const bounded = boundPipeline(pipeline, project.placement.kind === 'managed');
  const stages = restrictPipeline(bounded, {
    main,
    joined: await joinedSources(visit, joined, includeDeleted),
    includeDeleted,
  });
  const options = { raw: true, batchSize, allowDiskUse: false };
  const hint = main.visibilityFilter && stages[0]?.$match ? hintForAll(visit) : undefined;
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
