import { type Document, type Filter, MinKey } from 'mongodb';
import { clock, dayMs } from '../core/clock.ts';
import type { Collection } from './collection.ts';
import { sendsMail } from './effects/effect.ts';

/** Documents without system fields are active. */
export const isTrashed = (document: Document): boolean => document.isDeleted === true;

export const isActive: Filter<Document> = { isDeleted: { $ne: true } };

/** Excludes tombstones, which a changes feed leaves for deleted documents. */
export const isNotGone: Filter<Document> = { _gone: { $exists: false } };

export const isTombstone: Filter<Document> = { _gone: { $exists: true } };

type Deleting = Pick<Collection, 'feed' | 'effects'>;

/**
 * Whether a collection can have tombstones: those of a changes feed, and those of permanently deleted documents whose
 * emails are not queued yet.
 */
export const hasTombstones = ({ feed, effects }: Deleting): boolean =>
  Boolean(feed) || (effects !== undefined && sendsMail({ effects }, 'delete'));

export const isGone = (collection: Deleting, { _gone }: Document): boolean =>
  typeof _gone === 'boolean' && hasTombstones(collection);

/** What reads return: no tombstones, and trash only on request. */
export const shownIn = (collection: Deleting, includeDeleted: boolean): Filter<Document> | undefined => {
  if (!includeDeleted) return isActive;
  return hasTombstones(collection) ? isNotGone : undefined;
};

/** `shownIn` for a document in memory. */
export const isShownIn = (collection: Deleting, includeDeleted: boolean, document: Document): boolean =>
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
