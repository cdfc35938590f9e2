import { AppError } from '../core/errors.ts';
import type { AccountRecord, AccountStore } from './account-store.ts';
import { canonicalEmail } from './email.ts';
import { clearFailures, countFailure } from './lockout.ts';
import { verifyPassword } from './passwords.ts';
import type { Client } from './sessions.ts';

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/**
 * The account that `find` names, if this is its password. Too many failures → 429 `ACCOUNT_LOCKED`, counted before the
 * password is looked at; no account takes as long as a wrong password, and a disabled one is like either.
 */
export const provePassword = async <R extends AccountRecord>(
  { scope, hashField }: AccountStore<R>,
  { email, password }: Credentials,
  { ip }: Client,
  find: () => Promise<R | undefined>,
): Promise<R | undefined> => {
  const attempt = { scope, address: canonicalEmail(email), ip };
  await countFailure(attempt);
  const account = await find();
  const matches = await verifyPassword(password, account?.[hashField]);
  if (!account || !matches || account.isDisabled) return undefined;
  await clearFailures(attempt);
  return account;
};

export const wrongPassword = (): AppError => new AppError('INVALID_CREDENTIALS', 'The current password is not right.');
