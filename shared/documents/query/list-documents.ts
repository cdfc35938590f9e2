import type { Collection } from '../../collections/collection.ts';
import { usersCollection } from '../../collections/names.ts';
import { fieldsOf, isUnknownPath, requireKnownPaths, shown } from '../../collections/schema/field-path.ts';
import { shownIn } from '../../collections/trash-conditions.ts';
import { AppError } from '../../core/errors.ts';
import type { JsonText } from '../../core/json.ts';
import { cutText } from '../../core/text.ts';
import { hasCode } from '../../persistence/mongo-errors.ts';
import { maxTimeMS } from '../../persistence/raw-documents.ts';
import { isSlow, recordSlowList } from '../../usage/tally.ts';
import { type AccessContext, mayReadAll } from '../access/access.ts';
import { hasUnreadable, type Unreadable, unreadableFor, unusableIn } from '../access/field-rights.ts';
import { filterReadable, obeysRules, requireList } from '../access/rule-access.ts';
import type { Document, JsonObject } from '../document.ts';
import { pageTooLarge } from '../page-size.ts';
import { type Condition, mayReveal, type Readable, type Selection } from './condition.ts';
import { decodeCursor, encodeCursor, encodeCursorById, invalidCursor } from './cursor.ts';
import { comparedFields, type ParsedFilter, pathsOf } from './filter.ts';
import { findPosition, findRows, type Row, type RowPage } from './find-rows.ts';
import { hintById, hintForList } from './index-hint.ts';
import { type ListQuery, listQueryOf, parseListQuery, type QueryEntries } from './list-query.ts';
import { populateRows, refPaths } from './populate.ts';
import { requireReadable, requireUsable } from './readable.ts';
import { planSearch, type SearchPlan } from './search.ts';
import { isById, sortFingerprint } from './sort.ts';
import { parseSuffixFilters } from './suffix-filters.ts';
import { countMatching, filteredTotal, type Total, unfilteredTotal } from './total.ts';
import { parseWhere, toConditions } from './where.ts';

interface Hints {
  /** Names fields that the schema does not have. */
  readonly hints?: readonly string[];
}

/** `data` of a list answer: `page` with offset pagination, `cursor` and `nextCursor` with cursor pagination. */
export interface DocumentPage extends Total, Hints {
  readonly items: readonly (Document | JsonText)[];
  readonly limit: number;
  readonly page?: number;
  readonly cursor?: string;
  /** `null` at the end of the list; with cursor pagination only. */
  readonly nextCursor?: string | null;
  /** The page was cut at 5 MiB, with cursor pagination only; `nextCursor` carries on. */
  readonly truncated?: true;
}

/** `data` of the answer to `count=true`. */
export interface DocumentCount extends Hints {
  readonly count: number;
}

/** An answer names at most this many fields. */
const maxHinted = 10;

interface Request extends AccessContext {
  readonly query: ListQuery;
  /** Row security: what the list may show to the caller, and which documents they may know of at all. */
  readonly readable: Readable | undefined;
  readonly knowable: Readable | undefined;
  /** The request's own filters, as they were parsed and as the database takes them. */
  readonly parsed: readonly ParsedFilter[];
  readonly filters: readonly Condition[];
  readonly search: SearchPlan | undefined;
  readonly unreadable: Unreadable | undefined;
}

const parseFilters = (collection: Collection, { filters, where }: ListQuery): readonly ParsedFilter[] => {
  const suffixes = parseSuffixFilters(collection, filters);
  return where === undefined ? suffixes : [...suffixes, ...parseWhere(collection, where)];
};

const conditionsOf = (condition: Condition | undefined): readonly Condition[] => (condition ? [condition] : []);

/** The selection of a request; only if row security hides documents are patterns deferred and an index named. */
const selectionOf = (request: Request): Selection => {
  const { collection, query, readable, parsed, filters: asked, search } = request;
  const filters = search ? [...search.conditions, ...asked] : asked;
  const best = search && query.bestFirst ? { best: { score: search.score } } : {};
  const active = conditionsOf(shownIn(collection, query.includeDeleted));
  if (!readable) return { conditions: [...active, ...filters], afterwards: [], ...best };
  const { condition, joins } = readable;
  if (obeysRules(request)) {
    const isolated = filters.length > 0 || joins !== undefined || !isById(query.sort);
    return { conditions: [condition, ...active], joins, afterwards: filters, isolated, ...best };
  }
  const afterwards = filters.filter(mayReveal);
  const beside = filters.filter((filter) => !afterwards.includes(filter));
  const hint = hintForList(request, { ...comparedFields(parsed).always, sort: query.sort });
  return { conditions: [condition, ...active, ...beside], afterwards, hint, ...best };
};

/** What a caller may have misspelt: the fields of filters and sort for which the schema has no place. */
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

/** Where a cursor says the page before ended. One that names a document counts only if the caller may read it. */
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

/** The total as far as the page itself tells it: it is the last one, and not an empty one somewhere behind the end. */
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
  // The metadata of the database counts tombstones too.
  const countsGone = query.includeDeleted && collection.feed;
  if (search || countsGone || readable || filters.length > 0)
    return filteredTotal(project, collection.name, selectionOf(request));
  return unfilteredTotal(project, collection.name, query.includeDeleted);
};

/** The page after one by number begins where that should have ended, so only a walk by cursors may cut one. */
const requireWhole = ({ query }: Request, truncated: boolean, fitting: number): void => {
  if (truncated && query.cursor === undefined) {
    throw pageTooLarge(
      fitting,
      'Walk the list with cursor= (empty for the first page, then nextCursor), which cuts where it must and carries on there; or ask with a smaller limit, or for single fields with fields=a,b.',
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

/** Notes how long the list took, for the advice on indexes: each branch of an `$or` needs one. */
const note = (request: Request, ms: number): void => {
  if (!isSlow(ms)) return;
  const { collection, query, parsed } = request;
  const sort = query.sort.filter(({ path }) => path !== '_id').map(({ path, direction }) => [path, direction] as const);
  const owner = mayReadAll(request) || obeysRules(request) ? {} : { owner: collection.rls.ownerField };
  for (const fields of comparedFields(parsed).branches) recordSlowList(collection, { ...owner, ...fields, sort }, ms);
};

/**
 * True if a list was given up that an index could have served: too slow, without a turn for what is, or too much to sort
 * in memory.
 */
const wasGivenUp = (error: unknown): boolean =>
  error instanceof AppError &&
  (error.code === 'QUERY_TIMEOUT' || error.code === 'TOO_MANY_SLOW_QUERIES' || hasCode(error.cause, 146, 292));

/** While the index is built, or exchanged for another. */
const lacksTextIndex = (error: unknown): boolean => hasCode(error, 27);

const searchNotReady = (cause: unknown): AppError =>
  new AppError(
    'SERVICE_UNAVAILABLE',
    'The index for searches of this collection is being built. Try again in a minute.',
    {
      retryAfter: 30,
      cause,
    },
  );

/**
 * The request that a parsed query is, with what the caller may read and filter by. What cannot be asked for → 400; a
 * private collection without a user → 401.
 */
const requestOf = async (visit: AccessContext, query: ListQuery): Promise<Request> => {
  const { collection } = visit;
  const parsed = parseFilters(collection, query);
  requireKnownPaths(collection, [...pathsOf(parsed), ...query.sort.map(({ path }) => path)]);
  const unreadable = hasUnreadable(visit) ? await unreadableFor(visit) : undefined;
  if (unreadable) {
    const { fields = [], populate, sort } = query;
    requireReadable(unreadable, { populate, fields });
    requireUsable(await unusableIn(visit, unreadable), parsed, sort);
  }
  const readable = await filterReadable(visit, 'list', query.includeDeleted);
  const knowable = query.cursor === undefined ? undefined : await filterReadable(visit, 'list', true);
  return {
    ...visit,
    ...{ query, readable, knowable, parsed, unreadable },
    filters: toConditions(parsed),
    search: query.search && planSearch(collection, query.search, !readable),
  };
};

/**
 * Documents that the caller may list and that meet a `where`, oldest first after a position, with their ids only. Fails
 * as a list does.
 */
export const findMatching = async (
  visit: AccessContext,
  where: unknown,
  limit: number,
  position?: readonly unknown[],
): Promise<RowPage> => {
  await requireList(visit);
  const asked = new Map([
    ['sort', '_id'],
    ['fields', '_id'],
    ['cursor', ''],
  ]);
  const request = await requestOf(visit, { ...listQueryOf(asked, { filters: [], where }), limit });
  return findRows(request.project, request.collection.name, selectionOf(request), request.query, position);
};

/**
 * Lists the documents of a collection as `parse` says a request asks for them: one page, or their number with
 * `count=true` (contract 2, "List" to "Row security"). A private collection without a user → 401; anything that cannot
 * be asked for, and a page by number over 5 MiB → 400. Costs one `find` and at most one count.
 */
const listAs = async (visit: AccessContext, parse: () => ListQuery): Promise<DocumentPage | DocumentCount> => {
  await requireList(visit);
  const query = parse();
  const request = await requestOf(visit, query);
  const begin = performance.now();
  const sinceBegin = () => performance.now() - begin;
  try {
    const answer = await (query.count ? countAll(request) : listPage(request));
    note(request, Math.min(sinceBegin(), maxTimeMS));
    return answer;
  } catch (error) {
    if (query.search && lacksTextIndex(error)) throw searchNotReady(error);
    // It counts as one that took as long as a list may take.
    if (wasGivenUp(error)) note(request, maxTimeMS);
    throw error;
  }
};

/** The same as a query string asks for them, whose text as it stands in the address is `sent`. */
export const listDocuments = (
  visit: AccessContext,
  entries: QueryEntries,
  sent = '',
): Promise<DocumentPage | DocumentCount> => listAs(visit, () => parseListQuery(entries, sent));

type Read = (value: unknown) => string | undefined;

const number: Read = (value) => (typeof value === 'number' ? String(value) : undefined);
const flag: Read = (value) => (typeof value === 'boolean' ? String(value) : undefined);
const text: Read = (value) => (typeof value === 'string' ? value : undefined);
const list: Read = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === 'string') ? value.join(',') : text(value);

/** The members of a body besides `where`: what each is, and its text as a parameter of a list. */
const members: ReadonlyMap<string, readonly [described: string, read: Read]> = new Map([
  ['sort', ['a list of texts or one text', list]],
  ['fields', ['a list of texts or one text', list]],
  ['populate', ['a list of texts or one text', list]],
  ['limit', ['a number', number]],
  ['page', ['a number', number]],
  ['skip', ['a number', number]],
  ['cursor', ['a text', text]],
  ['search', ['a text', text]],
  ['count', ['true or false', flag]],
  ['include_deleted', ['true or false', flag]],
  ['meta', ['true, false or rev', (value) => flag(value) ?? (value === 'rev' ? value : undefined)]],
]);

const refusal = (code: 'INVALID_BODY' | 'INVALID_QUERY', field: string, message: string): AppError =>
  new AppError(code, message, { errors: [{ field, message }] });

const parseBody = ({ where, ...body }: JsonObject): ListQuery => {
  const given = new Map<string, string>();
  for (const [name, value] of Object.entries(body)) {
    const [described, read] = members.get(name) ?? [];
    if (!read) {
      const known = ['where', ...members.keys()].join(', ');
      throw refusal('INVALID_BODY', cutText(name, 64), `"${cutText(name, 64)}" is not known. A query takes ${known}.`);
    }
    const parameter = read(value);
    if (parameter === undefined) throw refusal('INVALID_QUERY', name, `${name} must be ${described}.`);
    given.set(name, parameter);
  }
  return listQueryOf(given, { filters: [], where });
};

/**
 * Lists the documents that a body asks for, which has what a list takes as parameters, and no filters but `where`. An
 * unknown member → 400 `INVALID_BODY`, an impossible value → 400 `INVALID_QUERY` (contract 2, "Query").
 */
export const queryDocuments = (visit: AccessContext, body: JsonObject): Promise<DocumentPage | DocumentCount> =>
  listAs(visit, () => parseBody(body));
