import type { Db, Document as MongoDocument } from 'mongodb';
import { findRaw } from '../../clients/find-raw.ts';
import { hasCode } from '../../clients/mongo-failure.ts';
import { rawBatches } from '../../clients/raw-documents.ts';
import { AppError } from '../../core/errors.ts';
import type { Project } from '../../projects/project.ts';
import { sendable } from '../wire-value.ts';
import { boundedQuery } from './bounded-query.ts';
import { allOf, type Selection } from './condition.ts';
import { afterPosition, type Ids } from './keyset.ts';
import type { ListQuery } from './list-query.ts';
import { type Hint, withHint } from './owner-hint.ts';
import { PageBudget } from './page-size.ts';
import { toProjection } from './projection.ts';
import { Row } from './row.ts';
import { isById, type Sort, sortKeyField, sortKeyOf, toMongoSort } from './sort.ts';
import { afterBySortKey, bestFirst, needsSortKey, withPatterns } from './sort-key-pipeline.ts';

/** The documents of one page, in order. */
export interface RowPage {
  readonly rows: readonly Row[];
  /** The page was cut because of its size, before its limit. */
  readonly cut: boolean;
  /** At least one more document follows; known only where one more than `limit` was read. */
  readonly more: boolean;
}

/** MongoDB refuses to sort by two arrays at once. */
const orParallelArrays = (cause: unknown, sort: Sort): unknown => {
  if (!hasCode(cause, 2) || sort.length <= 2) return cause;
  const message = 'sort: two of these fields hold arrays, and documents cannot be sorted by two arrays.';
  return new AppError('INVALID_QUERY', message, { cause });
};

/** The documents of a page as they come, and whether the keys that they were sorted by come with them. */
interface Opened {
  readonly batches: AsyncIterable<readonly Uint8Array[]>;
  readonly hasKeys: boolean;
}

/** Takes documents batch by batch and stops where the page is full, so that memory stays bounded. */
const takePage = async (project: Project, { batches, hasKeys }: Opened, query: ListQuery): Promise<RowPage> => {
  const rows: Row[] = [];
  const budget = new PageBudget();
  for await (const batch of batches) {
    for (const raw of batch) {
      if (rows.length === query.limit) return { rows, cut: false, more: true };
      const row = new Row(project, raw, query, hasKeys);
      if (!budget.add(row) && rows.length > 0) return { rows, cut: true, more: true };
      rows.push(row);
    }
  }
  return { rows, cut: false, more: false };
};

/** Of two that fit as well the newer comes first. */
const byTextScore = new Map<string, 1 | -1 | { readonly $meta: 'textScore' }>([
  ['score', { $meta: 'textScore' }],
  ['_id', -1],
]);

const open = (
  db: Db,
  name: string,
  selection: Selection,
  query: ListQuery,
  position: readonly unknown[] | undefined,
  ids: Ids,
  hint: { readonly hint?: Hint },
  maxTimeMS: number,
): Opened => {
  const { sort } = query;
  const limit = query.cursor === undefined ? query.limit : query.limit + 1;
  const skip = query.cursor === undefined ? query.skip : 0;
  const projection = toProjection(query);
  const piped = (stages: MongoDocument[]): Opened => {
    const shown = { ...projection, ...(query.fields ? { [sortKeyField]: 1 } : {}) };
    const shape = Object.keys(shown).length > 0 ? [{ $project: shown }] : [];
    const options = { batchSize: limit, maxTimeMS, raw: true, ...hint };
    return { batches: rawBatches(db.collection(name).aggregate([...stages, ...shape], options)), hasKeys: true };
  };
  if (position && needsSortKey(sort, position)) return piped(afterBySortKey(selection, sort, position, limit));
  const conditions = position ? [...selection.conditions, afterPosition(sort, position, ids)] : selection.conditions;
  if (selection.best?.score) return piped(bestFirst(selection, selection.best.score, { skip, limit }));
  if (selection.afterwards.length > 0) return piped(withPatterns({ ...selection, conditions }, sort, { skip, limit }));
  // Only a cursor tells where a page ended.
  const keys = query.cursor === undefined ? {} : sortKeyOf(sort);
  const order = selection.best ? byTextScore : toMongoSort(sort);
  const find = { sort: order, projection: { ...projection, ...keys }, skip, limit, maxTimeMS, ...hint };
  return { batches: findRaw(db, name, allOf(conditions), find), hasKeys: Object.keys(keys).length > 0 };
};

/**
 * Reads one page in one command: at most `query.limit` documents and 5 MiB of JSON, the first one whatever its size.
 * With a cursor the page begins after `position`, and one document more is looked for, to know whether the list goes
 * on.
 */
export const findRows = (
  project: Project,
  collectionName: string,
  selection: Selection,
  query: ListQuery,
  position?: readonly unknown[],
): Promise<RowPage> =>
  boundedQuery(
    project,
    collectionName,
    () => ['page', selection, query, position],
    async (db, maxTimeMS) => {
      const ids = project.placement.kind === 'managed' ? 'ours' : 'any';
      try {
        return await withHint(selection.hint, (hint) =>
          takePage(project, open(db, collectionName, selection, query, position, ids, hint, maxTimeMS), query),
        );
      } catch (error) {
        throw orParallelArrays(error, query.sort);
      }
    },
  );

/** The sort key of one document, for a cursor that names it, if the caller may know of it by `selection`. */
export const findPosition = (
  project: Project,
  collectionName: string,
  { conditions, hint }: Selection,
  sort: Sort,
): Promise<readonly unknown[] | undefined> =>
  boundedQuery(
    project,
    collectionName,
    () => ['position', conditions],
    async (db, maxTimeMS) => {
      const options = { sort: toMongoSort(sort), projection: { _id: 1, ...sortKeyOf(sort) }, maxTimeMS };
      const found = await withHint(hint, (named) =>
        db.collection(collectionName).findOne(allOf(conditions), { ...options, ...named }),
      );
      if (!found) return undefined;
      return (isById(sort) ? [found._id] : (found[sortKeyField] as readonly unknown[])).map(sendable);
    },
  );
