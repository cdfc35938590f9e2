import { usersCollection } from '../../collections/names.ts';
import { fieldsOf, isUnknownPath, shown } from '../../collections/schema/field-path.ts';
import { hasTombstones } from '../../collections/trash-conditions.ts';
import { AppError } from '../../core/errors.ts';
import type { JsonText } from '../../core/json.ts';
import { hasCode } from '../../persistence/mongo-errors.ts';
import { maxTimeMS } from '../../persistence/raw-documents.ts';
import { isSlow, recordSlowList } from '../../usage/slow-lists.ts';
import { type AccessContext, mayReadAll, obeysRules } from '../access/access.ts';
import { requireList } from '../access/reading.ts';
import { type Document, type JsonObject, revisionOf } from '../document.ts';
import { pageTooLarge } from '../page-size.ts';
import type { Condition, Selection } from './condition.ts';
import { decodeCursor, encodeCursor, encodeCursorById, invalidCursor } from './cursor.ts';
import { comparedFields, pathsOf } from './filter.ts';
import { findPosition, findRows, type Row, type RowPage } from './find-rows.ts';
import { hintById } from './index-hint.ts';
import { type ListQuery, listQueryOf, parseListQuery, parseQueryBody, type QueryEntries } from './list-query.ts';
import { type Request, requestOf, selectionOf } from './list-request.ts';
import { populateRows, refPaths } from './populate.ts';
import { sortFingerprint } from './sort.ts';
import { countMatching, filteredTotal, type Total, unfilteredTotal } from './total.ts';

interface Hints {
  /** Names fields that the schema does not have. */
  readonly hints?: readonly string[];
}

/** `data` of a list: `page` with offset pagination, `cursor` and `nextCursor` with cursor pagination. */
export interface DocumentPage extends Total, Hints {
  readonly items: readonly (Document | JsonText)[];
  readonly limit: number;
  readonly page?: number;
  readonly cursor?: string;
  /** `null` at the end of the list; with cursor pagination only. */
  readonly nextCursor?: string | null;
  /** The page was cut at 5 MiB, with cursor pagination only; `nextCursor` continues. */
  readonly truncated?: true;
}

/** `data` of a list with `count=true`. */
export interface DocumentCount extends Hints {
  readonly count: number;
}

/** The maximum number of fields in hints. */
const maxHinted = 10;

/** Names possible typos: fields of filters and sort that the schema lacks. */
const hintsOf = ({ collection, query, parsed }: Request): Hints => {
  if (!collection.schema || collection.name === usersCollection) return {};
  const fields = fieldsOf(collection);
  const paths = new Set([...pathsOf(parsed), ...query.sort.map(({ path }) => path)]);
  const unknown = [...paths].filter((path) => isUnknownPath(fields, path)).slice(0, maxHinted);
  if (unknown.length === 0) return {};
  const named = unknown.map((path) => `"${shown(path)}"`).join(', ');
  return { hints: [`The schema of "${collection.name}" has no field ${named}. Check the filters and the sort.`] };
};

const countAll = async (request: Request): Promise<DocumentCount> => ({
  count: await countMatching(request.project, request.collection.name, selectionOf(request)),
  ...hintsOf(request),
});

const fingerprint = ({ project, collection, query }: Request): string =>
  sortFingerprint(project.id, collection.name, query.sort);

/**
 * The end of the previous page, from the cursor. A cursor that names a document counts only if the caller may read
 * it.
 */
const positionOf = async (request: Request): Promise<readonly unknown[] | undefined> => {
  const { project, collection, query, knowable } = request;
  if (!query.cursor) return undefined;
  const position = decodeCursor(fingerprint(request), query.sort.length, query.cursor);
  if ('values' in position) return position.values;
  const conditions = [{ _id: { $eq: position.id } } as Condition, ...(knowable ? [knowable.condition] : [])];
  const hint = knowable && !obeysRules(request) ? { hint: hintById(request) } : {};
  const named: Selection = { conditions, joins: knowable?.joins, afterwards: [], ...hint };
  const values = await findPosition(project, collection.name, named, query.sort);
  if (!values) throw invalidCursor();
  return values;
};

/** The total if the page tells it: it is the last one, and not an empty one beyond the end. */
const totalFromPage = ({ query }: Request, { rows, cut, more }: RowPage): number | undefined => {
  if (cut || more) return undefined;
  if (query.cursor !== undefined) return query.cursor === '' ? rows.length : undefined;
  const isLast = rows.length < query.limit && (query.skip === 0 || rows.length > 0);
  return isLast ? query.skip + rows.length : undefined;
};

const totalOf = async (request: Request, page: RowPage): Promise<Total> => {
  const { project, collection, query, readable, filters, search } = request;
  const known = totalFromPage(request, page);
  if (known !== undefined) return { total: known };
  // The database's own count includes tombstones.
  const countsGone = query.includeDeleted && hasTombstones(collection);
  if (search || countsGone || readable || filters.length > 0)
    return filteredTotal(project, collection.name, selectionOf(request));
  return unfilteredTotal(project, collection.name, query.includeDeleted);
};

/**
 * A numbered page must be complete, because the next one begins where it should have ended. Only cursor pages may be
 * cut.
 */
const requireWhole = ({ query }: Request, truncated: boolean, fitting: number): void => {
  if (truncated && query.cursor === undefined) {
    throw pageTooLarge(
      fitting,
      'Use cursor= (empty for the first page, then nextCursor), so that each page has as many documents as fit. Or send a smaller limit, or choose fields with fields=a,b.',
    );
  }
};

const cursorAt = (request: Request, { position }: Row): string =>
  selectionOf(request).isolated
    ? encodeCursorById(fingerprint(request), position.at(-1))
    : encodeCursor(fingerprint(request), position);

const listPage = async (request: Request): Promise<DocumentPage> => {
  const { project, collection, query, unreadable } = request;
  refPaths(collection, query.populate);
  const position = await positionOf(request);
  const page = await findRows(project, collection.name, selectionOf(request), { ...query, unreadable }, position);
  requireWhole(request, page.cut, page.rows.length);
  const [total, items] = await Promise.all([totalOf(request, page), populateRows(request, page.rows)]);
  const truncated = page.cut || items.length < page.rows.length;
  requireWhole(request, truncated, items.length);
  const last = page.rows[items.length - 1];
  const nextCursor = last && (truncated || page.more) ? cursorAt(request, last) : null;
  return {
    items,
    ...total,
    ...hintsOf(request),
    limit: query.limit,
    ...(query.cursor === undefined ? { page: query.page } : { cursor: query.cursor, nextCursor }),
    ...(truncated ? { truncated } : {}),
  };
};

/** Records the duration of a list for the advice on indexes. Each branch of an `$or` needs its own. */
const note = (request: Request, ms: number): void => {
  if (!isSlow(ms)) return;
  const { collection, query, parsed } = request;
  const sort = query.sort.filter(({ path }) => path !== '_id').map(({ path, direction }) => [path, direction] as const);
  const owner = mayReadAll(request) || obeysRules(request) ? {} : { owner: collection.rls.ownerField };
  for (const fields of comparedFields(parsed).branches) recordSlowList(collection, { ...owner, ...fields, sort }, ms);
};

/**
 * True if a list failed that an index could have served: too slow, no lock for slow reads, or too much to sort in
 * memory.
 */
const wasGivenUp = (error: unknown): boolean =>
  error instanceof AppError &&
  (error.code === 'QUERY_TIMEOUT' || error.code === 'TOO_MANY_SLOW_QUERIES' || hasCode(error.cause, 146, 292));

/** While the index is built or replaced. */
const lacksTextIndex = (error: unknown): boolean => hasCode(error, 27);

const searchNotReady = (cause: unknown): AppError =>
  new AppError('SERVICE_UNAVAILABLE', 'The index for searches of this collection is being built. Retry in a minute.', {
    retryAfter: 30,
    cause,
  });

/**
 * The documents that the caller may list and that match `where`, oldest first after a position, with only their ids.
 * Throws the errors of a list.
 */
export const findMatching = async (
  context: AccessContext,
  where: unknown,
  limit: number,
  position?: readonly unknown[],
): Promise<RowPage> => {
  await requireList(context);
  const asked = new Map([
    ['sort', '_id'],
    ['fields', '_id'],
    ['cursor', ''],
  ]);
  const request = await requestOf(context, { ...listQueryOf(asked, { filters: [], where }), limit });
  return findRows(request.project, request.collection.name, selectionOf(request), request.query, position);
};

/**
 * The revisions, by the JSON of their ids, of those of the documents that the caller may list and that match `where`, as a majority of
 * the database's servers has them. Throws the errors of a list. Costs one command.
 */
export const findMatchingAmong = async (
  context: AccessContext,
  where: unknown,
  among: readonly Document[],
): Promise<ReadonlyMap<string, number>> => {
  const shown = new Map([
    ['fields', '_id'],
    ['meta', 'rev'],
  ]);
  const request = await requestOf(context, { ...listQueryOf(shown, { filters: [], where }), limit: among.length });
  const { conditions, ...selection } = selectionOf(request);
  const listed: Selection = {
    ...selection,
    conditions: [{ _id: { $in: among.map(({ _id }) => _id) } } as Condition, ...conditions],
    ...(!obeysRules(context) && { hint: hintById(context) }),
  };
  const { rows } = await findRows(request.project, request.collection.name, listed, {
    ...request.query,
    isSettled: true,
  });
  return new Map(rows.map(({ document }) => [JSON.stringify(document._id), revisionOf(document)]));
};

/**
 * Lists the documents of a collection for a request that `parse` reads: a page, or the count with `count=true`
 * (contract 2, "List" to "Row security"). Throws 401 for a private collection without a user; 400 for an invalid
 * request and for a numbered page over 5 MiB. Costs one `find` and at most one count.
 */
const listAs = async (context: AccessContext, parse: () => ListQuery): Promise<DocumentPage | DocumentCount> => {
  await requireList(context);
  const query = parse();
  const request = await requestOf(context, query);
  const begin = performance.now();
  const sinceBegin = () => performance.now() - begin;
  try {
    const answer = await (query.count ? countAll(request) : listPage(request));
    note(request, Math.min(sinceBegin(), maxTimeMS));
    return answer;
  } catch (error) {
    if (query.search && lacksTextIndex(error)) throw searchNotReady(error);
    // It counts as one that took the maximum time.
    if (wasGivenUp(error)) note(request, maxTimeMS);
    throw error;
  }
};

/** The same for a query string; `sent` is its text in the address. */
export const listDocuments = (
  context: AccessContext,
  entries: QueryEntries,
  sent = '',
): Promise<DocumentPage | DocumentCount> => listAs(context, () => parseListQuery(entries, sent));

/**
 * Lists the documents for a body with the parameters of a list, and `where` as its only filter. Throws 400
 * `INVALID_BODY` for an unknown member, 400 `INVALID_QUERY` for an invalid value (contract 2, "Query").
 */
export const queryDocuments = (context: AccessContext, body: JsonObject): Promise<DocumentPage | DocumentCount> =>
  listAs(context, () => parseQueryBody(body));
