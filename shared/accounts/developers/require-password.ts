import { AppError } from '../../core/errors.ts';
import { countAttempt, forgiveAttempt } from '../lockout.ts';
import { verifyPassword } from '../passwords.ts';
import { type Client, developerScope } from '../session-keys.ts';
import type { DeveloperRecord } from './developer-record.ts';

/** The refusal of a wrong or missing current password (401). */
export const wrongPassword = (): AppError => new AppError('INVALID_CREDENTIALS', 'The current password is not right.');

/**
 * Has a developer who is signed in prove who they are again: 401 `INVALID_CREDENTIALS`, counted like a log-in, so that
 * a stolen token is no way to guess the password. Who came by GitHub and never had one leaves it out.
 */
export const requirePassword = async (
  { email, passwordHash, hasPassword }: DeveloperRecord,
  password: string | undefined,
  { ip }: Client,
): Promise<void> => {
  if (hasPassword === false) return;
  if (password === undefined) throw wrongPassword();
  const attempt = { scope: developerScope, address: email, ip };
  await countAttempt(attempt);
  if (!(await verifyPassword(password, passwordHash))) throw wrongPassword();
  await forgiveAttempt(attempt);
};
