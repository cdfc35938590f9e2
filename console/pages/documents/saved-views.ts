import { useKept } from '../../ui/kept.ts';
import { type Address, queryText } from './list-address.ts';

/** A filter, a sort and the columns under a name. */
export interface SavedView {
  readonly name: string;
  /** What it puts into the address. */
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

/** The views of a collection that this browser keeps. */
export const useSavedViews = (projectId: string, collectionName: string) =>
  useKept(`views:${projectId}/${collectionName}`, parse);

/** What a view of the present list keeps: neither the page nor what is open. */
export const viewQuery = (query: Address, columns: string): string =>
  new URLSearchParams([...new URLSearchParams(queryText(query)), ['columns', columns]]).toString();
