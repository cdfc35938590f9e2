import type { Query } from '../../api/rows.ts';

/** Parameters that are the page's own and not the list's. */
const own: ReadonlySet<string> = new Set(['open', 'columns']);

/** How many documents a page of the table has. */
export const pageSize = 50;

/** The list that an address asks for: whatever it says but the page's own. */
export const listQuery = (query: Readonly<Record<string, string>>): Query => ({
  limit: pageSize,
  ...Object.fromEntries(Object.entries(query).filter(([name]) => !own.has(name))),
});

const suffixes = ['ne', 'gt', 'gte', 'lt', 'lte', 'in', 'regex', 'exists'] as const;
export const operators = ['eq', ...suffixes] as const;
export type Operator = (typeof operators)[number];

/** One condition of a list, as it stands in the address: `views_gte=5`. */
export interface Condition {
  readonly parameter: string;
  readonly field: string;
  readonly operator: Operator;
  readonly value: string;
}

const reserved: ReadonlySet<string> = new Set(
  'page limit skip sort cursor include_deleted fields populate expand count meta open columns'.split(' '),
);

/** The conditions of an address, in its order. */
export const conditionsOf = (query: Readonly<Record<string, string>>): readonly Condition[] =>
  Object.entries(query).flatMap(([parameter, value]) => {
    if (reserved.has(parameter)) return [];
    const [, field = parameter, suffix = 'eq'] = /^(.+)_([a-z]+)$/.exec(parameter) ?? [];
    const operator = operators.find((one) => one === suffix);
    return [operator ? { parameter, field, operator, value } : { parameter, field: parameter, operator: 'eq', value }];
  });

/** The parameter of a condition. */
export const parameterOf = (field: string, operator: Operator): string => `${field}_${operator}`;
