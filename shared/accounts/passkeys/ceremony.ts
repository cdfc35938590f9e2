import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';
import { decodeAttestationObject, isoBase64URL } from '@simplewebauthn/server/helpers';
import * as v from 'valibot';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { onDuplicateKey } from '../../core/retry.ts';
import { accountChanges, notifyOfChange } from '../account-mail.ts';
import { type AccountRecord, type AccountStore, enabled, findById } from '../account-store.ts';
import { unchangedSince } from '../credentials.ts';
import type { Client } from '../sessions.ts';
import { openExistingSession, type SignIn, type SigningStore } from '../sign-in.ts';
import { requireRecentAccount } from '../step-up.ts';
import type { Bearer } from '../tokens.ts';
import {
  algorithms,
  consumeChallenge,
  maxPasskeys,
  type Passkey,
  type PasskeyView,
  type RelyingParty,
  requireRoom,
  toPasskeyView,
} from './passkey.ts';

const bytes = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]+$/));

const credential = { id: bytes, rawId: bytes, type: v.literal('public-key') };

/** A new credential, as `toJSON` of a browser writes it. */
const Registration = v.object({
  ...credential,
  response: v.object({ clientDataJSON: bytes, attestationObject: bytes }),
});

/** A signature by a credential; `userHandle` says whose it is, which nobody else has said. */
const Authentication = v.object({
  ...credential,
  response: v.object({
    clientDataJSON: bytes,
    authenticatorData: bytes,
    signature: bytes,
    userHandle: v.pipe(bytes, v.length(16)),
  }),
});

/** A page that stands within one of another site is refused, as that may lay something over it. */
const ClientData = v.object({
  origin: v.string(),
  crossOrigin: v.optional(v.literal(false)),
  topOrigin: v.optional(v.undefined()),
});

/** What the package is given to verify; it asks for extensions, of which none count. */
interface Sent<T> {
  readonly response: T & { readonly clientExtensionResults: object };
  readonly expectedOrigin: string;
  readonly expectedRPID: string;
}

const sent = <T extends { readonly response: { readonly clientDataJSON: string } }>(
  response: T,
  { id, allows }: RelyingParty,
): Sent<T> => {
  const text = Buffer.from(response.response.clientDataJSON, 'base64url').toString();
  const { origin } = v.parse(ClientData, JSON.parse(text));
  if (!allows(origin)) throw new Error(`${origin} is no page of ${id}`);
  return {
    response: { ...response, clientExtensionResults: {} },
    expectedOrigin: origin,
    expectedRPID: id,
  };
};

/**
 * Throws where the maker of the authenticator vouches for it, which we ask of none: chains of certificates that the
 * caller sends would be verified, and what they name would be fetched.
 */
const requireUnattested = (attestationObject: string): void => {
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject));
  const format = attestation.get('fmt');
  if (format === 'none' || (format === 'packed' && attestation.get('attStmt').get('x5c') === undefined)) return;
  throw new Error('The attestation is of a kind that was not asked for');
};

/** A new credential that somebody sends; throws for what is none, or of no page of the party. */
const parseRegistration = (input: unknown, party: RelyingParty): Sent<v.InferOutput<typeof Registration>> => {
  const response = v.parse(Registration, input);
  requireUnattested(response.response.attestationObject);
  return sent(response, party);
};

/** The same of a sign-in. */
const parseAuthentication = (input: unknown, party: RelyingParty): Sent<v.InferOutput<typeof Authentication>> =>
  sent(v.parse(Authentication, input), party);

/** What `verify` returns; whatever it throws but failures of the service is one `refusal`. */
const orRefuse = async <T>(refusal: (cause: unknown) => AppError, verify: () => Promise<T>): Promise<T> => {
  try {
    return await verify();
  } catch (error) {
    throw error instanceof AppError ? error : refusal(error);
  }
};

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
