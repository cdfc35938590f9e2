import type { SessionScope } from '../sessions.ts';
import { challengeSeconds, issueChallenge } from './challenge.ts';
import type { RelyingParty } from './relying-party.ts';

/**
 * What a browser signs in by, the same for everybody: whoever has a passkey of this site chooses one. It is
 * `PublicKeyCredentialRequestOptionsJSON` of WebAuthn, as far as we use it.
 */
export const startPasskeySignIn = async (scope: SessionScope, { id }: RelyingParty) => ({
  rpId: id,
  challenge: await issueChallenge(scope),
  timeout: challengeSeconds * 1000,
  userVerification: 'required' as const,
});
