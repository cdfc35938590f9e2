import { randomBytes } from 'node:crypto';
import type { Collection } from '../../collections/collection.ts';
import { brokenBound } from '../../collections/schema/field-bounds.ts';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { onDuplicateKey, retryOnConflict } from '../../core/retry.ts';
import { type JsonObject, revisionField } from '../../documents/document.ts';
import { requireReferences } from '../../documents/store/references.ts';
import { requireFit, sizeOf } from '../../documents/store/validate.ts';
import type { Run } from '../../persistence/idempotency.ts';
import { freeSlot } from '../../projects/create-project.ts';
import { requireManagedRoom } from '../../projects/database-quota.ts';
import { plans } from '../../projects/plans.ts';
import type { Project } from '../../projects/project.ts';
import type { NewAccount } from '../account-store.ts';
import type { Credentials } from '../credentials.ts';
import { firstDevice } from '../devices.ts';
import { sendVerification } from '../email-proofs.ts';
import { canonicalEmail } from '../email-tokens.ts';
import { insertOnce, newOpening, repeatedSignUp } from '../repeated-sign-up.ts';
import type { Client } from '../sessions.ts';
import {
  checkCredentials,
  identityOnlyAccount,
  type OpenByAddress,
  passwordlessAccount,
  passwordSignIn,
  type SignIn,
  signUp,
} from '../sign-in.ts';
import { signInFailed } from '../social/ask-provider.ts';
import type { NewIdentity } from '../social/link.ts';
import type { IdentityProvider, SocialProfile } from '../social/providers.ts';
import { laterProfile, newProfile, requireProfileRights } from './profile.ts';
import { profileFields, type UserRecord, userRecords, userSignIns, withUserEvent } from './users.ts';

const limitReached = (project: Project, limit: number): AppError =>
  new AppError(
    'PLAN_LIMIT',
    `The ${project.plan} plan allows ${limit} users, and this project has reached this limit.`,
  );

/**
 * A free slot below the plan's user limit; `undefined` without a limit. Throws 403 `PLAN_LIMIT`. The unique index on
 * `planSlot` decides between concurrent callers. Users without a slot count too.
 */
const freePlanSlot = async (project: Project): Promise<number | undefined> => {
  const limit = plans[project.plan].users;
  if (limit === null) return undefined;
  const users = await userRecords(project).find({}, { projection: { _id: 0, planSlot: 1 }, limit });
  if (users.length >= limit) throw limitReached(project, limit);
  const used = users.flatMap(({ planSlot }) => planSlot ?? []);
  const slot = freeSlot(used, limit - (users.length - used.length));
  if (slot === undefined) throw limitReached(project, limit);
  return slot;
};

type NewUser = NewAccount & { readonly profile: JsonObject };

/** Field of a duplicate value, if that is the error. */
const takenField = (error: unknown): string | undefined =>
  error instanceof AppError && error.code === 'DUPLICATE_VALUE' ? error.errors?.[0]?.field : undefined;

/** Throws 409 `USER_EXISTS` if the address is taken, else the cause. */
export const rethrowUserExists = (cause: unknown): never => {
  if (takenField(cause) !== 'email') throw cause;
  throw new AppError('USER_EXISTS', 'An account with this email address already exists. Sign in instead.', { cause });
};

const insert = (project: Project, user: UserRecord): Promise<UserRecord> =>
  retryOnConflict('Too many accounts are being created at the same time. Retry.', async () => {
    const planSlot = await freePlanSlot(project);
    const record = { ...user, ...(planSlot === undefined ? {} : { planSlot }) };
    const inserted = userRecords(project).insertOne(record);
    return onDuplicateKey(
      inserted.then(() => record),
      (error) => (takenField(error) === 'planSlot' ? null : rethrowUserExists(error)),
    );
  });

/**
 * Stores a new user. Errors: 409 `USER_EXISTS`, 409 `DUPLICATE_VALUE`, 403 `PLAN_LIMIT` (exact under concurrency), 403
 * `DATABASE_QUOTA_EXCEEDED`, 413 `DOCUMENT_TOO_LARGE`.
 */
export const insertUser = async (project: Project, user: NewUser): Promise<UserRecord> => {
  const { _id = newId(), email, passwordHash, hasPassword, emailVerified, identities, profile, _signIn } = user;
  const now = new Date(clock.now());
  const record = {
    _id,
    ...profile,
    ...(email !== undefined && { email }),
    ...(passwordHash !== undefined && { password: passwordHash }),
    emailVerified,
    hasPassword,
    ...(identities.length > 0 ? { identities } : {}),
    ...(_signIn && { _signIn }),
    credentialVersion: 0,
    isDeleted: false,
    deletedAt: null,
    createdAt: now,
    updatedAt: now,
    [revisionField]: 1,
  };
  const size = sizeOf(record);
  requireFit(record, size);
  await requireManagedRoom(project, size);
  return withUserEvent(project, 'user.created', _id, () => insert(project, record), { isNew: true });
};

/** Address, password and fields of the `users` schema. */
export type SignUpBody = JsonObject & Credentials;

/** Throws 403 `SIGNUP_DISABLED`. */
export const requireOpenSignup = ({ allowPublicSignup }: Project): void => {
  if (allowPublicSignup) return;
  throw new AppError('SIGNUP_DISABLED', 'This project does not accept new sign-ups. Existing users can sign in.');
};

/**
 * Creates a user, signs in and sends the verification email. A repeated `run` returns what the earlier one created.
 * Errors: 403 `SIGNUP_DISABLED`, 400 `VALIDATION_FAILED`, those of `insertUser`.
 */
export const signUpUser = async (
  project: Project,
  users: Collection,
  body: SignUpBody,
  client: Client,
  run?: Run,
): Promise<SignIn<UserRecord>> => {
  const store = userSignIns(project);
  const repeated = await repeatedSignUp(store, run, canonicalEmail(body.email), passwordSignIn);
  if (repeated) {
    // An interrupted earlier run may have ended before this email.
    if (!run?.isAnswered) await sendVerification(store, repeated.account);
    return repeated;
  }
  requireOpenSignup(project);
  const credentials = checkCredentials(body);
  const profile = newProfile(users, body);
  await requireProfileRights(project, users, body, profile);
  await requireReferences({ project, collection: users, caller: { kind: 'publishable' } }, profile);
  const insert = insertOnce(store, run, (account: NewAccount) => insertUser(project, { ...account, profile }));
  const signIn = await signUp(store, credentials, insert, client, await newOpening(run));
  await sendVerification(store, signIn.account);
  return signIn;
};

/**
 * Creates an account for a verified address if sign-ups are open. Required fields are due with the first change of the
 * profile.
 */
export const openByAddress =
  (project: Project, users: Collection, client: Client): OpenByAddress<UserRecord> =>
  async (email) => {
    if (!project.allowPublicSignup) return undefined;
    try {
      const { profile, _signIn } = laterProfile(users);
      const account = {
        ...(await passwordlessAccount(email)),
        profile,
        _signIn: { ..._signIn, ...firstDevice(client) },
      };
      return await insertUser(project, account);
    } catch (error) {
      if (error instanceof AppError && error.code === 'USER_EXISTS') return null;
      throw error;
    }
  };

/** The provider's values by field; later attempts vary the user name. */
const valuesOf = ({ name, username }: SocialProfile, attempt: number): Readonly<Record<string, string>> => {
  const suffix = attempt === 0 ? '' : `-${randomBytes(3).toString('hex')}`;
  return { ...(name && { name }), ...(username && { username: username + suffix }) };
};

/** The provider's values that the schema accepts. */
const profileFrom = (users: Collection, told: Readonly<Record<string, string>>): JsonObject => {
  // Optional fields whose bounds the provider's value breaks are omitted, because the user cannot change it here.
  const texts = profileFields(users).filter(
    (field) =>
      field.type === 'String' &&
      Object.hasOwn(told, field.key) &&
      // The provider's value counts as the user's own.
      (field.write === undefined || field.write === 'create' || field.write === true) &&
      (field.required || brokenBound(field, told[field.key]) === undefined),
  );
  return newProfile(users, Object.fromEntries(texts.map(({ key }) => [key, told[key]])));
};

const isRequired = (users: Collection, field: string): boolean =>
  profileFields(users).some(({ key, required }) => key === field && required);

const signUpInstead = 'Sign up with an email address and a password instead.';

const withMissingFields = (error: AppError, { title }: IdentityProvider): AppError => {
  if (error.code !== 'VALIDATION_FAILED') return error;
  const missing = error.errors?.[0]?.message ?? error.message;
  return signInFailed(`This app requires more than ${title} provides: ${missing}. ${signUpInstead}`, error);
};

/** Omits values that are taken if the schema allows it. */
const insertWithoutTaken = async (
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
    // Of a combination that must be unique, it is enough to vary or omit one field.
    const spare = field
      ?.split(', ')
      .find((each) => Object.hasOwn(told, each) && (each === 'username' || !isRequired(users, each)));
    if (error.code === 'USER_EXISTS' || field === 'identities.key' || spare === 'username') return undefined;
    if (field === undefined) throw withMissingFields(error, provider);
    if (spare === undefined) {
      const message = `Another account of this app already has this ${field}. ${signUpInstead}`;
      throw signInFailed(message, error);
    }
    const { [spare]: _taken, ...rest } = told;
    return insertWithoutTaken(project, users, provider, account, rest);
  }
};

/**
 * Creates an account for a new identity; `undefined` if address or user name was just taken. Errors: 403
 * `SIGNUP_DISABLED`, 403 `PLAN_LIMIT`, `SOCIAL_SIGN_IN_FAILED`.
 */
export const createAccount = async (
  project: Project,
  users: Collection,
  { email, identity, provider, profile, attempt }: NewIdentity,
): Promise<UserRecord | undefined> => {
  requireOpenSignup(project);
  const account = email === undefined ? identityOnlyAccount(identity) : await passwordlessAccount(email, identity);
  return insertWithoutTaken(project, users, provider, account, valuesOf(profile, attempt));
};
