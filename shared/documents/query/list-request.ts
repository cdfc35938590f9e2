import type { Collection } from '../../collections/collection.ts';
import { requireKnownPaths } from '../../collections/schema/field-path.ts';
import { shownIn } from '../../collections/trash-conditions.ts';
import { type AccessContext, obeysRules } from '../access/access.ts';
import { hasUnreadable, type Unreadable, unreadableFor, unusableIn } from '../access/field-rights.ts';
import { filterReadable } from '../access/reading.ts';
import { type Condition, mayReveal, type Readable, type Selection } from './condition.ts';
import { comparedFields, type ParsedFilter, pathsOf } from './filter.ts';
import { hintForList } from './index-hint.ts';
import type { ListQuery } from './list-query.ts';
import { requireReadable, requireUsable } from './readable.ts';
import { planSearch, type SearchPlan } from './search.ts';
import { isById } from './sort.ts';
import { parseSuffixFilters } from './suffix-filters.ts';
import { parseWhere, toConditions } from './where.ts';

export interface Request extends AccessContext {
  readonly query: ListQuery;
  /** Row security: the documents that the list may show, and those that the caller may know of. */
  readonly readable: Readable | undefined;
  readonly knowable: Readable | undefined;
  /** The filters, as parsed and as MongoDB takes them. */
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

/** The selection of a request. Patterns are deferred and an index is named only if row security hides documents. */
export const selectionOf = (request: Request): Selection => {
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

/**
 * The request for a parsed query, with what the caller may read and filter by. Throws 400 for an invalid query, 401
 * for a private collection without a user.
 */
export const requestOf = async (context: AccessContext, query: ListQuery): Promise<Request> => {
  const { collection } = context;
  const parsed = parseFilters(collection, query);
  requireKnownPaths(collection, [...pathsOf(parsed), ...query.sort.map(({ path }) => path)]);
  const unreadable = hasUnreadable(context) ? await unreadableFor(context) : undefined;
  if (unreadable) {
    const { fields = [], populate, sort } = query;
    requireReadable(unreadable, { populate, fields });
    requireUsable(await unusableIn(context, unreadable), parsed, sort);
  }
  const readable = await filterReadable(context, 'list', query.includeDeleted);
  const knowable = query.cursor === undefined ? undefined : await filterReadable(context, 'list', true);
  return {
    ...context,
    ...{ query, readable, knowable, parsed, unreadable },
    filters: toConditions(parsed),
    search: query.search && planSearch(collection, query.search, !readable),
  };
};
