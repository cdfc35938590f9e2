import type { Collection } from '../../collections/collection.ts';
import type { JsonObject } from '../../documents/document.ts';
import { AppError } from '../../errors.ts';
import { describeError, log } from '../../log.ts';
import type { Project } from '../../projects/project.ts';
import { checkEmail } from '../email.ts';
import { sendEmailToken } from '../email-tokens/send-email-token.ts';
import { checkPassword, hashPassword } from '../passwords.ts';
import type { Client } from '../session-keys.ts';
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
 * Opens an account, signs it in and sends the mail that verifies its address (contract 3, "Sign-up"). Sign-ups closed →
 * 403 `SIGNUP_DISABLED`; what is not valid → 400; other refusals as `insertUser` has them.
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
  const record = await insertUser(project, users, {
    email,
    passwordHash: await hashPassword(password),
    hasPassword: true,
    emailVerified: false,
    identities: [],
    profile,
  });
  const [session] = await Promise.all([
    openSession(project, record, client),
    sendVerification(project, email, record._id.toHexString()),
  ]);
  return { ...session, user: userView(users, record) };
};
