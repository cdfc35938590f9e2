import { randomBytes } from 'node:crypto';
import type { Collection } from '../../collections/collection.ts';
import type { JsonObject } from '../../documents/document.ts';
import { AppError } from '../../errors.ts';
import type { Project } from '../../projects/project.ts';
import { unknownPasswordHash } from '../users/discard-credentials.ts';
import { insertUser } from '../users/insert-user.ts';
import { newProfile } from '../users/profile.ts';
import { type Identity, profileFields, type UserRecord } from '../users/user-record.ts';
import type { SocialProfile } from './profile.ts';
import type { IdentityProvider } from './providers.ts';
import { signInFailed } from './sign-in-failure.ts';

export interface NewAccount {
  readonly email: string;
  readonly identity: Identity;
  readonly profile: SocialProfile;
  /** 0 for the first try; a later one varies the user name, which may have been taken. */
  readonly attempt: number;
}

/** What the provider tells, for those fields of the schema that can hold it. */
const profileFrom = (users: Collection, { name, username }: SocialProfile, attempt: number): JsonObject => {
  const suffix = attempt === 0 ? '' : `-${randomBytes(3).toString('hex')}`;
  const told = new Map([
    ['name', name],
    ['username', username && `${username}${suffix}`],
  ]);
  const texts = profileFields(users).filter(({ type }) => type === 'String');
  const body = texts.flatMap(({ key }) => (told.get(key) === undefined ? [] : [[key, told.get(key)] as const]));
  return newProfile(users, Object.fromEntries(body));
};

const translated = (error: AppError, { title }: IdentityProvider): AppError => {
  const [first] = error.errors ?? [];
  return error.code === 'VALIDATION_FAILED'
    ? signInFailed(
        `This app asks for more than ${title} tells: ${first?.message ?? error.message}. Sign up with an e-mail address and a password instead.`,
        error,
      )
    : error;
};

/**
 * Opens an account for somebody whom the provider vouches for, with a random password that nobody knows; `undefined`
 * where the address or user name has just been taken. Sign-ups closed → 403 `SIGNUP_DISABLED`, plan full → 403
 * `PLAN_LIMIT`.
 */
export const createAccount = async (
  project: Project,
  users: Collection,
  provider: IdentityProvider,
  { email, identity, profile, attempt }: NewAccount,
): Promise<UserRecord | undefined> => {
  if (!project.allowPublicSignup) {
    throw new AppError('SIGNUP_DISABLED', 'This project does not take sign-ups at present.');
  }
  try {
    const fields = profileFrom(users, profile, attempt);
    return await insertUser(project, users, {
      email,
      passwordHash: await unknownPasswordHash(),
      hasPassword: false,
      emailVerified: true,
      identities: [identity],
      profile: fields,
    });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'USER_EXISTS' || error.code === 'DUPLICATE_VALUE') return undefined;
    throw translated(error, provider);
  }
};
