import { ObjectId } from 'mongodb';
import { onControl } from '../../../clients/mongo.ts';
import { clock } from '../../../core/clock.ts';
import type { Page, PageRequest } from '../../../core/page.ts';
import { type TokenRecord, type TokenView, toTokenView } from './token-record.ts';

/** A page of a developer's personal access tokens that have not expired, newest first. */
export const listTokens = async (developerId: string, { page, limit }: PageRequest): Promise<Page<TokenView>> => {
  const filter = { developerId: new ObjectId(developerId), expiresAt: { $gt: new Date(clock.now()) } };
  const [records, total] = await onControl((db) => {
    const tokens = db.collection<TokenRecord>('personalTokens');
    return Promise.all([
      tokens.find(filter, { sort: { _id: -1 }, skip: (page - 1) * limit, limit, maxTimeMS: 5000 }).toArray(),
      tokens.countDocuments(filter, { maxTimeMS: 5000 }),
    ]);
  });
  return { items: records.map(toTokenView), total, page, limit };
};
