import { randomBytes } from 'node:crypto';
import type { Collection } from '../../collections/collection.ts';
import { AppError } from '../../core/errors.ts';
import type { JsonObject } from '../../documents/document.ts';
import type { Project } from '../../projects/project.ts';
import type { NewAccount } from '../account-store.ts';
import { identityAlone, vouchedAccount } from '../sign-up.ts';
import { signInFailed } from '../social/landing.ts';
import type { Newcomer } from '../social/link-account.ts';
import type { IdentityProvider, SocialProfile } from '../social/providers.ts';
import { insertUser, takenField } from './insert-user.ts';
import { newProfile } from './profile.ts';
import { requireOpenSignup } from './sign-up.ts';
import { profileFields, type UserRecord } from './user-record.ts';

/** What the provider tells, by the field that holds it; a later try varies the user name. */
const toldBy = ({ name, username }: SocialProfile, attempt: number): Readonly<Record<string, string>> => {
  const suffix = attempt === 0 ? '' : `-${randomBytes(3).toString('hex')}`;
  return { ...(name && { name }), ...(username && { username: username + suffix }) };
};

/** What was told, for those fields of the schema that can hold it. */
const profileFrom = (users: Collection, told: Readonly<Record<string, string>>): JsonObject => {
  const texts = profileFields(users).filter(({ key, type }) => type === 'String' && Object.hasOwn(told, key));
  return newProfile(users, Object.fromEntries(texts.map(({ key }) => [key, told[key]])));
};

const isRequired = (users: Collection, field: string): boolean =>
  profileFields(users).some(({ key, required }) => key === field && required);

const otherwise = 'Sign up with an e-mail address and a password instead.';

const translated = (error: AppError, { title }: IdentityProvider): AppError => {
  if (error.code !== 'VALIDATION_FAILED') return error;
  const missing = error.errors?.[0]?.message ?? error.message;
  return signInFailed(`This app asks for more than ${title} tells: ${missing}. ${otherwise}`, error);
};

/** Leaves out what another account has and this one can do without. */
const openAccount = async (
  project: Project,
  users: Collection,
  provider: IdentityProvider,
  account: NewAccount,
  told: Readonly<Record<string, string>>,
): Promise<UserRecord | undefined> => {
  try {
    return await insertUser(project, { ...account, profile: profileFrom(users, told) });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const field = takenField(error);
    const isTold = field !== undefined && Object.hasOwn(told, field);
    if (error.code === 'USER_EXISTS' || field === 'identities.key' || (isTold && field === 'username'))
      return undefined;
    if (field === undefined) throw translated(error, provider);
    if (!isTold || isRequired(users, field)) {
      const message = `Another account of this app has the same ${field}, which only one may have. ${otherwise}`;
      throw signInFailed(message, error);
    }
    const { [field]: _taken, ...rest } = told;
    return openAccount(project, users, provider, account, rest);
  }
};

/**
 * Opens an account for somebody whom the provider vouches for, with a random password that nobody knows; `undefined`
 * where the address or user name has just been taken. A name that another account has is left out where the schema lets
 * it be. Sign-ups closed → 403 `SIGNUP_DISABLED`, plan full → 403 `PLAN_LIMIT`.
 */
export const createAccount = async (
  project: Project,
  users: Collection,
  { email, identity, provider, profile, attempt }: Newcomer,
): Promise<UserRecord | undefined> => {
  requireOpenSignup(project);
  const account = email === undefined ? identityAlone(identity) : await vouchedAccount(email, identity);
  return openAccount(project, users, provider, account, toldBy(profile, attempt));
};
