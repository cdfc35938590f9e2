import type { Document, Filter, FindOptions } from 'mongodb';
import type { Page, PageRequest } from '../core/page.ts';
import type { Records } from './records.ts';

/** Of what an answer can show a page is never so large, and a function has room for it and for its JSON. */
const maxBytes = 16 * 1024 * 1024;

/**
 * A page of the records that match, each as `show` shows it, and how many there are: a page that is not full tells by
 * itself, and is mostly the only one. One that no answer could hold → 400 `RESULT_TOO_LARGE`.
 */
export const findPage = async <R extends Document, T>(
  records: Records<R>,
  filter: Filter<R>,
  { page, limit }: PageRequest,
  order: Pick<FindOptions, 'sort' | 'projection'>,
  show: (record: R) => T | Promise<T>,
  count = () => records.countDocuments(filter),
): Promise<Page<T>> => {
  const skip = (page - 1) * limit;
  const found = await records.find<R>(filter, { ...order, skip, limit, maxBytes });
  const isLast = found.length < limit && (found.length > 0 || page === 1);
  const total = isLast ? skip + found.length : await count();
  return { items: await Promise.all(found.map(show)), total, page, limit };
};
