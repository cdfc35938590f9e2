import type { SessionScope } from '../sessions.ts';
import { challengeSeconds, issueChallenge } from './challenge.ts';
import type { RelyingParty } from './relying-party.ts';

/** `PublicKeyCredentialRequestOptionsJSON` of WebAuthn, as far as we use it. */
interface SignInOptions {
  readonly rpId: string;
  readonly challenge: string;
  readonly timeout: number;
  readonly userVerification: 'required';
}

/** What a browser signs in by, the same for everybody: whoever has a passkey of this site chooses one. */
export const startPasskeySignIn = async (scope: SessionScope, { id }: RelyingParty): Promise<SignInOptions> => ({
  rpId: id,
  challenge: await issueChallenge(scope),
  timeout: challengeSeconds * 1000,
  userVerification: 'required',
});
