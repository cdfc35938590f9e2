import type { Collection } from '../../collections/collection.ts';
import { AppError } from '../../core/errors.ts';
import { describeError, log } from '../../core/log.ts';
import { newId } from '../../core/new-id.ts';
import type { JsonObject } from '../../documents/document.ts';
import type { Project } from '../../projects/project.ts';
import { checkEmail } from '../email.ts';
import { sendEmailToken } from '../email-tokens/send-email-token.ts';
import { checkPassword, hashPassword } from '../passwords.ts';
import { orEndSession } from '../revoke-sessions.ts';
import { type Client, projectScope } from '../session-keys.ts';
import { insertUser } from './insert-user.ts';
import { type OpenedSession, openSession } from './open-session.ts';
import { newProfile } from './profile.ts';
import { type UserView, userView } from './user-view.ts';

/** A user signed in: the tokens, and what users see of themselves. */
export interface SignIn extends OpenedSession {
  readonly user: UserView;
}

/** The body of a sign-up: an address, a password, and fields of the `users` schema. */
export type SignUpBody = JsonObject & { readonly email: string; readonly password: string };

/** The account is there whether or not its mail is; the user can have another one sent. */
const sendVerification = async (project: Project, email: string, userId: string): Promise<void> => {
  try {
    await sendEmailToken(project, 'verify', email, userId);
  } catch (error) {
    log.error({ message: 'A verification mail could not be queued', error: describeError(error) });
  }
};

/**
 * Opens an account, signs it in and sends the mail that verifies its address (contract 3, "Sign-up"). The session comes
 * first, for a user who is not there yet: where it cannot be stored there is no account either, whose address would be
 * taken at the next try. Sign-ups closed → 403 `SIGNUP_DISABLED`; what is not valid → 400; other refusals as
 * `insertUser` has them.
 */
export const signUp = async (
  project: Project,
  users: Collection,
  body: SignUpBody,
  client: Client,
): Promise<SignIn> => {
  if (!project.allowPublicSignup) {
    throw new AppError('SIGNUP_DISABLED', 'This project does not take new sign-ups. Existing users can log in.');
  }
  const email = checkEmail(body.email);
  const password = checkPassword(body.password);
  const profile = newProfile(users, body);
  const _id = newId();
  const [passwordHash, session] = await Promise.all([hashPassword(password), openSession(project, { _id }, client)]);
  const user = { _id, email, passwordHash, hasPassword: true, emailVerified: false, identities: [], profile };
  const record = await orEndSession(projectScope(project.id), session, () => insertUser(project, users, user));
  await sendVerification(project, email, session.userId);
  return { ...session, user: userView(users, record) };
};
