/** How often the queue hands a task out before the message goes to the dead-letter queue. */
export const workTries = 5;

/** The longest that one run of a task may take; what is left then is queued anew. */
export const workMinutes = 5;

/** Visibility timeout of the queue in seconds; longer than any run of the function. */
export const workVisibilitySeconds = 15 * 60;

/** How long something waits that failed, in any unit of time. */
export interface Backoff {
  readonly first: number;
  /** How many times longer it is each time. */
  readonly times: number;
  readonly most: number;
}

/** How long it waits that has failed so often, from 1. */
export const delayAfter = ({ first, times, most }: Backoff, failures: number): number =>
  Math.min(most, first * times ** (failures - 1));

/** Seconds until the next try after the `tries`-th one failed: 30 s, then three times as long each time. */
export const workRetryDelay = (tries: number): number => delayAfter({ first: 30, times: 3, most: 3600 }, tries);
