import type { Collection, Field } from '../collection.ts';
import { schemaError } from './schema-error.ts';

/** Languages whose words a search knows in their forms; with `none` every word is just itself. */
export const searchLanguages = [
  ...(['none', 'danish', 'dutch', 'english', 'finnish', 'french', 'german', 'hungarian', 'italian'] as const),
  ...(['norwegian', 'portuguese', 'romanian', 'russian', 'spanish', 'swedish', 'turkish'] as const),
] as const;

export type SearchLanguage = (typeof searchLanguages)[number];

const maxFields = 10;

/** What MongoDB calls parts of a text index itself. */
const taken: ReadonlySet<string> = new Set(['_fts', '_ftsx']);

/** The fields that a search goes through. */
export const searchableFields = ({ schema }: Pick<Collection, 'schema'>): readonly Field[] =>
  schema?.filter(({ searchable }) => searchable) ?? [];

/** Refuses fields that no search can go through, and more than 10: 400 `INVALID_SCHEMA`. */
export const requireSearchable = (fields: readonly Field[]): void => {
  const searchable = searchableFields({ schema: fields });
  for (const { key, type, items } of searchable) {
    if (taken.has(key)) throw schemaError(key, 'has a name that no searchable field may have');
    if (type === 'String' || (type === 'Array' && items?.type === 'String')) continue;
    throw schemaError(key, 'is searchable, which only a String or an Array of String may be');
  }
  if (searchable.length <= maxFields) return;
  throw schemaError('schema', `has more than ${maxFields} searchable fields`);
};
