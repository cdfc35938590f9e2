import { clock, dayMs } from '../../core/clock.ts';

/** How long a trashed document, or a tombstone, is kept (specification, "Document lifecycle"). */
export const graceMs = 30 * dayMs;

/** Whatever was trashed by then has been kept for long enough. */
export const graceEnd = (): Date => new Date(clock.now() - graceMs);

/** Whole days, begun ones included, until a trashed document is removed; `null` where nobody knows. */
export const daysLeft = (deletedAt: unknown): number | null =>
  deletedAt instanceof Date ? Math.max(0, Math.ceil((deletedAt.getTime() + graceMs - clock.now()) / dayMs)) : null;
