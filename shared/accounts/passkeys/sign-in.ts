import { verifyAuthenticationResponse } from '@simplewebauthn/server';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { type AccountRecord, type AccountStore, enabled, findById } from '../account-store.ts';
import type { Client } from '../sessions.ts';
import { openExistingSession, type SignIn, type SigningStore } from '../sign-in.ts';
import { orRefuse, parseAuthentication } from './ceremony.ts';
import { consumeChallenge, type Passkey, type RelyingParty } from './passkey.ts';

const refused = (cause?: unknown): AppError =>
  new AppError(
    'INVALID_CREDENTIALS',
    'This passkey is not registered here, or the sign-in took longer than 5 minutes.',
    {
      cause,
    },
  );

/** Whose credential signed a challenge of ours, and its counter since; 401 `INVALID_CREDENTIALS` for all else. */
const prove = <R extends AccountRecord>(store: AccountStore<R>, party: RelyingParty, input: unknown) =>
  orRefuse(refused, async () => {
    const sent = parseAuthentication(input, party);
    const userId = Buffer.from(sent.response.response.userHandle, 'base64url').toString('hex');
    const account = await findById(store, userId);
    const passkey = account?._signIn?.passkeys?.find(({ id }) => id === sent.response.id);
    if (!account || !passkey || passkey.locked) throw new Error('Nobody has this passkey');
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      ...sent,
      expectedChallenge: (challenge) => consumeChallenge(store.scope, challenge),
      // What the counter may be is decided once the signature holds, by the write itself.
      credential: { id: passkey.id, publicKey: new Uint8Array(Buffer.from(passkey.key, 'base64url')), counter: 0 },
    });
    const isMultiDevice = authenticationInfo.credentialDeviceType === 'multiDevice';
    if (!verified || isMultiDevice !== passkey.isMultiDevice) throw new Error('The signature does not hold');
    return { account, passkey, counter: authenticationInfo.newCounter };
  });

const passkeys = '_signIn.passkeys';

/** Counts a use of a passkey by one conditional write; false, and it is locked, where it was counted higher. */
const countUse = async (
  { note, write }: AccountStore,
  { _id }: AccountRecord,
  { id }: Passkey,
  counter: number,
): Promise<boolean> => {
  const having = (counted: object) => ({
    _id,
    ...enabled,
    [passkeys]: { $elemMatch: { id, locked: { $ne: true }, ...counted } },
  });
  const lastUsedAt = new Date(clock.now());
  const used = await note(having({ counter: counter === 0 ? 0 : { $lt: counter } }), {
    $set: { [`${passkeys}.$.counter`]: counter, [`${passkeys}.$.lastUsedAt`]: lastUsedAt },
  });
  if (!used) await write(having({ counter: { $gt: counter } }), { $set: { [`${passkeys}.$.locked`]: true } });
  return used;
};

/**
 * Signs in with a passkey, which is both factors (contract 3, "Passkeys"). Whatever is wrong → the same 401
 * `INVALID_CREDENTIALS`; a counter that has gone back locks the passkey, as there may be a copy of it.
 */
export const signInWithPasskey = async <R extends AccountRecord>(
  store: SigningStore<R>,
  party: RelyingParty,
  response: unknown,
  client: Client,
): Promise<SignIn<R>> => {
  const { account, passkey, counter } = await prove(store, party, response);
  if (!(await countUse(store, account, passkey, counter))) throw refused();
  return { account, session: await openExistingSession(store, account, client, ['passkey', 'mfa']) };
};
