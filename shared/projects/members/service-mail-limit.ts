import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import type { Tally } from '../../table/count-writes.ts';
import { newCall, take } from '../../table/counter.ts';
import { developerScope, itemKey } from '../../table/item-key.ts';
import * as kinds from '../../table/keys.ts';
import { dayAt, expiryOf, secondsLeft } from '../../table/windows.ts';

/**
 * How many mails with words of developers' choice, such as the name of a project, the service sends a day (UTC) from
 * its own address: what it is known for, and the pace of everybody's other mails, shall not hang on how many accounts
 * somebody opens.
 */
export const serviceMailsPerDay = 2000;

/** What counts the mails of a moment's day. */
export const serviceMailTally = (now: number, weight = 1): Tally => {
  const day = dayAt(now);
  return {
    key: itemKey(kinds.serviceMails, developerScope, { day: day.name }),
    expiresAt: expiryOf(day),
    counts: [{ name: 'sent', weight, limit: serviceMailsPerDay }],
  };
};

/** Counts such a mail, by one conditional write; the day is full → 429 `RATE_LIMITED`. */
export const countServiceMail = async (): Promise<void> => {
  const now = clock.now();
  const { taken } = await take({ call: newCall(), tallies: [serviceMailTally(now)] });
  if (taken) return;
  throw new AppError('RATE_LIMITED', 'This service has sent all the invitations of a day. Try again tomorrow (UTC).', {
    retryAfter: secondsLeft(dayAt(now), now),
  });
};
