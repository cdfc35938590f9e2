import type { DashboardBearer } from '../dashboard-tokens.ts';
import { checkPassword, hashPassword } from '../passwords.ts';
import type { Client } from '../session-keys.ts';
import { getDeveloperRecord } from './find-developer.ts';
import { replaceDeveloperCredentials, unchangedSince } from './replace-credentials.ts';
import { requirePassword, wrongPassword } from './require-password.ts';
import { revokingTokens } from './tokens/revoke-tokens.ts';

/** The body of `change-developer-password`. */
export interface PasswordChange {
  /** Omitted by accounts that never had a password of their own. */
  readonly currentPassword?: string | undefined;
  readonly newPassword: string;
  /** Whether all personal access tokens end too; not unless said. */
  readonly endTokens?: boolean | undefined;
}

/**
 * Gives the developer who asks another password and ends their other sessions, and their personal access tokens if they
 * say so (contract 6, "Developer accounts"). Wrong current one → 401 `INVALID_CREDENTIALS`, too many → 429; of parallel
 * calls one wins.
 */
export const changeDeveloperPassword = async (
  { developerId, sessionId }: DashboardBearer,
  { currentPassword, newPassword, endTokens = false }: PasswordChange,
  client: Client,
): Promise<void> => {
  const password = checkPassword(newPassword, 'newPassword');
  const record = await getDeveloperRecord(developerId);
  await requirePassword(record, currentPassword, client);
  const passwordHash = await hashPassword(password);
  const set = { passwordHash, hasPassword: true };
  const change = () => replaceDeveloperCredentials(unchangedSince(record), set, { except: sessionId });
  if (!(await (endTokens ? revokingTokens(record._id, change) : change()))) throw wrongPassword();
};
