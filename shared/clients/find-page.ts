import type { Collection, Document, Filter, FindOptions } from 'mongodb';
import type { Page, PageRequest } from '../core/page.ts';

/** A page of the records that match, and how many there are, by two queries at once. */
export const findPage = async <R extends Document>(
  on: <T>(operation: (records: Collection<R>) => Promise<T>) => Promise<T>,
  filter: Filter<R>,
  { page, limit }: PageRequest,
  order: Pick<FindOptions, 'sort' | 'projection'>,
): Promise<Page<R>> => {
  const shown = { ...order, skip: (page - 1) * limit, limit, maxTimeMS: 5000 };
  const [items, total] = await on((records) =>
    Promise.all([records.find<R>(filter, shown).toArray(), records.countDocuments(filter, { maxTimeMS: 5000 })]),
  );
  return { items, total, page, limit };
};
