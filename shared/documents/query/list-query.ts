import { isFieldPath, shown } from '../../collections/schema/field-path.ts';
import { AppError } from '../../core/errors.ts';
import { parseJsonValue, requireExact } from '../../core/json.ts';
import { valuesByName } from '../../core/query-parameters.ts';
import { cutText } from '../../core/text.ts';
import type { JsonObject } from '../document.ts';
import { invalidFilter } from './filter.ts';
import { parseSearch, type Search } from './search.ts';
import { parseSort, type Sort } from './sort.ts';

/** The decoded pairs of a query string, in order. Names may repeat. */
export type QueryEntries = readonly (readonly [name: string, value: string])[];

/** A parsed list request with its defaults. */
export interface ListQuery {
  /** 1-indexed. */
  readonly page: number;
  readonly limit: number;
  /** The number of documents before the page; at most 2^31 − 1. */
  readonly skip: number;
  /** Set for cursor pagination; '' is the first page. */
  readonly cursor: string | undefined;
  readonly sort: Sort;
  readonly includeDeleted: boolean;
  readonly count: boolean;
  /** Paths to return; `undefined` is all. */
  readonly fields: readonly string[] | undefined;
  /** False omits the system fields except `_id`; `rev` adds the revision. */
  readonly meta: boolean | 'rev';
  /** Paths of `Ref` fields to populate. */
  readonly populate: readonly string[];
  /** Everything that is not a reserved parameter. */
  readonly filters: QueryEntries;
  /** A condition as JSON. */
  readonly where: unknown;
  readonly search: Search | undefined;
  /** Sort by relevance: a search without another sort. */
  readonly bestFirst: boolean;
}

const reserved: ReadonlySet<string> = new Set([
  'page',
  'limit',
  'skip',
  'sort',
  'cursor',
  'include_deleted',
  'fields',
  'populate',
  'expand',
  'count',
  'meta',
  'where',
  'query',
  'search',
]);

/** For the text of `where` in the address. */
const maxSentWhere = 8 * 1024;

const maxLimit = 1000;
const maxSkip = 2 ** 31 - 1;
const maxPopulated = 5;
/** MongoDB's work on them grows with their square. */
const maxFields = 1000;

const wholeNumber = (name: string, text: string | undefined, least: number, fallback: number): number => {
  if (text === undefined) return fallback;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least)) {
    const kind = least === 0 ? 'a whole number' : 'a positive whole number';
    throw new AppError('INVALID_QUERY', `${name} must be ${kind}, not "${shown(text)}".`);
  }
  return value;
};

/** The same. Throws 400 `NUMBER_NOT_EXACT` for a number that would be rounded. */
const exactNumber = (name: string, text: string | undefined, least: number, fallback: number): number =>
  requireExact(name, wholeNumber(name, text, least, fallback), text ?? '');

const flag = (name: string, text: string | undefined, fallback: boolean, kinds = ' or false'): boolean => {
  if (text === undefined) return fallback;
  if (text !== 'true' && text !== 'false') {
    throw new AppError('INVALID_QUERY', `${name} must be true${kinds}, not "${shown(text)}".`);
  }
  return text === 'true';
};

const distinctPaths = (name: string, given: readonly string[]): readonly string[] => {
  const list = [...new Set(given)];
  const wrong = list.find((path) => !isFieldPath(path));
  if (wrong !== undefined) {
    throw new AppError('INVALID_QUERY', `${name}: "${shown(wrong)}" is not a field name.`);
  }
  return list;
};

/** The distinct paths of a comma-separated list; none for an empty text. */
const paths = (name: string, text: string | undefined): readonly string[] =>
  text === undefined || text === '' ? [] : distinctPaths(name, text.split(','));

/** The distinct paths of `fields`. Throws 400 `INVALID_QUERY`. */
export const requirePaths = (given: readonly string[]): readonly string[] => {
  const list = distinctPaths('fields', given);
  if (list.length > maxFields) {
    throw new AppError('INVALID_QUERY', `At most ${maxFields} fields can be named; ${list.length} were given.`);
  }
  for (const path of list) {
    const inside = list.find((other) => other.startsWith(`${path}.`));
    if (inside) {
      throw new AppError(
        'INVALID_QUERY',
        `fields: "${shown(path)}" already contains "${shown(inside)}"; name only one of the two.`,
      );
    }
  }
  return list;
};

const projected = (text: string | undefined): readonly string[] | undefined =>
  text === undefined || text === '' ? undefined : requirePaths(text.split(','));

/** The paths of `populate` and its alias `expand` together; at most 5. */
export const parsePopulate = (populate: string | undefined, expand: string | undefined): readonly string[] => {
  const list = [...new Set([...paths('populate', populate), ...paths('expand', expand)])];
  if (list.length > maxPopulated) {
    throw new AppError('INVALID_QUERY', `At most ${maxPopulated} fields can be populated; ${list.length} were given.`);
  }
  return list;
};

/** Reads the list parameters, by name, from their texts. */
export const listQueryOf = (
  given: ReadonlyMap<string, string>,
  rest: Pick<ListQuery, 'filters' | 'where'>,
): ListQuery => {
  const limit = Math.min(wholeNumber('limit', given.get('limit'), 1, 100), maxLimit);
  const offset = exactNumber('skip', given.get('skip'), 0, 0);
  const page = given.has('page') ? exactNumber('page', given.get('page'), 1, 1) : Math.floor(offset / limit) + 1;
  const text = given.get('search');
  const sort = given.get('sort') ?? '';
  if (text !== undefined && sort === '' && given.has('cursor')) {
    throw new AppError('INVALID_QUERY', 'Cursor pagination of a search needs a sort, such as sort=-_id.');
  }
  return {
    page,
    limit,
    skip: Math.min(given.has('page') ? (page - 1) * limit : offset, maxSkip),
    cursor: given.get('cursor'),
    sort: parseSort(sort),
    search: text === undefined ? undefined : parseSearch(text),
    bestFirst: text !== undefined && sort === '',
    includeDeleted: flag('include_deleted', given.get('include_deleted'), false),
    count: flag('count', given.get('count'), false),
    fields: projected(given.get('fields')),
    meta: given.get('meta') === 'rev' ? 'rev' : flag('meta', given.get('meta'), true, ', false or rev'),
    populate: parsePopulate(given.get('populate'), given.get('expand')),
    ...rest,
  };
};

/** Parses the JSON of `where` in an address, whose raw query string is `sent`. */
export const parseSentWhere = (text: string, sent: string): unknown => {
  const isLong = (part: string) => part.length - part.indexOf('=') > maxSentWhere + 1;
  if (
    sent.length > maxSentWhere &&
    sent.split('&').some((part) => isLong(part) && new URLSearchParams(part).has('where'))
  ) {
    throw invalidFilter(
      'where',
      'it is longer than 8 KiB as encoded in the address. Send it as the body of POST …/query, which takes 64 KiB.',
    );
  }
  try {
    return parseJsonValue(text);
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause;
    const hint = cause.code === 'INVALID_JSON' ? ' Percent-encode its JSON in the address.' : '';
    throw invalidFilter('where', cause.message.replace('The body', 'it') + hint);
  }
};

/**
 * Parses the parameters of a list request; `sent` is their text in the address. Throws 400 `INVALID_QUERY` for a
 * reserved parameter that is repeated or invalid. Everything else becomes a filter (contract 2, "List", "Reserved
 * parameters").
 */
export const parseListQuery = (entries: QueryEntries, sent = ''): ListQuery => {
  const given = valuesByName(entries.filter(([entry]) => reserved.has(entry)));
  if (given.has('query')) {
    throw new AppError(
      'INVALID_QUERY',
      'query is a reserved name. To filter a field of this name, use query_eq or where.',
    );
  }
  const where = given.get('where');
  return listQueryOf(given, {
    filters: entries.filter(([entry]) => !reserved.has(entry)),
    where: where === undefined ? undefined : parseSentWhere(where, sent),
  });
};

type Read = (value: unknown) => string | undefined;

const numberText: Read = (value) => (typeof value === 'number' ? String(value) : undefined);
const flagText: Read = (value) => (typeof value === 'boolean' ? String(value) : undefined);
const plainText: Read = (value) => (typeof value === 'string' ? value : undefined);
const listText: Read = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === 'string') ? value.join(',') : plainText(value);

/** The members of a body other than `where`: a description, and their text as a list parameter. */
const members: ReadonlyMap<string, readonly [described: string, read: Read]> = new Map([
  ['sort', ['a list of texts or one text', listText]],
  ['fields', ['a list of texts or one text', listText]],
  ['populate', ['a list of texts or one text', listText]],
  ['limit', ['a number', numberText]],
  ['page', ['a number', numberText]],
  ['skip', ['a number', numberText]],
  ['cursor', ['a text', plainText]],
  ['search', ['a text', plainText]],
  ['count', ['true or false', flagText]],
  ['include_deleted', ['true or false', flagText]],
  ['meta', ['true, false or rev', (value) => flagText(value) ?? (value === 'rev' ? value : undefined)]],
]);

const bodyError = (code: 'INVALID_BODY' | 'INVALID_QUERY', field: string, message: string): AppError =>
  new AppError(code, message, { errors: [{ field, message }] });

/** The query of `POST …/query`. Throws 400 `INVALID_BODY` or `INVALID_QUERY`. */
export const parseQueryBody = ({ where, ...body }: JsonObject): ListQuery => {
  const given = new Map<string, string>();
  for (const [name, value] of Object.entries(body)) {
    const [described, read] = members.get(name) ?? [];
    if (!read) {
      const known = ['where', ...members.keys()].join(', ');
      throw bodyError(
        'INVALID_BODY',
        cutText(name, 64),
        `"${cutText(name, 64)}" is not known. A query takes ${known}.`,
      );
    }
    const parameter = read(value);
    if (parameter === undefined) throw bodyError('INVALID_QUERY', name, `${name} must be ${described}.`);
    given.set(name, parameter);
  }
  return listQueryOf(given, { filters: [], where });
};
