import { AppError } from '../core/errors.ts';
import { type AccountRecord, type AccountStore, findByEmail, findById } from './account-store.ts';
import { credentialVersionOf, requireCredentialVersion } from './credentials.ts';
import { noticeDevice } from './devices.ts';
import { type Credentials, provePassword } from './password-proof.ts';
import { hashPassword, needsRehash } from './passwords.ts';
import { type RefreshSession, refreshTokenInvalid, rotate, startSession } from './refresh-sessions.ts';
import { signOut } from './revoke-sessions.ts';
import { secondFactorRequired } from './second-factor/ticket.ts';
import type { Bearer, IssuedToken } from './session-jwt.ts';
import { type Client, parseRefreshToken, type RefreshToken } from './sessions.ts';
import type { Addressee } from './tell-of-change.ts';

export interface SigningStore<R extends AccountRecord = AccountRecord> extends AccountStore<R> {
  readonly issueToken: (bearer: Bearer) => Promise<IssuedToken>;
}

/** Both tokens of a session that has just been opened or refreshed. */
export type OpenedSession = RefreshSession & IssuedToken;

/** Somebody signed in: the account, as it was read for that, and the session. */
export interface SignIn<R extends AccountRecord> {
  readonly account: R;
  readonly session: OpenedSession;
}

/**
 * Opens a session for who has just proved who they are, by the methods `amr`. Who has a second factor and has not
 * proved it → 401 `SECOND_FACTOR_REQUIRED`. If their password was changed, or they were disabled or deleted, since
 * `account` was read → 401 `INVALID_CREDENTIALS`: no session outlives what ends them.
 */
export const openSession = async (
  { scope, issueToken }: SigningStore,
  account: Pick<AccountRecord, '_id' | 'credentialVersion' | '_signIn'>,
  client: Client,
  amr: readonly string[],
): Promise<OpenedSession> => {
  const accountId = account._id.toHexString();
  const version = credentialVersionOf(account);
  if (account._signIn?.totp && !amr.includes('mfa')) {
    throw await secondFactorRequired(scope, { userId: accountId, version, amr });
  }
  const isCurrent = requireCredentialVersion(scope, accountId, version);
  const session = await startSession(scope, accountId, client, [isCurrent], amr);
  return { ...session, ...(await issueToken(session)) };
};

/** The same for an account that is there already: it learns the device, and its owner is told of a new one. */
export const enter = async (
  store: SigningStore,
  account: Pick<AccountRecord, '_id' | 'credentialVersion' | '_signIn'> & Addressee,
  client: Client,
  amr: readonly string[],
): Promise<OpenedSession> => {
  const session = await openSession(store, account, client, amr);
  await noticeDevice(store, account, client);
  return session;
};

/** What a refresh token says that it is; none → 401 `REFRESH_TOKEN_MISSING`, bad → 401 `REFRESH_TOKEN_INVALID`. */
const claimsOf = (token: string | undefined): RefreshToken & { readonly token: string } => {
  if (!token) throw new AppError('REFRESH_TOKEN_MISSING', 'Refresh token missing');
  const claimed = parseRefreshToken(token);
  if (!claimed) throw refreshTokenInvalid();
  return { ...claimed, token };
};

/**
 * Exchanges a refresh token for new tokens, in one transaction (contract 3, "Rotation"); what ends somebody's access
 * ends their sessions, so the account is not read. None → 401 `REFRESH_TOKEN_MISSING`, bad → 401
 * `REFRESH_TOKEN_INVALID`. The access token is signed first: if that fails the refresh token is still good. With the
 * `key` of the first try, a repeat gets the same refresh token.
 */
export const refresh = async (
  { scope, issueToken }: SigningStore,
  refreshToken: string | undefined,
  client: Client,
  key?: string,
): Promise<OpenedSession> => {
  const claimed = claimsOf(refreshToken);
  const issued = await issueToken(claimed);
  return { ...issued, ...(await rotate(scope, claimed.token, client, key)) };
};

/** The same with the account, which is looked up first; one that is gone has its session ended. */
export const refreshSignIn = async <R extends AccountRecord>(
  store: SigningStore<R>,
  refreshToken: string | undefined,
  client: Client,
  key?: string,
): Promise<SignIn<R>> => {
  const { token, userId } = claimsOf(refreshToken);
  const account = await findById(store, userId);
  if (account) return { account, session: await refresh(store, token, client, key) };
  await signOut(store.scope, token);
  throw refreshTokenInvalid();
};

/** Hashes the password anew if its cost is not the one that is set, unless it has been changed meanwhile. */
const rehash = async (
  { hashField, note }: AccountStore,
  { _id, [hashField]: stored = '' }: AccountRecord,
  password: string,
): Promise<void> => {
  if (!needsRehash(stored)) return;
  const hash = await hashPassword(password);
  await note({ _id, [hashField]: { $eq: stored } }, { $set: { [hashField]: hash } });
};

/**
 * Signs in with a password (contract 3, "Sign-in"). Unknown address, wrong password and disabled account are the same
 * 401 `INVALID_CREDENTIALS` in the same time; too many → 429 `ACCOUNT_LOCKED`, before the password is looked at.
 */
export const signIn = async <R extends AccountRecord>(
  store: SigningStore<R>,
  credentials: Credentials,
  client: Client,
): Promise<SignIn<R>> => {
  const account = await provePassword(store, credentials, client, () => findByEmail(store, credentials.email));
  if (!account) throw new AppError('INVALID_CREDENTIALS', 'Invalid email or password');
  await rehash(store, account, credentials.password);
  return { account, session: await enter(store, account, client, ['pwd']) };
};
