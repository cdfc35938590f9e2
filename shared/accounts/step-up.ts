import { AppError } from '../core/errors.ts';
import { type AccountRecord, type AccountStore, requireAccount } from './account-store.ts';
import { provePassword, wrongPassword } from './password-proof.ts';
import type { Bearer } from './session-jwt.ts';
import { type Client, requireRecentSession, requireSession } from './sessions.ts';

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
 * `TOKEN_INVALID`, wrong password → 401 `INVALID_CREDENTIALS`, counted like a sign-in, too many → 429. Who has no
 * password, or a second factor, must have signed in within 10 minutes, else 403 `REAUTHENTICATION_REQUIRED`.
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
  // Guesses are counted by the address, or for who has none by the account.
  if (password === undefined) throw new AppError('INVALID_CREDENTIALS', 'The current password is missing.');
  const credentials = { email: account.email ?? userId, password };
  if (!(await provePassword(store, credentials, client, async () => account))) throw wrongPassword();
};
