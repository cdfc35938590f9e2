import { AppError } from '../../core/errors.ts';
import type { Project } from '../../projects/project.ts';
import type { Bearer } from '../access-tokens.ts';
import { countAttempt, forgiveAttempt } from '../lockout.ts';
import { checkPassword, hashPassword, verifyPassword } from '../passwords.ts';
import { requireSession } from '../require-session.ts';
import { type Client, projectScope } from '../session-keys.ts';
import { requireCurrentUser, userGone } from './current-user.ts';
import { replaceCredentials, unchangedSince } from './replace-credentials.ts';
import type { UserRecord } from './user-record.ts';

/** The body of `change-password`. */
export interface PasswordChange {
  /** Omitted by accounts that never had a password of their own. */
  readonly currentPassword?: string | undefined;
  readonly newPassword: string;
}

const wrongPassword = (): AppError => new AppError('INVALID_CREDENTIALS', 'The current password is not right.');

/** Counted like a log-in, so that a stolen access token is no way to guess the password. */
const requirePassword = async (
  project: Project,
  { email, password: stored }: UserRecord,
  password: string | undefined,
  { ip }: Client,
): Promise<void> => {
  if (password === undefined) throw wrongPassword();
  const attempt = { scope: projectScope(project.id), address: email, ip };
  await countAttempt(attempt);
  if (!(await verifyPassword(password, stored))) throw wrongPassword();
  await forgiveAttempt(attempt);
};

/**
 * Gives the user who asks another password and ends their other sessions (contract 3, "change-password"). Wrong current
 * one → 401 `INVALID_CREDENTIALS`, too many → 429; a session that was revoked → 401 `TOKEN_INVALID`; of parallel calls
 * one wins.
 */
export const changePassword = async (
  project: Project,
  { userId, sessionId }: Bearer,
  { currentPassword, newPassword }: PasswordChange,
  client: Client,
): Promise<void> => {
  const password = checkPassword(newPassword, 'newPassword');
  const record = await requireCurrentUser(project, { userId });
  await requireSession(projectScope(project.id), userId, sessionId);
  if (record.hasPassword !== false) await requirePassword(project, record, currentPassword, client);
  const hash = await hashPassword(password);
  const changed = await replaceCredentials(
    project,
    { ...unchangedSince(record), isDisabled: { $ne: true } },
    { password: hash, hasPassword: true },
    { except: sessionId },
  );
  if (!changed) throw record.hasPassword === false ? userGone() : wrongPassword();
};
