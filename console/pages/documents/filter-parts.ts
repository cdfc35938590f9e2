import type { Collection } from '../../../shared/collections/collection.ts';
import { parseJsonValue } from '../../../shared/core/json.ts';
import type { FieldTest, ParsedFilter } from '../../../shared/documents/query/filter.ts';
import { parseSuffixFilters } from '../../../shared/documents/query/suffix-filters.ts';
import { parseWhere } from '../../../shared/documents/query/where.ts';
import { type Address, suffixFilters } from './filter-parameters.ts';

type Where = Readonly<Record<string, unknown>>;

/** A part of the filter, or an address parameter that cannot be parsed. */
export type Part = { readonly filter: ParsedFilter } | { readonly parameter: string; readonly text: string };

const testOf = (test: FieldTest): Where => {
  if (!('element' in test)) return { [test.operator]: test.operand };
  const { element } = test;
  return { $elemMatch: 'length' in element ? Object.assign({}, ...element.map(testOf)) : jsonOf(element) };
};

const short = (tests: Where): unknown => (Object.keys(tests).join() === '$eq' ? tests.$eq : tests);

/** A condition as JSON. */
export const jsonOf = (filter: ParsedFilter): Where => {
  if ('path' in filter) return { [filter.path]: short(testOf(filter)) };
  if ('not' in filter) return { $not: jsonOf(filter.not) };
  if ('any' in filter) return { $or: filter.any.map(jsonOf) };
  return whereOf(filter.all);
};

/** One condition for several that must all match: fields side by side, `$and` for repeated names. */
const whereOf = (filters: readonly ParsedFilter[]): Where => {
  const tests = new Map<string, Where>();
  const rest: Record<string, unknown> = {};
  const others: Where[] = [];
  for (const filter of filters) {
    if ('path' in filter) {
      const [known = {}, added] = [tests.get(filter.path), testOf(filter)];
      if (Object.keys(added).some((name) => name in known)) others.push(jsonOf(filter));
      else tests.set(filter.path, { ...known, ...added });
    } else {
      const json = jsonOf(filter);
      if ('all' in filter || Object.keys(json).some((name) => name in rest)) others.push(json);
      else Object.assign(rest, json);
    }
  }
  const fields = Object.fromEntries([...tests].map(([path, one]) => [path, short(one)]));
  return { ...fields, ...rest, ...(others.length > 0 && { $and: others }) };
};

/** A pattern without this flag already ignores case. */
const plain = (filter: ParsedFilter): ParsedFilter =>
  'ignoresCase' in filter
    ? { path: filter.path, operator: filter.operator, operand: `(?i)${String(filter.operand)}` }
    : filter;

const partOf = (filter: ParsedFilter): Part => ({ filter: plain(filter) });

/** The parts of a condition typed as JSON. Throws the service's own error. */
export const parseWhereText = (collection: Collection, text: string): readonly Part[] =>
  parseWhere(collection, parseJsonValue(text)).map(partOf);

const orUnread = (parameter: string, text: string, parse: () => readonly Part[]): readonly Part[] => {
  try {
    return parse();
  } catch {
    return [{ parameter, text }];
  }
};

/** The filter in an address, as `where` or as parameters such as `views_gte=5`. */
export const partsOf = (collection: Collection, query: Address): readonly Part[] => {
  const { where } = query;
  return [
    ...(where ? orUnread('where', where, () => parseWhereText(collection, where)) : []),
    ...suffixFilters(query).flatMap(([name, text]) =>
      orUnread(name, text, () => parseSuffixFilters(collection, [[name, text]]).map(partOf)),
    ),
  ];
};

/** The parts as one condition; `undefined` if there are none. */
export const whereText = (parts: readonly Part[], indent?: number): string | undefined => {
  const filters = parts.flatMap((part) => ('filter' in part ? [part.filter] : []));
  return filters.length === 0 ? undefined : JSON.stringify(whereOf(filters), null, indent);
};

/** The address parameters for these parts: all in `where`, except those that cannot be parsed. */
export const changesFor = (query: Address, parts: readonly Part[]): Readonly<Record<string, string | undefined>> => ({
  ...Object.fromEntries(suffixFilters(query).map(([name]) => [name, undefined])),
  where: undefined,
  ...Object.fromEntries(parts.flatMap((part) => ('filter' in part ? [] : [[part.parameter, part.text]]))),
  ...(parts.some((part) => 'filter' in part) && { where: whereText(parts) }),
});

const maxSent = 8 * 1024;

/** Whether the filter fits into an address. */
export const isSendable = (parts: readonly Part[]): boolean =>
  encodeURIComponent(whereText(parts) ?? '').length <= maxSent;
