import type { Query } from '../../api/rows.ts';
import { pageOf } from '../../ui/page-size.ts';
import { type Address, own } from './filter-parameters.ts';

/** The parameters of the list, without those of the page. */
const asked = (query: Address): Address => Object.fromEntries(Object.entries(query).filter(([name]) => !own.has(name)));

/** `viewer`: whose view is shown; `undefined` for the secret key. */
export const listQuery = (query: Address, viewer: string | undefined): Query => ({
  limit: pageOf(query).size,
  ...asked(query),
  view_as: viewer,
});

/** Filter and sort of an address as text: `views_gte=5&sort=-views`. */
export const queryText = (query: Address): string =>
  Object.entries(asked(query))
    .filter(([name]) => name !== 'page')
    .map((pair) => pair.map((text) => text.replace(/[%&+#=]/g, encodeURIComponent)).join('='))
    .join('&');

/** The address parameters for a typed text. Parameters that the text lacks are removed. */
export const typedQuery = (query: Address, text: string): Readonly<Record<string, string | undefined>> => ({
  ...Object.fromEntries(Object.keys(asked(query)).map((name) => [name, undefined])),
  ...Object.fromEntries(
    [...new URLSearchParams(text.replace(/^\?/, ''))].filter(([name]) => name !== '' && !own.has(name)),
  ),
});
