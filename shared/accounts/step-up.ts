import type { Document, ObjectId } from 'mongodb';
import { AppError } from '../core/errors.ts';
import type { SignInMethods } from '../projects/user-settings.ts';
import { type AccountRecord, type AccountStore, requireAccount } from './account-store.ts';
import { proveOwnPassword, wrongPassword } from './credentials.ts';
import { type Client, requireRecentSession, requireSession } from './sessions.ts';
import type { Bearer } from './tokens.ts';

/** Anonymous users cannot sign in again, so an open session is enough. */
const requireRecent = async (
  { scope }: AccountStore,
  { _signIn }: Pick<AccountRecord, '_signIn'>,
  bearer: Bearer,
): Promise<void> => {
  if (_signIn?.anonymous) await requireSession(scope, bearer.userId, bearer.sessionId);
  else await requireRecentSession(scope, bearer);
};

/** For changes of sign-in methods. Throws 403 `REAUTHENTICATION_REQUIRED` if the sign-in was over 10 minutes ago. */
export const requireRecentAccount = async <R extends AccountRecord>(
  store: AccountStore<R>,
  bearer: Bearer,
): Promise<R> => {
  const account = await requireAccount(store, bearer.userId);
  await requireRecent(store, account, bearer);
  return account;
};

/** There is no password, or it is not enough. */
const needsRecentSession = ({ hasPassword, _signIn }: AccountRecord): boolean =>
  hasPassword === false || _signIn?.totp !== undefined;

/**
 * Requires the password, or a sign-in within 10 minutes for accounts without a password or with a second factor. A
 * correct password unlocks sign-ins from this client. Errors: 401 `TOKEN_INVALID`, 401 `INVALID_CREDENTIALS`, 429
 * `ACCOUNT_LOCKED`, 403 `REAUTHENTICATION_REQUIRED`.
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

/** Enabled sign-in methods and providers. */
export interface OpenMethods extends SignInMethods {
  readonly providers: readonly string[];
}

/** Methods to remove. */
interface RemovedMethods {
  readonly provider?: string | null;
  readonly passkey?: ObjectId | null;
}

/** Password and email codes need an address. */
const hasAddress = { email: { $type: 'string' } };

/** Matches accounts that keep a sign-in method. A verified address can receive codes or a password reset. */
export const hasRemainingMethod = (
  { hashField }: AccountStore,
  { password, emailCode, passkey: passkeys, providers }: OpenMethods,
  { provider = null, passkey = null }: RemovedMethods,
): Document => ({
  $or: [
    { identities: { $elemMatch: { provider: { $in: providers.filter((name) => name !== provider) } } } },
    ...(password ? [{ ...hasAddress, hasPassword: { $ne: false }, [hashField]: { $exists: true } }] : []),
    ...(password || emailCode ? [{ ...hasAddress, emailVerified: true }] : []),
    ...(passkeys ? [{ '_signIn.passkeys': { $elemMatch: { _id: { $ne: passkey }, locked: { $ne: true } } } }] : []),
  ],
});

export const lastSignInMethod = (): AppError =>
  new AppError(
    'LAST_WAY_TO_SIGN_IN',
    'This is your only sign-in method. First set a password, verify your email address, link another provider or add a passkey.',
  );
