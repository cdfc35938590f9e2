import { type AccountRecord, type AccountStore, requireAccount } from './account-store.ts';
import type { Bearer } from './session-jwt.ts';
import { requireRecentSession, requireSession } from './sessions.ts';

/**
 * The account of who has just signed in, and changes what they sign in with; over 10 minutes ago → 403
 * `REAUTHENTICATION_REQUIRED`. Who is anonymous cannot sign in again: their session need only stand.
 */
export const requireRecentAccount = async <R extends AccountRecord>(
  store: AccountStore<R>,
  bearer: Bearer,
): Promise<R> => {
  const account = await requireAccount(store, bearer.userId);
  if (account._signIn?.anonymous) await requireSession(store.scope, bearer.userId, bearer.sessionId);
  else await requireRecentSession(store.scope, bearer);
  return account;
};
