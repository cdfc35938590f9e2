import { AppError } from '../../core/errors.ts';
import type { AccountRecord, AccountStore } from '../account-store.ts';
import type { SessionScope } from '../sessions.ts';
import { requireRecentAccount } from '../step-up.ts';
import type { Bearer } from '../tokens.ts';
import { challengeSeconds, issueChallenge, type RelyingParty } from './passkey.ts';

// What begins a ceremony verifies nothing, so it is bundled without the package that does.

/** Of one account. */
export const maxPasskeys = 20;

/** More of them → 403 `LIMIT_REACHED`. */
export const requireRoom = ({ _signIn }: AccountRecord): void => {
  if ((_signIn?.passkeys ?? []).length < maxPasskeys) return;
  throw new AppError('LIMIT_REACHED', `An account has at most ${maxPasskeys} passkeys. Delete one first.`);
};

/** Ed25519, P-256 and RSA with SHA-256, one of which every authenticator has; by their COSE numbers. */
export const algorithms: readonly number[] = [-8, -7, -257];

const type = 'public-key';

/**
 * What a browser makes a passkey of, for who has just signed in: one that names its user, and verifies them each time
 * (contract 3, "Passkeys"): `PublicKeyCredentialCreationOptionsJSON` of WebAuthn, as far as we use it. 20 of them
 * already → 403 `LIMIT_REACHED`.
 */
export const startRegistration = async (store: AccountStore, { id, name }: RelyingParty, bearer: Bearer) => {
  const account = await requireRecentAccount(store, bearer);
  requireRoom(account);
  const userName = account.email ?? bearer.userId;
  return {
    rp: { id, name },
    user: { id: Buffer.from(bearer.userId, 'hex').toString('base64url'), name: userName, displayName: userName },
    challenge: await issueChallenge(store.scope, bearer.userId),
    pubKeyCredParams: algorithms.map((alg) => ({ type, alg }) as const),
    timeout: challengeSeconds * 1000,
    excludeCredentials: (account._signIn?.passkeys ?? []).map(({ id }) => ({ type, id }) as const),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    attestation: 'none',
  } as const;
};

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
