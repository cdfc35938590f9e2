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
  requireFreePasskey,
  toPasskeyView,
} from './passkey.ts';

const bytes = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]+$/));

const credential = { id: bytes, rawId: bytes, type: v.literal('public-key') };

/** As browsers' `toJSON` writes it. */
const Registration = v.object({
  ...credential,
  response: v.object({ clientDataJSON: bytes, attestationObject: bytes }),
});

/** `userHandle` names the account. */
const Authentication = v.object({
  ...credential,
  response: v.object({
    clientDataJSON: bytes,
    authenticatorData: bytes,
    signature: bytes,
    userHandle: v.pipe(bytes, v.length(16)),
  }),
});

/** Rejects pages embedded in another site, which could cover them. */
const ClientData = v.object({
  origin: v.string(),
  crossOrigin: v.optional(v.literal(false)),
  topOrigin: v.optional(v.undefined()),
});

/** Input of the package; extensions are ignored. */
interface VerificationInput<T> {
  readonly response: T & { readonly clientExtensionResults: object };
  readonly expectedOrigin: string;
  readonly expectedRPID: string;
}

const verificationInput = <T extends { readonly response: { readonly clientDataJSON: string } }>(
  response: T,
  { id, allows }: RelyingParty,
): VerificationInput<T> => {
  const text = Buffer.from(response.response.clientDataJSON, 'base64url').toString();
  const { origin } = v.parse(ClientData, JSON.parse(text));
  if (!allows(origin)) throw new Error(`${origin} is no page of ${id}`);
  return {
    response: { ...response, clientExtensionResults: {} },
    expectedOrigin: origin,
    expectedRPID: id,
  };
};

/** Rejects attestations, which we never request: verifying them would load what the caller's certificates name. */
const requireUnattested = (attestationObject: string): void => {
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject));
  const format = attestation.get('fmt');
  if (format === 'none' || (format === 'packed' && attestation.get('attStmt').get('x5c') === undefined)) return;
  throw new Error('The attestation is of a kind that was not asked for');
};

const parseRegistration = (
  input: unknown,
  party: RelyingParty,
): VerificationInput<v.InferOutput<typeof Registration>> => {
  const response = v.parse(Registration, input);
  requireUnattested(response.response.attestationObject);
  return verificationInput(response, party);
};

const parseAuthentication = (
  input: unknown,
  party: RelyingParty,
): VerificationInput<v.InferOutput<typeof Authentication>> => verificationInput(v.parse(Authentication, input), party);

/** Turns all errors except `AppError` into `refusal`. */
const withError = async <T>(refusal: (cause: unknown) => AppError, verify: () => Promise<T>): Promise<T> => {
  try {
    return await verify();
  } catch (error) {
    throw error instanceof AppError ? error : refusal(error);
  }
};

/** WebAuthn's limit for ids, and more than keys of these algorithms need. */
const maxBytes = { id: 1023, key: 1024 };

const invalidPasskey = (cause?: unknown): AppError =>
  new AppError(
    'INVALID_PASSKEY',
    'The passkey could not be verified, is already registered, or took longer than 5 minutes. Request new options.',
    { cause },
  );

/** Throws 400 `INVALID_PASSKEY`. */
const verified = ({ scope }: AccountStore, party: RelyingParty, userId: string, input: unknown) =>
  withError(invalidPasskey, async () => {
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

/** Adds a passkey; the account is then no longer anonymous. Throws 400 `INVALID_PASSKEY`. */
export const registerPasskey = async (
  store: AccountStore,
  party: RelyingParty,
  bearer: Bearer,
  { response, name = 'Passkey' }: { readonly response: unknown; readonly name?: string | undefined },
): Promise<PasskeyView> => {
  const account = await requireRecentAccount(store, bearer);
  requireFreePasskey(account);
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

const passkeyRejected = (cause?: unknown): AppError =>
  new AppError(
    'INVALID_CREDENTIALS',
    'This passkey is not registered here, or the sign-in took longer than 5 minutes.',
    {
      cause,
    },
  );

/** Throws 401 `INVALID_CREDENTIALS`. */
const verifySignature = <R extends AccountRecord>(store: AccountStore<R>, party: RelyingParty, input: unknown) =>
  withError(passkeyRejected, async () => {
    const verificationInput = parseAuthentication(input, party);
    const userId = Buffer.from(verificationInput.response.response.userHandle, 'base64url').toString('hex');
    const account = await findById(store, userId);
    const passkey = account?._signIn?.passkeys?.find(({ id }) => id === verificationInput.response.id);
    if (!account || !passkey || passkey.locked) throw new Error('No account has this passkey');
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      ...verificationInput,
      expectedChallenge: (challenge) => consumeChallenge(store.scope, challenge),
      // The counter is checked later, by the conditional write.
      credential: { id: passkey.id, publicKey: new Uint8Array(Buffer.from(passkey.key, 'base64url')), counter: 0 },
    });
    const isMultiDevice = authenticationInfo.credentialDeviceType === 'multiDevice';
    if (!verified || isMultiDevice !== passkey.isMultiDevice) throw new Error('The signature does not hold');
    return { account, passkey, counter: authenticationInfo.newCounter };
  });

const passkeys = '_signIn.passkeys';

/** Stores the counter in one conditional write. If the stored one is higher, locks the passkey and returns false. */
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

/** Throws 401 `INVALID_CREDENTIALS` for every error. A lower counter locks the passkey: it may have been copied. */
export const signInWithPasskey = async <R extends AccountRecord>(
  store: SigningStore<R>,
  party: RelyingParty,
  response: unknown,
  client: Client,
): Promise<SignIn<R>> => {
  const { account, passkey, counter } = await verifySignature(store, party, response);
  if (!(await countUse(store, account, passkey, counter))) throw passkeyRejected();
  return { account, session: await openExistingSession(store, account, client, ['passkey', 'mfa']) };
};
