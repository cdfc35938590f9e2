import { checkEmail } from '../auth/email.ts';
import { checkPassword, hashPassword } from '../auth/passwords.ts';
import type { Client } from '../auth/session-keys.ts';
import { insertDeveloper } from './insert-developer.ts';
import { type SignIn, signIn } from './sign-in.ts';

/** An e-mail address and a password as a caller sent them. */
export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/**
 * Opens a developer's account on the free plan and signs them in. Taken address → 409 `DEVELOPER_EXISTS`, and one
 * winner of any number of equal calls; an address or password that cannot be → 400 `VALIDATION_FAILED`.
 */
export const registerDeveloper = async (credentials: Credentials, client: Client): Promise<SignIn> => {
  const email = checkEmail(credentials.email);
  const passwordHash = await hashPassword(checkPassword(credentials.password));
  const record = await insertDeveloper({
    email,
    passwordHash,
    hasPassword: true,
    emailVerified: false,
    identities: [],
  });
  return signIn(record, client);
};
