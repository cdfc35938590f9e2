import type { Collection } from '../../collections/collection.ts';
import { AppError } from '../../core/errors.ts';
import type { JsonObject } from '../../documents/document.ts';
import type { Project } from '../../projects/project.ts';
import type { NewAccount } from '../account-store.ts';
import type { OpenByAddress } from '../code-sign-in.ts';
import { firstDevice } from '../devices.ts';
import { sendVerification } from '../email-tokens/send-email-token.ts';
import type { Credentials } from '../password-proof.ts';
import type { Client } from '../sessions.ts';
import type { SignIn } from '../sign-in.ts';
import { checkCredentials, signUp, vouchedAccount } from '../sign-up.ts';
import { userSignIns } from '../stores/users.ts';
import { insertUser } from './insert-user.ts';
import { laterProfile, newProfile } from './profile.ts';
import type { UserRecord } from './user-record.ts';

/** The body of a sign-up: an address, a password, and fields of the `users` schema. */
export type SignUpBody = JsonObject & Credentials;

/** Refuses a new account while a project takes none: 403 `SIGNUP_DISABLED`. */
export const requireOpenSignup = ({ allowPublicSignup }: Project): void => {
  if (allowPublicSignup) return;
  throw new AppError('SIGNUP_DISABLED', 'This project does not take new sign-ups. Existing users can log in.');
};

/**
 * Opens a user's account, signs it in and sends the mail that verifies its address (contract 3, "Sign-up"). Sign-ups
 * closed → 403 `SIGNUP_DISABLED`; what is not valid → 400; other refusals as `insertUser` has them.
 */
export const signUpUser = async (
  project: Project,
  users: Collection,
  body: SignUpBody,
  client: Client,
): Promise<SignIn<UserRecord>> => {
  requireOpenSignup(project);
  const credentials = checkCredentials(body);
  const profile = newProfile(users, body);
  const store = userSignIns(project);
  const insert = (account: NewAccount) => insertUser(project, { ...account, profile });
  const signIn = await signUp(store, credentials, insert, client);
  await sendVerification(store, signIn.account);
  return signIn;
};

/**
 * Opens a user's account for who has proved an address, where sign-ups are open; what the schema requires is for the
 * first change of the profile to bring. Plan full → 403 `PLAN_LIMIT`.
 */
export const openByAddress =
  (project: Project, users: Collection, client: Client): OpenByAddress<UserRecord> =>
  async (email) => {
    if (!project.allowPublicSignup) return undefined;
    try {
      const { profile, _signIn } = laterProfile(users);
      const account = { ...(await vouchedAccount(email)), profile, _signIn: { ..._signIn, ...firstDevice(client) } };
      return await insertUser(project, account);
    } catch (error) {
      if (error instanceof AppError && error.code === 'USER_EXISTS') return null;
      throw error;
    }
  };
