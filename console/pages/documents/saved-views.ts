import type { Collection } from '../../../shared/collections/collection.ts';
import { useKept } from '../../ui/kept.ts';
import { type Address, suffixFilters } from './filter-parameters.ts';
import { changesFor, partsOf } from './filter-parts.ts';
import { queryText } from './list-address.ts';

/** A named filter, sort and set of columns. */
export interface SavedView {
  readonly name: string;
  /** The address parameters. */
  readonly query: string;
}

const isView = (value: unknown): value is SavedView =>
  typeof value === 'object' &&
  value !== null &&
  'name' in value &&
  typeof value.name === 'string' &&
  'query' in value &&
  typeof value.query === 'string';

const parse = (kept: unknown): readonly SavedView[] => (Array.isArray(kept) ? kept.filter(isView) : []);

/** Converts the filters of an older view to `where`. */
const withWhere = (collection: Collection, query: Address): Address => {
  if (suffixFilters(query).length === 0) return query;
  const changed = { ...query, ...changesFor(query, partsOf(collection, query)) };
  return Object.fromEntries(
    Object.entries(changed).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
  );
};

/** The saved views of a collection in this browser. */
export const useSavedViews = (projectId: string, collection: Collection) => {
  const [kept, keep] = useKept(`views:${projectId}/${collection.name}`, parse);
  const views = kept.map(({ name, query }) => {
    const { columns = '', ...rest } = Object.fromEntries(new URLSearchParams(query));
    return { name, query: viewQuery(collection, rest, columns) };
  });
  return [views, keep] as const;
};

/** The parameters that a view saves: without the page and the open document. */
export const viewQuery = (collection: Collection, query: Address, columns: string): string => {
  const asked = new URLSearchParams(queryText(withWhere(collection, query)));
  return new URLSearchParams([...asked, ['columns', columns]]).toString();
};
