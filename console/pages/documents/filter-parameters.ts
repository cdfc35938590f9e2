/** The parameters of an address. */
export type Address = Readonly<Record<string, string>>;

/** Parameters of the page, not of the list. */
export const own: ReadonlySet<string> = new Set(['open', 'new', 'copy', 'tab', 'columns', 'as']);

const reserved: ReadonlySet<string> = new Set([
  ...own,
  ...'page limit skip sort cursor include_deleted fields populate expand count meta where search query'.split(' '),
]);

/** The parameters of an address that are filters: `views_gte=5`. */
export const suffixFilters = (query: Address): readonly (readonly [name: string, text: string])[] =>
  Object.entries(query).filter(([name]) => !reserved.has(name));
