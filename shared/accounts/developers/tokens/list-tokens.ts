import { ObjectId } from 'mongodb';
import { findPage } from '../../../clients/find-page.ts';
import { clock } from '../../../core/clock.ts';
import type { Page, PageRequest } from '../../../core/page.ts';
import { onTokens, type TokenView, toTokenView } from './token-record.ts';

/** A page of a developer's personal access tokens that have not expired, newest first. */
export const listTokens = async (developerId: string, request: PageRequest): Promise<Page<TokenView>> => {
  const filter = { developerId: new ObjectId(developerId), expiresAt: { $gt: new Date(clock.now()) } };
  const found = await findPage(onTokens, filter, request, { sort: { _id: -1 } });
  return { ...found, items: found.items.map(toTokenView) };
};
