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
  new AppError('PLAN_LIMIT', `The ${project.plan} plan allows ${limit} users, and this project has reached that.`);

/**
 * A free slot among the plan's users; `undefined` if it has no limit, 403 `PLAN_LIMIT` if none is left. The unique
 * index on `planSlot` decides between parallel callers; users without a slot, of a plan without limit, each take one.
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

/** The validated data of a new user, with the profile in its stored form. */
type NewUser = NewAccount & { readonly profile: JsonObject };

/** The field of a unique value that is taken, where that is what went wrong. */
const takenField = (error: unknown): string | undefined =>
  error instanceof AppError && error.code === 'DUPLICATE_VALUE' ? error.errors?.[0]?.field : undefined;

/** Throws what a write failed of; where the address has an account already 409 `USER_EXISTS`. */
export const refuseAddress = (cause: unknown): never => {
  if (takenField(cause) !== 'email') throw cause;
  throw new AppError('USER_EXISTS', 'An account with this email address already exists. Sign in instead.', { cause });
};

const insert = (project: Project, user: UserRecord): Promise<UserRecord> =>
  retryOnConflict('Too many accounts are being opened at once. Please try again.', async () => {
    const planSlot = await freePlanSlot(project);
    const record = { ...user, ...(planSlot === undefined ? {} : { planSlot }) };
    const inserted = userRecords(project).insertOne(record);
    return onDuplicateKey(
      inserted.then(() => record),
      (error) => (takenField(error) === 'planSlot' ? null : refuseAddress(error)),
    );
  });

/**
 * Stores a new user. Address taken → 409 `USER_EXISTS`; another unique field or the identity → 409 `DUPLICATE_VALUE`;
 * over the plan's users → 403 `PLAN_LIMIT`, exact under parallel calls; 403 `DATABASE_QUOTA_EXCEEDED`; 413.
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

/** The body of a sign-up: an address, a password, and fields of the `users` schema. */
export type SignUpBody = JsonObject & Credentials;

/** Refuses a new account while a project takes none: 403 `SIGNUP_DISABLED`. */
export const requireOpenSignup = ({ allowPublicSignup }: Project): void => {
  if (allowPublicSignup) return;
  throw new AppError('SIGNUP_DISABLED', 'This project does not accept new sign-ups. Existing users can sign in.');
};

/**
 * Opens a user's account, signs it in and sends the mail that verifies its address (contract 3, "Sign-up"). Sign-ups
 * closed → 403 `SIGNUP_DISABLED`; what is not valid → 400; other refusals as `insertUser` has them. A `run` that repeats
 * an earlier one returns what that one has opened.
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
    // An earlier run that ended without a response may have ended before this email.
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
 * Opens a user's account for who has proved an address, where sign-ups are open; what the schema requires is for the
 * first change of the profile to bring. Plan full → 403 `PLAN_LIMIT`.
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

/** What the provider tells, by the field that holds it; a later try varies the user name. */
const toldBy = ({ name, username }: SocialProfile, attempt: number): Readonly<Record<string, string>> => {
  const suffix = attempt === 0 ? '' : `-${randomBytes(3).toString('hex')}`;
  return { ...(name && { name }), ...(username && { username: username + suffix }) };
};

/** What was told, for those fields of the schema that can hold it. */
const profileFrom = (users: Collection, told: Readonly<Record<string, string>>): JsonObject => {
  // A name that breaks the bounds of a field that may be missing is left out, as nobody chose it.
  const texts = profileFields(users).filter(
    (field) =>
      field.type === 'String' &&
      Object.hasOwn(told, field.key) &&
      // What a provider tells, its user chose.
      (field.write === undefined || field.write === 'create' || field.write === true) &&
      (field.required || brokenBound(field, told[field.key]) === undefined),
  );
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
    // Of fields that are unique together, one that can be varied or left out is enough.
    const spare = field
      ?.split(', ')
      .find((each) => Object.hasOwn(told, each) && (each === 'username' || !isRequired(users, each)));
    if (error.code === 'USER_EXISTS' || field === 'identities.key' || spare === 'username') return undefined;
    if (field === undefined) throw translated(error, provider);
    if (spare === undefined) {
      const message = `Another account of this app has the same ${field}, which only one may have. ${otherwise}`;
      throw signInFailed(message, error);
    }
    const { [spare]: _taken, ...rest } = told;
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
  { email, identity, provider, profile, attempt }: NewIdentity,
): Promise<UserRecord | undefined> => {
  requireOpenSignup(project);
  const account = email === undefined ? identityOnlyAccount(identity) : await passwordlessAccount(email, identity);
  return openAccount(project, users, provider, account, toldBy(profile, attempt));
};
