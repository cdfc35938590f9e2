import { itemKey } from '../../table/item-key.ts';
import * as kinds from '../../table/keys.ts';
import { consumeSecret, issueSecret, type OneTime } from '../one-time-secrets.ts';
import type { SessionScope } from '../sessions.ts';

/** How long somebody may take with their authenticator. */
export const challengeSeconds = 300;

const challenges: OneTime = {
  keyOf: (scope, hash) => itemKey(kinds.challenge, scope, { hash }),
  seconds: challengeSeconds,
};

/**
 * A new challenge of 256 bits, as base64url, for an authenticator to sign: of `userId`, who adds a passkey, or of a
 * sign-in.
 */
export const issueChallenge = (scope: SessionScope, userId?: string): Promise<string> =>
  issueSecret(challenges, scope, { userId });

/** Uses up a challenge of whom it was issued to: true for one of any number of parallel callers. */
export const consumeChallenge = async (scope: SessionScope, challenge: string, userId?: string): Promise<boolean> =>
  (await consumeSecret(challenges, scope, challenge, { userId })) !== undefined;
