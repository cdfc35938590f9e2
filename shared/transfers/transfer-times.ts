import { clock } from '../core/clock.ts';

const minuteMs = 60_000;
const from = (ms: number): Date => new Date(clock.now() + ms);

/** How long one run works, less than the function may take; what is left then goes on in the next one. */
export const runMs = 3 * minuteMs;

/** Until when a run that begins now has a transfer to itself: by then it has ended, or died. */
export const lease = (): Date => from(6 * minuteMs);

export const whenLost = (): Date => from(2 * minuteMs);

/** Until when an import that was made at `createdAt` waits for its file to be uploaded and started. */
export const uploadExpiry = (createdAt: Date): Date => new Date(createdAt.getTime() + 60 * minuteMs);

export const expiry = (): Date => from(2 * 24 * 60 * minuteMs);

export const linkSeconds = 3600;

export const uploadSeconds = 600;

/** From when on nobody can upload the file of an import that was made at `createdAt`, even one who began in time. */
export const uploadEnd = (createdAt: Date): Date => new Date(createdAt.getTime() + 2 * uploadSeconds * 1000);

/** Runs that may fail one after the other before a transfer is given up. */
export const maxTries = 10;
