import { newId } from '../core/new-id.ts';
import type { AccountRecord, Identity, NewAccount } from './account-store.ts';
import { unknownPasswordHash } from './credentials.ts';
import { firstDevice } from './devices.ts';
import { checkEmail } from './email.ts';
import type { Credentials } from './password-proof.ts';
import { checkPassword, hashPassword } from './passwords.ts';
import { orEndSession } from './revoke-sessions.ts';
import type { Client } from './sessions.ts';
import { openSession, type SignIn, type SigningStore } from './sign-in.ts';

/** An account with an address, and a password that its owner knows or nobody. */
export type AddressedAccount = NewAccount & Required<Pick<NewAccount, 'email' | 'passwordHash'>>;

/** Credentials that a new account can have: the address in its canonical form; else 400 `VALIDATION_FAILED`. */
export const checkCredentials = ({ email, password }: Credentials): Credentials => ({
  email: checkEmail(email),
  password: checkPassword(password),
});

/** An account with a password, whose address nobody has verified. */
export const accountWithPassword = async ({ email, password }: Credentials): Promise<AddressedAccount> => ({
  email,
  passwordHash: await hashPassword(password),
  hasPassword: true,
  emailVerified: false,
  identities: [],
});

/**
 * Opens an account with checked credentials and signs it in. The session comes first: if it cannot be stored there is
 * no account either, whose address would be taken at the next try. Refusals as `insert` has them.
 */
export const signUp = async <R extends AccountRecord>(
  store: SigningStore<R>,
  credentials: Credentials,
  insert: (account: AddressedAccount) => Promise<R>,
  client: Client,
): Promise<SignIn<R>> => {
  const opened = { _id: newId(), _signIn: firstDevice(client) };
  const opening = openSession(store, opened, client, ['pwd']);
  const [account, session] = await Promise.all([accountWithPassword(credentials), opening]);
  return { account: await orEndSession(store.scope, session, () => insert({ ...account, ...opened })), session };
};

/** An account without a password, whose address a provider vouches for, or a mail that went there. */
export const vouchedAccount = async (email: string, ...identities: readonly Identity[]): Promise<AddressedAccount> => ({
  email,
  passwordHash: await unknownPasswordHash(),
  hasPassword: false,
  emailVerified: true,
  identities,
});

/** An account without a password and an address, of somebody whom a provider knows that verifies none. */
export const identityAlone = (identity: Identity): NewAccount => ({
  hasPassword: false,
  emailVerified: false,
  identities: [identity],
});
