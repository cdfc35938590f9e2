import { randomUUID } from 'node:crypto';
import { addressKeyOf } from '../../accounts/email-tokens/email-token.ts';
import { clock, nowSeconds } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import type { Taking } from '../../table/count-writes.ts';
import { giveBack, takeOne } from '../../table/counter.ts';
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

/** Holds an address for a minute; returns how to let go of it. */
const holdAddress = async (email: string): Promise<() => Promise<unknown>> => {
  const now = nowSeconds();
  const call = randomUUID();
  const key = itemKey(kinds.invited, developerScope, { addressKey: addressKeyOf(email) });
  const { done } = await write({
    put: {
      ...key,
      issuedAt: now,
      expiresAt: now + cooldownSeconds,
      call,
    },
    // The client repeats a write whose response was lost; the condition accepts the item that the first one wrote.
    condition: 'attribute_not_exists(pk) OR issuedAt <= :earlier OR #call = :call',
    values: { earlier: now - cooldownSeconds, call },
  });
  if (done) {
    const change = 'SET issuedAt = :never';
    return () => write({ update: key, change, condition: '#call = :call', values: { never: 0, call } });
  }
  throw new AppError(
    'RATE_LIMITED',
    'This address was sent an invitation less than a minute ago. Try again in a minute.',
    { retryAfter: cooldownSeconds },
  );
};

/** The key of what counts the service's mails of a day, `yyyy-mm-dd`. */
export const serviceMailsKey = (day: string): Key => itemKey(kinds.serviceMails, developerScope, { day });

/** Counts a mail with words of developers' choice, by one conditional write; the day is full → 429 `RATE_LIMITED`. */
export const countServiceMail = async (): Promise<Taking> => {
  const today = dayAt(clock.now());
  const refusal = 'This service has sent all the invitations of a day. Try again tomorrow (UTC).';
  return takeOne(today, serviceMailsKey(today.name), { name: 'sent', limit: serviceMailsPerDay }, refusal);
};

/**
 * One invitation mail per address and minute, whoever sends it, 100 per developer and day, whichever account they have
 * with their address, and `serviceMailsPerDay`. Over any → 429 `RATE_LIMITED`, by one conditional write each. Returns
 * how to give all of it back, for a mail that is not sent.
 */
export const countInvitation = async (inviterEmail: string, email: string): Promise<() => Promise<unknown>> => {
  const letGo = await holdAddress(email);
  const today = dayAt(clock.now());
  const key = itemKey(kinds.invitations, developerScope, { ownerKey: ownerKeyOf(inviterEmail), day: today.name });
  const refusal = `You have sent ${maxPerDay} invitations today. Try again tomorrow.`;
  const ofInviter = await takeOne(today, key, { name: 'sent', limit: maxPerDay }, refusal);
  const ofService = await countServiceMail();
  return () => Promise.all([letGo(), giveBack(ofInviter), giveBack(ofService)]);
};
