import { randomUUID } from 'node:crypto';
import { addressKeyOf } from '../../accounts/email-tokens/email-token.ts';
import { clock, nowSeconds } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { tallyIn } from '../../table/count-writes.ts';
import { newCall, take } from '../../table/counter.ts';
import { write } from '../../table/item.ts';
import { developerScope, itemKey, type Key } from '../../table/item-key.ts';
import * as kinds from '../../table/keys.ts';
import { ownerKeyOf } from '../../table/owner-key.ts';
import { dayAt, secondsLeft } from '../../table/windows.ts';

const cooldownSeconds = 60;
const maxPerDay = 100;

/**
 * Mails with words of developers' choice that the service sends a day (UTC) from its own address: its reputation, and
 * the pace of everybody's other mails, shall not hang on how many accounts somebody opens.
 */
export const serviceMailsPerDay = 2000;

const holdAddress = async (email: string): Promise<void> => {
  const now = nowSeconds();
  const call = randomUUID();
  const { done } = await write({
    put: {
      ...itemKey(kinds.invited, developerScope, { addressKey: addressKeyOf(email) }),
      issuedAt: now,
      expiresAt: now + cooldownSeconds,
      call,
    },
    // The client repeats a write whose response was lost; the condition accepts the item that the first one wrote.
    condition: 'attribute_not_exists(pk) OR issuedAt <= :earlier OR #call = :call',
    values: { earlier: now - cooldownSeconds, call },
  });
  if (done) return;
  throw new AppError(
    'RATE_LIMITED',
    'This address was sent an invitation less than a minute ago. Try again in a minute.',
    { retryAfter: cooldownSeconds },
  );
};

/** Counts one of today (UTC), by one conditional write; the day is full → 429 `RATE_LIMITED`. */
const countToday = async (keyOf: (day: string) => Key, limit: number, refusal: string): Promise<void> => {
  const now = clock.now();
  const day = dayAt(now);
  const sent = { name: 'sent', weight: 1, limit };
  const { taken } = await take({ call: newCall(), tallies: [tallyIn(day, keyOf(day.name), sent)] });
  if (!taken) throw new AppError('RATE_LIMITED', refusal, { retryAfter: secondsLeft(day, now) });
};

/**
 * One invitation mail per address and minute, whoever sends it, and 100 per developer and day, whichever account they
 * have with their address. Over either → 429 `RATE_LIMITED`, by one conditional write each.
 */
export const countInvitation = async (inviterEmail: string, email: string): Promise<void> => {
  await holdAddress(email);
  const keyOf = (day: string): Key =>
    itemKey(kinds.invitations, developerScope, { ownerKey: ownerKeyOf(inviterEmail), day });
  await countToday(keyOf, maxPerDay, `You have sent ${maxPerDay} invitations today. Try again tomorrow.`);
};

/** The key of what counts the service's mails of a day, `yyyy-mm-dd`. */
export const serviceMailsKey = (day: string): Key => itemKey(kinds.serviceMails, developerScope, { day });

/** Counts a mail with words of developers' choice, by one conditional write; the day is full → 429 `RATE_LIMITED`. */
export const countServiceMail = (): Promise<void> =>
  countToday(
    serviceMailsKey,
    serviceMailsPerDay,
    'This service has sent all the invitations of a day. Try again tomorrow (UTC).',
  );
