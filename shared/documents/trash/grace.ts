import { clock, dayMs } from '../../core/clock.ts';

/** How long a trashed document is kept (specification, "Document lifecycle"). */
const graceDays = 30;

/** Whatever was trashed by then has been kept for long enough. */
export const graceEnd = (): Date => new Date(clock.now() - graceDays * dayMs);

/** Whole days, begun ones included, until a trashed document is removed; `null` where nobody knows. */
export const daysLeft = (deletedAt: unknown): number | null =>
  deletedAt instanceof Date
    ? Math.max(0, Math.ceil((deletedAt.getTime() + graceDays * dayMs - clock.now()) / dayMs))
    : null;
