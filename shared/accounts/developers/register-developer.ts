import { newId } from '../../core/new-id.ts';
import { checkEmail } from '../email.ts';
import { checkPassword, hashPassword } from '../passwords.ts';
import { orEndSession } from '../revoke-sessions.ts';
import { type Client, developerScope } from '../session-keys.ts';
import { insertDeveloper } from './insert-developer.ts';
import { requireOpenSignup } from './require-open-signup.ts';
import { openSession, type SignIn, signedIn } from './sign-in.ts';

/** An e-mail address and a password as a caller sent them. */
export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/**
 * Opens a developer's account on the free plan and signs them in; the session comes first, as in `signUp`. Registration
 * closed → 403 `SIGNUP_DISABLED`; taken address → 409 `DEVELOPER_EXISTS`, and one winner of any number of equal calls;
 * an address or password that cannot be → 400 `VALIDATION_FAILED`.
 */
export const registerDeveloper = async (credentials: Credentials, client: Client): Promise<SignIn> => {
  requireOpenSignup();
  const email = checkEmail(credentials.email);
  const password = checkPassword(credentials.password);
  const _id = newId();
  const opening = openSession(_id.toHexString(), 0, client);
  const [passwordHash, session] = await Promise.all([hashPassword(password), opening]);
  const developer = { _id, email, passwordHash, hasPassword: true, emailVerified: false, identities: [] };
  const record = await orEndSession(developerScope, session, () => insertDeveloper(developer));
  return signedIn(record, session);
};
