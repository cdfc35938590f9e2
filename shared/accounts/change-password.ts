import { type AccountRecord, type AccountStore, accountGone, enabled, requireAccount } from './account-store.ts';
import { ownPassword, replaceCredentials, unchangedSince } from './credentials.ts';
import { wrongPassword } from './password-proof.ts';
import { checkPassword, hashPassword } from './passwords.ts';
import type { Bearer } from './session-jwt.ts';
import type { Client } from './sessions.ts';
import { requireStepUp } from './step-up.ts';
import { accountChanges, tellOfChange } from './tell-of-change.ts';

interface PasswordChange {
  /** Omitted by accounts that never had a password of their own. */
  readonly currentPassword?: string | undefined;
  readonly newPassword: string;
  /** Whether all personal access tokens end too; not unless said. */
  readonly endTokens?: boolean | undefined;
}

/**
 * Gives who asks another password, ends their other sessions and tells them by mail (contract 3, "change-password").
 * Wrong current one → 401 `INVALID_CREDENTIALS`, too many → 429; session revoked → 401 `TOKEN_INVALID`; of parallel
 * calls one wins. Who has no password, or a second factor, must have signed in within 10 minutes, else 403
 * `REAUTHENTICATION_REQUIRED`.
 */
export const changePassword = async <R extends AccountRecord>(
  store: AccountStore<R>,
  { userId, sessionId }: Bearer,
  { currentPassword, newPassword, endTokens: tokens = false }: PasswordChange,
  client: Client,
): Promise<void> => {
  const password = checkPassword(newPassword, 'newPassword');
  const account = await requireAccount(store, userId);
  await requireStepUp(store, account, { sessionId, password: currentPassword }, client);
  const set = ownPassword(store, await hashPassword(password));
  const filter = { ...unchangedSince(account), ...enabled };
  const changed = await replaceCredentials(store, filter, set, { except: sessionId, tokens });
  if (!changed) throw account.hasPassword === false ? accountGone() : wrongPassword();
  await tellOfChange(store, changed, accountChanges.passwordChanged);
};
