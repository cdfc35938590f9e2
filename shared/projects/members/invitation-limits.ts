import { randomUUID } from 'node:crypto';
import { addressKeyOf } from '../../accounts/email-tokens/email-token.ts';
import { clock, nowSeconds } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { takeOne } from '../../table/counter.ts';
import { write } from '../../table/item.ts';
import { developerScope, itemKey, type Key } from '../../table/item-key.ts';
import * as kinds from '../../table/keys.ts';
import { ownerKeyOf } from '../../table/owner-key.ts';
import { dayAt } from '../../table/windows.ts';

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

/**
 * One invitation mail per address and minute, whoever sends it, and 100 per developer and day, whichever account they
 * have with their address. Over either → 429 `RATE_LIMITED`, by one conditional write each.
 */
export const countInvitation = async (inviterEmail: string, email: string): Promise<void> => {
  await holdAddress(email);
  const today = dayAt(clock.now());
  const key = itemKey(kinds.invitations, developerScope, { ownerKey: ownerKeyOf(inviterEmail), day: today.name });
  const refusal = `You have sent ${maxPerDay} invitations today. Try again tomorrow.`;
  await takeOne(today, key, { name: 'sent', limit: maxPerDay }, refusal);
};

/** The key of what counts the service's mails of a day, `yyyy-mm-dd`. */
export const serviceMailsKey = (day: string): Key => itemKey(kinds.serviceMails, developerScope, { day });

/** Counts a mail with words of developers' choice, by one conditional write; the day is full → 429 `RATE_LIMITED`. */
export const countServiceMail = async (): Promise<void> => {
  const today = dayAt(clock.now());
  const refusal = 'This service has sent all the invitations of a day. Try again tomorrow (UTC).';
  await takeOne(today, serviceMailsKey(today.name), { name: 'sent', limit: serviceMailsPerDay }, refusal);
};
