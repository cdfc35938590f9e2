import { type Document, type Filter, MinKey } from 'mongodb';
import { clock, dayMs } from '../core/clock.ts';
import type { Collection } from './collection.ts';

/** True for a document in the trash; everything else is active, one without system fields too. */
export const isTrashed = (document: Document): boolean => document.isDeleted === true;

/** The condition of active documents. */
export const isActive: Filter<Document> = { isDeleted: { $ne: true } };

/** What is no tombstone: those of a changes feed stand in the place of documents that were deleted for good. */
export const isNotGone: Filter<Document> = { _gone: { $exists: false } };

/** Tombstones alone. */
export const isTombstone: Filter<Document> = { _gone: { $exists: true } };

/** Whether a document of a collection that has, or had, a changes feed is a tombstone. */
export const isGone = ({ feed }: Pick<Collection, 'feed'>, { _gone }: Document): boolean =>
  Boolean(feed) && typeof _gone === 'boolean';

/**
 * What reads show of a collection: no tombstones, which one that never had a feed has not, and no trash unless asked.
 */
export const shownIn = ({ feed }: Pick<Collection, 'feed'>, includeDeleted: boolean): Filter<Document> | undefined => {
  if (!includeDeleted) return isActive;
  return feed ? isNotGone : undefined;
};

/** Whether reads show a document that was already fetched: `shownIn`, decided in code. */
export const isShownIn = (collection: Pick<Collection, 'feed'>, includeDeleted: boolean, document: Document): boolean =>
  (includeDeleted || !isTrashed(document)) && !isGone(collection, document);

/*
 * Each of those below names a range of `deletedAt`, because that and `isDeleted: true` together are what the partial
 * index of the trash serves.
 */

/** Everything in the trash: the lower bound holds for every document. */
export const isInTrash: Filter<Document> = { isDeleted: true, deletedAt: { $gte: new MinKey() } };

/** What was trashed by then. */
export const trashedBy = (date: Date): Filter<Document> => ({ isDeleted: true, deletedAt: { $lte: date } });

/** What was not trashed after that: what somebody saw in the trash, documents without a date included. */
export const notTrashedAfter = (date: Date): Filter<Document> => ({
  isDeleted: true,
  deletedAt: { $not: { $gt: date } },
});

/** How long a trashed document, or a tombstone, is kept (specification, "Document lifecycle"). */
export const graceMs = 30 * dayMs;

/** Whatever was trashed by then has been kept for long enough. */
export const graceEnd = (): Date => new Date(clock.now() - graceMs);

/** Whole days, begun ones included, until a trashed document is removed; `null` where nobody knows. */
export const daysLeft = (deletedAt: unknown): number | null =>
  deletedAt instanceof Date ? Math.max(0, Math.ceil((deletedAt.getTime() + graceMs - clock.now()) / dayMs)) : null;
