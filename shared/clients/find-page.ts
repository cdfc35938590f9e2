import type { Document, Filter, FindOptions } from 'mongodb';
import type { Page, PageRequest } from '../core/page.ts';
import { findRaw } from './find-raw.ts';
import { deserialize } from './raw-documents.ts';
import type { Records } from './records.ts';

/**
 * A page of the records that match, and how many there are: a page that is not full tells by itself, and is mostly the
 * only one.
 */
export const findPage = async <R extends Document>(
  records: Records<R>,
  filter: Filter<R>,
  { page, limit }: PageRequest,
  order: Pick<FindOptions, 'sort' | 'projection'>,
  count = () => records.countDocuments(filter),
): Promise<Page<R>> => {
  const skip = (page - 1) * limit;
  const items = await records.on(async ({ collectionName }, db) => {
    const found: R[] = [];
    const raw = findRaw(db, collectionName, filter as Filter<Document>, { ...order, skip, limit, maxTimeMS: 5000 });
    for await (const batch of raw) found.push(...batch.map((record) => deserialize(record) as R));
    return found;
  });
  const isLast = items.length < limit && (items.length > 0 || page === 1);
  return { items, total: isLast ? skip + items.length : await count(), page, limit };
};
