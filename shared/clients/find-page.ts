import type { Collection, Document, Filter, FindOptions } from 'mongodb';
import type { Page, PageRequest } from '../core/page.ts';

/**
 * A page of the records that match, and how many there are: a page that is not full tells by itself, and is mostly the
 * only one.
 */
export const findPage = async <R extends Document>(
  on: <T>(operation: (records: Collection<R>) => Promise<T>) => Promise<T>,
  filter: Filter<R>,
  { page, limit }: PageRequest,
  order: Pick<FindOptions, 'sort' | 'projection'>,
  count = () => on((records) => records.countDocuments(filter, { maxTimeMS: 5000 })),
): Promise<Page<R>> => {
  const skip = (page - 1) * limit;
  const items = await on((records) => records.find<R>(filter, { ...order, skip, limit, maxTimeMS: 5000 }).toArray());
  const isLast = items.length < limit && (items.length > 0 || page === 1);
  return { items, total: isLast ? skip + items.length : await count(), page, limit };
};
