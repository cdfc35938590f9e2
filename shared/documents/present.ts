import type { Document } from './document.ts';

/**
 * A stored document as callers see it: one without system fields (own database, imported) is active, so it shows
 * `isDeleted: false` and `deletedAt: null` (contract 2, "Active").
 */
export const present = (document: Document): Document => {
  const { isDeleted, deletedAt } = document;
  if (isDeleted !== undefined && deletedAt !== undefined) return document;
  return { ...document, isDeleted: isDeleted ?? false, deletedAt: deletedAt ?? null };
};

/** True for a document in the trash; everything else is active. */
export const isTrashed = (document: Document): boolean => document.isDeleted === true;
