import { randomUUID } from 'node:crypto';
import { addressKeyOf } from '../../accounts/email-tokens/email-token.ts';
import { clock, nowSeconds } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { newCall, take } from '../../table/counter.ts';
import { write } from '../../table/item.ts';
import { developerScope, itemKey } from '../../table/item-key.ts';
import * as kinds from '../../table/keys.ts';
import { ownerKeyOf } from '../../table/owner-key.ts';
import { dayAt, expiryOf, secondsLeft } from '../../table/windows.ts';

const cooldownSeconds = 60;
const maxPerDay = 100;

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
    // The SDK repeats a write whose response was lost; the condition accepts the item that the first one wrote.
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
 * Enforces the limits on invitation mails: one per address and minute, whoever sends it, and 100 per developer and day,
 * whichever account they have with their address. Over either → 429 `RATE_LIMITED`; each is decided by one conditional
 * write.
 */
export const countInvitation = async (inviterEmail: string, email: string): Promise<void> => {
  const now = clock.now();
  const day = dayAt(now);
  await holdAddress(email);
  const { taken } = await take({
    call: newCall(),
    tallies: [
      {
        key: itemKey(kinds.invitations, developerScope, { ownerKey: ownerKeyOf(inviterEmail), day: day.name }),
        expiresAt: expiryOf(day),
        counts: [{ name: 'sent', weight: 1, limit: maxPerDay }],
      },
    ],
  });
  if (taken) return;
  throw new AppError('RATE_LIMITED', `You have sent ${maxPerDay} invitations today. Try again tomorrow.`, {
    retryAfter: secondsLeft(day, now),
  });
};
