import { type Document, type Filter, MinKey } from 'mongodb';
import { clock, dayMs } from '../core/clock.ts';
import type { Collection } from './collection.ts';

/** Documents without system fields are active. */
export const isTrashed = (document: Document): boolean => document.isDeleted === true;

export const isActive: Filter<Document> = { isDeleted: { $ne: true } };

/** Excludes tombstones, which a changes feed leaves for deleted documents. */
export const isNotGone: Filter<Document> = { _gone: { $exists: false } };

export const isTombstone: Filter<Document> = { _gone: { $exists: true } };

export const isGone = ({ feed }: Pick<Collection, 'feed'>, { _gone }: Document): boolean =>
  Boolean(feed) && typeof _gone === 'boolean';

/**
 * What reads return: no tombstones, and trash only on request. Collections that never had a feed have no tombstones.
 */
export const shownIn = ({ feed }: Pick<Collection, 'feed'>, includeDeleted: boolean): Filter<Document> | undefined => {
  if (!includeDeleted) return isActive;
  return feed ? isNotGone : undefined;
};

/** `shownIn` for a document in memory. */
export const isShownIn = (collection: Pick<Collection, 'feed'>, includeDeleted: boolean, document: Document): boolean =>
  (includeDeleted || !isTrashed(document)) && !isGone(collection, document);

/**
 * The conditions below contain a range of `deletedAt`, because the partial index of the trash needs it beside
 * `isDeleted: true`.
 */

export const isInTrash: Filter<Document> = { isDeleted: true, deletedAt: { $gte: new MinKey() } };

export const trashedBy = (date: Date): Filter<Document> => ({ isDeleted: true, deletedAt: { $lte: date } });

/**
 * Excludes documents trashed later, so that only what the caller saw is affected. Includes documents without a date.
 */
export const notTrashedAfter = (date: Date): Filter<Document> => ({
  isDeleted: true,
  deletedAt: { $not: { $gt: date } },
});

/** How long trashed documents and tombstones are kept. */
export const trashMs = 30 * dayMs;

export const trashEnd = (): Date => new Date(clock.now() - trashMs);

/** Days until removal, rounded up; `null` if unknown. */
export const daysLeft = (deletedAt: unknown): number | null =>
  deletedAt instanceof Date ? Math.max(0, Math.ceil((deletedAt.getTime() + trashMs - clock.now()) / dayMs)) : null;
