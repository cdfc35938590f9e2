import { AppError } from '../core/errors.ts';
import { type AccountRecord, type AccountStore, findByEmail } from './account-store.ts';
import { type Credentials, provePassword } from './password-proof.ts';
import { hashPassword, needsRehash } from './passwords.ts';
import type { Client } from './session-keys.ts';
import { openSession, type SignIn, type SigningStore } from './sign-in.ts';

/** Hashes the password anew if its cost is not the one that is set, unless it has been changed meanwhile. */
const rehash = async (
  { hashField, write }: AccountStore,
  { _id, [hashField]: stored = '' }: AccountRecord,
  password: string,
): Promise<void> => {
  if (!needsRehash(stored)) return;
  const hash = await hashPassword(password);
  await write({ _id, [hashField]: { $eq: stored } }, { $set: { [hashField]: hash } });
};

/**
 * Signs somebody in with their password (contract 3, "Sign-in"). Unknown address, wrong password and disabled account are
 * the same 401 `INVALID_CREDENTIALS` in the same time; too many of them 429 `ACCOUNT_LOCKED`, counted before the
 * password is looked at.
 */
export const signIn = async <R extends AccountRecord>(
  store: SigningStore<R>,
  credentials: Credentials,
  client: Client,
): Promise<SignIn<R>> => {
  const account = await provePassword(store, credentials, client, () => findByEmail(store, credentials.email));
  if (!account) throw new AppError('INVALID_CREDENTIALS', 'Invalid email or password');
  await rehash(store, account, credentials.password);
  return { account, session: await openSession(store, account, client) };
};
