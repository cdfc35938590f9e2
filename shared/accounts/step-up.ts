import type { Document, ObjectId } from 'mongodb';
import { AppError } from '../core/errors.ts';
import type { SignInMethods } from '../projects/sign-in-methods.ts';
import { type AccountRecord, type AccountStore, requireAccount } from './account-store.ts';
import { proveOwnPassword, wrongPassword } from './credentials.ts';
import { type Client, requireRecentSession, requireSession } from './sessions.ts';
import type { Bearer } from './tokens.ts';

/** Refuses who signed in over 10 minutes ago. Who is anonymous cannot sign in again: their session need only stand. */
const requireRecent = async (
  { scope }: AccountStore,
  { _signIn }: Pick<AccountRecord, '_signIn'>,
  bearer: Bearer,
): Promise<void> => {
  if (_signIn?.anonymous) await requireSession(scope, bearer.userId, bearer.sessionId);
  else await requireRecentSession(scope, bearer);
};

/**
 * The account of who has just signed in, and changes what they sign in with; over 10 minutes ago → 403
 * `REAUTHENTICATION_REQUIRED`.
 */
export const requireRecentAccount = async <R extends AccountRecord>(
  store: AccountStore<R>,
  bearer: Bearer,
): Promise<R> => {
  const account = await requireAccount(store, bearer.userId);
  await requireRecent(store, account, bearer);
  return account;
};

/** Where the password is not asked for, or not enough. */
const needsRecentSession = ({ hasPassword, _signIn }: AccountRecord): boolean =>
  hasPassword === false || _signIn?.totp !== undefined;

/**
 * Has somebody who is signed in prove who they are again, before what a stolen token must not do. Session ended → 401
 * `TOKEN_INVALID`, wrong password → 401 `INVALID_CREDENTIALS`, the sixth in 15 minutes → 429. A correct one unlocks
 * sign-ins from this place. Who has no password, or a second factor, must have signed in within 10 minutes, else 403
 * `REAUTHENTICATION_REQUIRED`.
 */
export const requireStepUp = async <R extends AccountRecord>(
  store: AccountStore<R>,
  account: R,
  { sessionId, password }: { readonly sessionId: string; readonly password: string | undefined },
  client: Client,
): Promise<void> => {
  const userId = account._id.toHexString();
  if (needsRecentSession(account)) await requireRecent(store, account, { userId, sessionId });
  else if (!store.hasCheckedSession) await requireSession(store.scope, userId, sessionId);
  if (account.hasPassword === false) return;
  if (password === undefined) throw new AppError('INVALID_CREDENTIALS', 'Send the current password.');
  if (!(await proveOwnPassword(store, account, password, client))) throw wrongPassword();
};

/** What signs in: the ways that are on, and the names of the providers that are enabled. */
export interface OpenMethods extends SignInMethods {
  readonly providers: readonly string[];
}

/** What is to be taken from an account. */
interface Taken {
  readonly provider?: string | null;
  readonly passkey?: ObjectId | null;
}

/** Without an address neither a password signs in nor does a mail arrive. */
const addressed = { email: { $type: 'string' } };

/** Holds for accounts that can still be signed in to without that; a verified address is sent a code or a reset. */
export const hasRemainingMethod = (
  { hashField }: AccountStore,
  { password, emailCode, passkey: passkeys, providers }: OpenMethods,
  { provider = null, passkey = null }: Taken,
): Document => ({
  $or: [
    { identities: { $elemMatch: { provider: { $in: providers.filter((name) => name !== provider) } } } },
    ...(password ? [{ ...addressed, hasPassword: { $ne: false }, [hashField]: { $exists: true } }] : []),
    ...(password || emailCode ? [{ ...addressed, emailVerified: true }] : []),
    ...(passkeys ? [{ '_signIn.passkeys': { $elemMatch: { _id: { $ne: passkey }, locked: { $ne: true } } } }] : []),
  ],
});

export const lastSignInMethod = (): AppError =>
  new AppError(
    'LAST_WAY_TO_SIGN_IN',
    'This is your only sign-in method. First set a password, verify your email address, link another provider or add a passkey.',
  );
