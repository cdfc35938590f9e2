import { nowSeconds } from '../../core/clock.ts';
import { write } from '../../table/item.ts';
import { type EmailTokenKind, hashCode, newCode, newLinkToken, parseCode, parseLinkToken } from './email-token.ts';
import { placeName, type TokenItem, type TokenPlace, tokenItemKey } from './token-item.ts';

/** The token and the code of a new mail; both are stored as hashes only. */
export interface IssuedTokens {
  readonly token: string;
  readonly code: string;
  /** False within a minute of the previous mail, which then stays valid; these are not stored. */
  readonly isGood: boolean;
}

/** How long a link is good, in seconds. */
const tokenSeconds: Readonly<Record<EmailTokenKind, number>> = { verify: 24 * 3600, reset: 3600 };

/** How long a code is good, in seconds. */
export const codeSeconds = 600;

const cooldownSeconds = 60;

/**
 * Creates the token and the code of a mail, replacing those of an earlier mail unless it is less than a minute old. For
 * an address without an account (`userId` missing) it does the same work, and does not delay a later mail.
 */
export const issueTokens = async (
  place: TokenPlace,
  email: string,
  userId: string | undefined,
): Promise<IssuedTokens> => {
  const now = nowSeconds();
  const { token, hash } = newLinkToken(place.addressKey);
  const code = newCode();
  const item: TokenItem = {
    ...tokenItemKey(place),
    email,
    ...(userId !== undefined && { userId }),
    tokenHash: hash,
    codeHash: await hashCode(parseCode(code) ?? '', placeName(place)),
    codeExpiresAt: now + codeSeconds,
    tries: 0,
    issuedAt: now,
    expiresAt: now + tokenSeconds[place.kind],
  };
  const { done } = await write({
    put: item,
    // The client repeats a write whose response was lost; the condition accepts the item that the first one wrote.
    condition: 'attribute_not_exists(userId) OR issuedAt <= :earlier OR tokenHash = :hash',
    values: { earlier: now - cooldownSeconds, hash },
  });
  return { token, code, isGood: done };
};

/**
 * Ends the cooldown, because the mail with this token could not be sent; the cooldown of a later mail is left alone.
 */
export const endCooldown = async (place: TokenPlace, token: string): Promise<void> => {
  const hash = parseLinkToken(token)?.hash ?? '';
  await write({
    update: tokenItemKey(place),
    change: 'SET issuedAt = :never',
    condition: 'tokenHash = :hash',
    values: { never: 0, hash },
  });
};
