import type { AccountRecord, AccountStore } from './account-store.ts';
import { requirePassword } from './password-proof.ts';
import { type Client, requireRecentSession, requireSession } from './sessions.ts';

/** Where the password is not asked for, or not enough. */
const needsRecentSession = ({ hasPassword, _signIn }: AccountRecord): boolean =>
  hasPassword === false || _signIn?.totp !== undefined;

/**
 * Has somebody who is signed in prove who they are again, before what a stolen token must not do. Session ended → 401
 * `TOKEN_INVALID`, wrong password → 401 `INVALID_CREDENTIALS`, too many → 429. Who has no password, or a second factor,
 * must have signed in within 10 minutes, else 403 `REAUTHENTICATION_REQUIRED`.
 */
export const requireStepUp = async <R extends AccountRecord>(
  store: AccountStore<R>,
  account: R,
  { sessionId, password }: { readonly sessionId: string; readonly password: string | undefined },
  client: Client,
): Promise<void> => {
  const userId = account._id.toHexString();
  if (needsRecentSession(account)) await requireRecentSession(store.scope, { userId, sessionId });
  else if (!store.hasCheckedSession) await requireSession(store.scope, userId, sessionId);
  await requirePassword(store, account, password, client);
};
