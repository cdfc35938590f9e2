import { randomBytes } from 'node:crypto';
import type { Collection } from '../../collections/collection.ts';
import { AppError } from '../../core/errors.ts';
import type { JsonObject } from '../../documents/document.ts';
import type { Project } from '../../projects/project.ts';
import type { NewAccount } from '../account-store.ts';
import { vouchedAccount } from '../sign-up.ts';
import { signInFailed } from '../social/landing.ts';
import type { Newcomer } from '../social/link-account.ts';
import type { IdentityProvider, SocialProfile } from '../social/providers.ts';
import { insertUser, takenField } from './insert-user.ts';
import { newProfile } from './profile.ts';
import { profileFields, type UserRecord } from './user-record.ts';

/** What the provider tells, by the field that holds it; a later try varies the user name. */
const toldBy = ({ name, username }: SocialProfile, attempt: number): ReadonlyMap<string, string> => {
  const suffix = attempt === 0 ? '' : `-${randomBytes(3).toString('hex')}`;
  return new Map([
    ...(name === undefined ? [] : [['name', name] as const]),
    ...(username === undefined ? [] : [['username', `${username}${suffix}`] as const]),
  ]);
};

/** What was told, for those fields of the schema that can hold it. */
const profileFrom = (users: Collection, told: ReadonlyMap<string, string>): JsonObject => {
  const texts = profileFields(users).filter(({ type }) => type === 'String');
  const body = texts.flatMap(({ key }) => (told.has(key) ? [[key, told.get(key)] as const] : []));
  return newProfile(users, Object.fromEntries(body));
};

const isRequired = (users: Collection, field: string): boolean =>
  profileFields(users).some(({ key, required }) => key === field && required);

const otherwise = 'Sign up with an e-mail address and a password instead.';

const translated = (error: AppError, { title }: IdentityProvider): AppError => {
  const [first] = error.errors ?? [];
  return error.code === 'VALIDATION_FAILED'
    ? signInFailed(
        `This app asks for more than ${title} tells: ${first?.message ?? error.message}. ${otherwise}`,
        error,
      )
    : error;
};

/** Leaves out what another account has and this one can do without. */
const openAccount = async (
  project: Project,
  users: Collection,
  provider: IdentityProvider,
  account: NewAccount,
  told: ReadonlyMap<string, string>,
): Promise<UserRecord | undefined> => {
  try {
    return await insertUser(project, users, { ...account, profile: profileFrom(users, told) });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const field = takenField(error);
    const isVaried = field === 'username' && told.has(field);
    if (error.code === 'USER_EXISTS' || field === 'identities.key' || isVaried) return undefined;
    if (field === undefined) throw translated(error, provider);
    if (!told.has(field) || isRequired(users, field)) {
      throw signInFailed(
        `Another account of this app has the same ${field}, which only one may have. ${otherwise}`,
        error,
      );
    }
    const rest = new Map([...told].filter(([key]) => key !== field));
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
  if (!project.allowPublicSignup) {
    throw new AppError('SIGNUP_DISABLED', 'This project does not take sign-ups at present.');
  }
  return openAccount(project, users, provider, await vouchedAccount(email, identity), toldBy(profile, attempt));
};
