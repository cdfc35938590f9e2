import { verifyRegistrationResponse } from '@simplewebauthn/server';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { onDuplicateKey } from '../../core/retry.ts';
import { accountChanges, notifyOfChange } from '../account-mail.ts';
import { type AccountStore, enabled } from '../account-store.ts';
import { unchangedSince } from '../credentials.ts';
import { requireRecentAccount } from '../step-up.ts';
import type { Bearer } from '../tokens.ts';
import { orRefuse, parseRegistration } from './ceremony.ts';
import { consumeChallenge, type Passkey, type PasskeyView, type RelyingParty, toPasskeyView } from './passkey.ts';
import { algorithms, maxPasskeys, requireRoom } from './start.ts';

/** What WebAuthn lets the id of a credential have, and more than a key of these algorithms takes. */
const maxBytes = { id: 1023, key: 1024 };

const invalidPasskey = (cause?: unknown): AppError =>
  new AppError(
    'INVALID_PASSKEY',
    'The passkey could not be verified, is already registered, or took longer than 5 minutes. Request new options.',
    { cause },
  );

/** The credential that was made for a challenge of this user; else 400 `INVALID_PASSKEY`. */
const verified = ({ scope }: AccountStore, party: RelyingParty, userId: string, input: unknown) =>
  orRefuse(invalidPasskey, async () => {
    const { registrationInfo } = await verifyRegistrationResponse({
      ...parseRegistration(input, party),
      expectedChallenge: (challenge) => consumeChallenge(scope, challenge, userId),
      supportedAlgorithmIDs: [...algorithms],
    });
    const { credential, credentialDeviceType } = registrationInfo ?? {};
    if (!credential) throw new Error('The attestation does not hold');
    const { id, publicKey, counter } = credential;
    if (Buffer.byteLength(id, 'base64url') > maxBytes.id || publicKey.length > maxBytes.key) {
      throw new Error('The credential is too large');
    }
    const key = Buffer.from(publicKey).toString('base64url');
    return { id, key, counter, isMultiDevice: credentialDeviceType === 'multiDevice' };
  });

/**
 * Adds a passkey to the account of who has just signed in, which is anonymous no longer. What does not verify, is
 * registered already or belongs to credentials that were replaced meanwhile → 400 `INVALID_PASSKEY`.
 */
export const registerPasskey = async (
  store: AccountStore,
  party: RelyingParty,
  bearer: Bearer,
  { response, name = 'Passkey' }: { readonly response: unknown; readonly name?: string | undefined },
): Promise<PasskeyView> => {
  const account = await requireRecentAccount(store, bearer);
  requireRoom(account);
  const credential = await verified(store, party, bearer.userId, response);
  const passkey: Passkey = {
    _id: newId(),
    ...credential,
    name,
    createdAt: new Date(clock.now()),
    lastUsedAt: null,
  };
  const free = {
    '_signIn.passkeys.id': { $ne: passkey.id },
    [`_signIn.passkeys.${maxPasskeys - 1}`]: { $exists: false },
  };
  const change = { $push: { '_signIn.passkeys': passkey }, $unset: { '_signIn.anonymous': '' } };
  const written = store.change({ ...unchangedSince(account), ...enabled, ...free }, change);
  const added = await onDuplicateKey(written, () => undefined);
  if (!added) throw invalidPasskey();
  await notifyOfChange(store, added, accountChanges.passkeyAdded);
  return toPasskeyView(passkey);
};
