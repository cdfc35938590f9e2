import type { Query } from '../../api/rows.ts';
import { pageOf } from '../../ui/page-size.ts';

/** What an address says, by parameter. */
export type Address = Readonly<Record<string, string>>;

/** Parameters that are the page's own and not the list's. */
const own: ReadonlySet<string> = new Set(['open', 'new', 'copy', 'tab', 'columns']);

/** The list that an address asks for: whatever it says but the page's own. */
const asked = (query: Address): Address => Object.fromEntries(Object.entries(query).filter(([name]) => !own.has(name)));

export const listQuery = (query: Address): Query => ({ limit: pageOf(query).size, ...asked(query) });

/** Filter and sort of an address, as people type them: `views_gte=5&sort=-views`. */
export const queryText = (query: Address): string =>
  Object.entries(asked(query))
    .filter(([name]) => name !== 'page')
    .map((pair) => pair.map((text) => text.replace(/[%&+#=]/g, encodeURIComponent)).join('='))
    .join('&');

/** Which parameters an address gets by a text that was typed; those that it had and the text lacks go. */
export const typedQuery = (query: Address, text: string): Readonly<Record<string, string | undefined>> => ({
  ...Object.fromEntries(Object.keys(asked(query)).map((name) => [name, undefined])),
  ...Object.fromEntries(
    [...new URLSearchParams(text.replace(/^\?/, ''))].filter(([name]) => name !== '' && !own.has(name)),
  ),
});

const suffixes = [
  'ne',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'contains',
  'startsWith',
  'endsWith',
  'regex',
  'exists',
] as const;
export const operators = ['eq', ...suffixes] as const;
export type Operator = (typeof operators)[number];

/** One condition of a list, as it stands in the address: `views_gte=5`. */
export interface Condition {
  readonly parameter: string;
  readonly field: string;
  readonly operator: Operator;
  readonly value: string;
}

const reserved: ReadonlySet<string> = new Set([
  ...own,
  ...'page limit skip sort cursor include_deleted fields populate expand count meta where search query'.split(' '),
]);

/** The conditions of an address, in its order. A field that is itself named like `price_gte` is just a field. */
export const conditionsOf = (query: Address, isField: (path: string) => boolean = () => false): readonly Condition[] =>
  Object.entries(query).flatMap(([parameter, value]): Condition[] => {
    if (reserved.has(parameter)) return [];
    const [, field = parameter, suffix = 'eq'] = /^(.+)_([a-zA-Z]+)$/.exec(parameter) ?? [];
    const operator = isField(parameter) ? undefined : operators.find((one) => one === suffix);
    return [operator ? { parameter, field, operator, value } : { parameter, field: parameter, operator: 'eq', value }];
  });

/** The parameter of a condition. */
export const parameterOf = (field: string, operator: Operator): string => `${field}_${operator}`;
