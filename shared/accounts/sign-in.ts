import type { ObjectId } from 'mongodb';
import { AppError } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { retryOnConflict } from '../core/retry.ts';
import type { Addressee } from './account-mail.ts';
import {
  type AccountRecord,
  type AccountStore,
  findByEmail,
  findById,
  type Identity,
  type NewAccount,
} from './account-store.ts';
import {
  type Credentials,
  credentialVersionOf,
  proveSignIn,
  requireCredentialVersion,
  takeOver,
  unknownPasswordHash,
} from './credentials.ts';
import { firstDevice, recordDevice } from './devices.ts';
import { type EmailProof, withProof } from './email-proofs.ts';
import { checkEmail } from './email-tokens.ts';
import { checkPassword, hashPassword, needsRehash } from './passwords.ts';
import {
  type RefreshSession,
  refreshTokenInvalid,
  rotate,
  type SameSession,
  startSession,
} from './refresh-sessions.ts';
import {
  consumeTicket,
  countTicketTry,
  type FactorProof,
  invalidSecondFactor,
  secondFactorRequired,
  useFactor,
} from './second-factor.ts';
import { type Client, orEndSession, parseRefreshToken, type RefreshToken, signOut } from './sessions.ts';
import type { Bearer, IssuedToken } from './tokens.ts';

export interface SigningStore<R extends AccountRecord = AccountRecord> extends AccountStore<R> {
  readonly issueToken: (bearer: Bearer) => Promise<IssuedToken>;
}

export type OpenedSession = RefreshSession & IssuedToken;

/** The id of an account that is opened, and of its session if several runs may open it. */
export interface Opening {
  readonly _id: ObjectId;
  readonly same?: SameSession;
}

/** The account as it was read, and its session. */
export interface SignIn<R extends AccountRecord> {
  readonly account: R;
  readonly session: OpenedSession;
}

/** Errors: 401 `SECOND_FACTOR_REQUIRED`; 401 `INVALID_CREDENTIALS` if the credentials have changed since the read. */
export const openSession = async (
  { scope, issueToken }: SigningStore,
  account: Pick<AccountRecord, '_id' | 'credentialVersion' | '_signIn'>,
  client: Client,
  amr: readonly string[],
  same?: SameSession,
): Promise<OpenedSession> => {
  const accountId = account._id.toHexString();
  const version = credentialVersionOf(account);
  if (account._signIn?.totp && !amr.includes('mfa')) {
    throw await secondFactorRequired(scope, { userId: accountId, version, amr });
  }
  const isCurrent = requireCredentialVersion(scope, accountId, version);
  const session = await startSession(scope, accountId, client, [isCurrent], amr, same);
  return { ...session, ...(await issueToken(session)) };
};

/** Opens a session of an existing account and records the device. */
export const openExistingSession = async (
  store: SigningStore,
  account: Pick<AccountRecord, '_id' | 'credentialVersion' | '_signIn'> & Addressee,
  client: Client,
  amr: readonly string[],
): Promise<OpenedSession> => {
  const session = await openSession(store, account, client, amr);
  await recordDevice(store, account, client);
  return session;
};

/** Errors: 401 `REFRESH_TOKEN_MISSING`, 401 `REFRESH_TOKEN_INVALID`. */
const requireClaims = (token: string | undefined): RefreshToken & { readonly token: string } => {
  if (!token) throw new AppError('REFRESH_TOKEN_MISSING', 'Refresh token missing');
  const claimed = parseRefreshToken(token);
  if (!claimed) throw refreshTokenInvalid();
  return { ...claimed, token };
};

/**
 * Exchanges a refresh token for new tokens without reading the account, because whatever revokes access ends its
 * sessions. The access token is signed first: if that fails, the refresh token stays valid. Errors: 401
 * `REFRESH_TOKEN_MISSING`, 401 `REFRESH_TOKEN_INVALID`.
 */
export const refresh = async (
  { scope, issueToken }: SigningStore,
  refreshToken: string | undefined,
  client: Client,
  key?: string,
): Promise<OpenedSession> => {
  const claimed = requireClaims(refreshToken);
  const issued = await issueToken(claimed);
  return { ...issued, ...(await rotate(scope, claimed.token, client, key)) };
};

/** Like `refresh`, with the account. If the account is deleted, its session ends. */
export const refreshSignIn = async <R extends AccountRecord>(
  store: SigningStore<R>,
  refreshToken: string | undefined,
  client: Client,
  key?: string,
): Promise<SignIn<R>> => {
  const { token, userId } = requireClaims(refreshToken);
  const account = await findById(store, userId);
  if (account) return { account, session: await refresh(store, token, client, key) };
  await signOut(store.scope, token);
  throw refreshTokenInvalid();
};

/** Hashes the password again if the cost setting has changed. */
const rehash = async (
  { hashField, note }: AccountStore,
  { _id, [hashField]: stored = '' }: AccountRecord,
  password: string,
): Promise<void> => {
  if (!needsRehash(stored)) return;
  const hash = await hashPassword(password);
  await note({ _id, [hashField]: { $eq: stored } }, { $set: { [hashField]: hash } });
};

/** Throws 401 `INVALID_CREDENTIALS`, always after the same time, or 429 `ACCOUNT_LOCKED` before the check. */
export const signIn = async <R extends AccountRecord>(
  store: SigningStore<R>,
  credentials: Credentials,
  client: Client,
): Promise<SignIn<R>> => {
  const account = await proveSignIn(store, credentials, client);
  if (!account) throw new AppError('INVALID_CREDENTIALS', 'Invalid email or password');
  await rehash(store, account, credentials.password);
  return { account, session: await openExistingSession(store, account, client, ['pwd']) };
};

/** Creates an account with a verified address; `undefined` if sign-ups are closed, `null` if one was just created. */
export type OpenByAddress<R extends AccountRecord> = (email: string) => Promise<R | undefined | null>;

const accountFor = <R extends AccountRecord>(
  store: AccountStore<R>,
  email: string,
  open: OpenByAddress<R>,
  client: Client,
): Promise<{ readonly account: R; readonly isNew: boolean } | undefined> =>
  retryOnConflict('This account is being changed right now. Retry.', async () => {
    const known = await findByEmail(store, email);
    if (known?.isDisabled) return undefined;
    const account = known
      ? known.emailVerified
        ? known
        : await takeOver(store, known, { '_signIn.devices': firstDevice(client).devices })
      : await open(email);
    return account && { account, isNew: !known };
  });

/** Signs in with an emailed code or link; an address without an account gets one. Throws 400 `INVALID_CODE`. */
export const signInByCode = <R extends AccountRecord>(
  store: SigningStore<R>,
  proof: EmailProof,
  open: OpenByAddress<R>,
  client: Client,
): Promise<SignIn<R> & { readonly isNew: boolean }> =>
  withProof(store.scope, 'code', proof, { ip: client.ip }, async ({ email }) => {
    const proved = await accountFor(store, email.$eq, open, client);
    return proved && { ...proved, session: await openExistingSession(store, proved.account, client, ['email']) };
  });

export type AddressedAccount = NewAccount & Required<Pick<NewAccount, 'email' | 'passwordHash'>>;

/** Normalizes the address. Throws 400 `VALIDATION_FAILED`. */
export const checkCredentials = ({ email, password }: Credentials): Credentials => ({
  email: checkEmail(email),
  password: checkPassword(password),
});

export const accountWithPassword = async ({ email, password }: Credentials): Promise<AddressedAccount> => ({
  email,
  passwordHash: await hashPassword(password),
  hasPassword: true,
  emailVerified: false,
  identities: [],
});

/** How a password proves who signs in. */
export const passwordSignIn = ['pwd'] as const;

/** The session comes first: if it fails, the address must not be taken. Errors are those of `insert`. */
export const signUp = async <R extends AccountRecord>(
  store: SigningStore<R>,
  credentials: Credentials,
  insert: (account: AddressedAccount) => Promise<R>,
  client: Client,
  { _id, same }: Opening = { _id: newId() },
): Promise<SignIn<R>> => {
  const opened = { _id, _signIn: firstDevice(client) };
  const opening = openSession(store, opened, client, passwordSignIn, same);
  const [account, session] = await Promise.all([accountWithPassword(credentials), opening]);
  const inserted = () => insert({ ...account, ...opened });
  return { account: await orEndSession(store.scope, session, inserted, same !== undefined), session };
};

/** An account without a password, with a verified address. */
export const passwordlessAccount = async (
  email: string,
  ...identities: readonly Identity[]
): Promise<AddressedAccount> => ({
  email,
  passwordHash: await unknownPasswordHash(),
  hasPassword: false,
  emailVerified: true,
  identities,
});

/** An account with only an identity, of a provider that does not verify addresses. */
export const identityOnlyAccount = (identity: Identity): NewAccount => ({
  hasPassword: false,
  emailVerified: false,
  identities: [identity],
});

/** The same error for every cause. */
const factorRejected = (): AppError =>
  invalidSecondFactor('The code is wrong or was used already, or this sign-in has expired.');

/** Throws 401 `INVALID_SECOND_FACTOR`; exactly one concurrent caller succeeds. */
export const signInWithFactor = async <R extends AccountRecord>(
  store: SigningStore<R>,
  { ticket, ...proof }: FactorProof & { readonly ticket: string },
  client: Client,
): Promise<SignIn<R>> => {
  const first = await countTicketTry(store.scope, ticket);
  const account = first && (await findById(store, first.userId));
  const isCurrent = account && !account.isDisabled && credentialVersionOf(account) === first?.version;
  if (!first || !isCurrent || !account._signIn?.totp) throw factorRejected();
  const factor = await useFactor(store, account, proof);
  if (!factor || !(await consumeTicket(store.scope, ticket))) throw factorRejected();
  return { account, session: await openExistingSession(store, account, client, [...first.amr, factor, 'mfa']) };
};
