/** How often the queue hands a task out before the message goes to the dead-letter queue. */
export const workTries = 5;

/** The longest that one run of a task may take; what is left then is queued anew. */
export const workMinutes = 5;

/** Visibility timeout of the queue in seconds; longer than any run of the function. */
export const workVisibilitySeconds = 15 * 60;

/** Seconds until the next try after the `tries`-th one failed: 30 s, then three times as long each time. */
export const workRetryDelay = (tries: number): number => Math.min(3600, 30 * 3 ** (tries - 1));
