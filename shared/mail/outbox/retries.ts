import { clock } from '../../core/clock.ts';
import { mailSettings } from '../../core/config.ts';
import { delayAfter } from '../../work/retries.ts';

/** Parallel runs: the provider accepts few mails a second, and SQS allows no fewer than two. */
export const mailRuns = 2;

/** How often the queue hands a mail out before the message goes to the dead-letter queue. */
export const mailTries = 8;

/** Visibility timeout of the queue in seconds; longer than any run of the function. */
export const mailVisibilitySeconds = 180;

/** The longest that SQS lets a message wait. */
const maxDelaySeconds = 12 * 3600;

/** A message that is this late counts as lost. */
const patienceMs = 15 * 60_000;

/**
 * Seconds until the next try after the `tries`-th one failed: three times as long each time (by default 10 s, 30 s, … 2
 * h), up to half as much again by chance so that mails do not come back together, and never less than the provider
 * asked for.
 */
export const retryDelay = (tries: number, askedFor = 0): number => {
  const first = mailSettings().MAIL_RETRY_SECONDS * (1 + Math.random() / 2);
  const planned = delayAfter({ first, times: 3, most: maxDelaySeconds }, tries);
  return Math.min(maxDelaySeconds, Math.ceil(Math.max(planned, askedFor)));
};

/** When a mail counts as lost that the queue should hand out in `seconds`. */
export const whenLost = (seconds: number): Date => new Date(clock.now() + seconds * 1000 + patienceMs);
