const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** Before each try of a delivery but the first, which is at once. */
const waits: readonly number[] = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour];

/** How often an event is tried. */
export const maxTries = waits.length + 1;

/** Whatever a receiver asks for, none waits longer. */
const maxWaitMs = 24 * hour;

/**
 * Milliseconds until the next try after so many failed, from 1; a receiver can ask for more, in seconds. What is newer
 * than the thing's earlier failures waits as long as the last of them.
 */
export const waitAfter = (tries: number, retryAfter = 0): number =>
  Math.max(waits[Math.min(tries, waits.length) - 1] ?? 0, Math.min(retryAfter * second, maxWaitMs));

/** After so long without a success a webhook is switched off. */
export const failureLimitMs = 5 * 24 * hour;

/** An answer that takes longer makes its receiver a slow one. */
export const slowMs = 5 * second;
