import { hash, randomBytes } from 'node:crypto';
import { nowSeconds } from '../../core/clock.ts';
import { write } from '../../table/item.ts';
import { itemKey } from '../../table/item-key.ts';
import * as kinds from '../../table/keys.ts';
import { consumeItem } from '../../table/single-use.ts';
import type { SessionScope } from '../sessions.ts';

/** How long somebody may take with their authenticator. */
export const challengeSeconds = 300;

const challengeKey = (scope: SessionScope, challenge: string) =>
  itemKey(kinds.challenge, scope, { hash: hash('sha256', challenge, 'base64url') });

/** A new challenge of 256 bits, as base64url, for an authenticator to sign: of `userId`, who adds a passkey, or of a sign-in. */
export const issueChallenge = async (scope: SessionScope, userId?: string): Promise<string> => {
  const challenge = randomBytes(32).toString('base64url');
  const expiresAt = nowSeconds() + challengeSeconds;
  await write({ put: { ...challengeKey(scope, challenge), ...(userId !== undefined && { userId }), expiresAt } });
  return challenge;
};

/** Uses up a challenge of whom it was issued to: true for one of any number of parallel callers. */
export const consumeChallenge = async (scope: SessionScope, challenge: string, userId?: string): Promise<boolean> => {
  const whose = userId === undefined ? 'attribute_not_exists(userId)' : 'userId = :userId';
  const used = await consumeItem({
    key: challengeKey(scope, challenge),
    condition: `${whose} AND expiresAt > :now`,
    values: { now: nowSeconds(), ...(userId !== undefined && { userId }) },
  });
  return used !== undefined;
};
