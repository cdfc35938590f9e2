import { clock } from '../../core/clock.ts';

const hourMs = 3600_000;

/** When a project is looked through next: a little less than a day, so that an hourly schedule keeps to the day. */
export const nextPurge = (): Date => new Date(clock.now() + 23 * hourMs);

/** A purge that was queued or begun, and has not ended by then, is queued again. */
export const purgeLease = (): Date => new Date(clock.now() + hourMs);
