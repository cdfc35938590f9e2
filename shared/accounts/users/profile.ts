import { type Document, ObjectId } from 'mongodb';
import { type Collection, noRowSecurity, systemFields } from '../../collections/collection.ts';
import { unknownFields } from '../../collections/schema/field-path.ts';
import { emailVerifiedField, publicProfile, publicProfileProjection } from '../../collections/schema/users.ts';
import { AppError, type FieldError, validationFailed } from '../../core/errors.ts';
import type { AccessContext } from '../../documents/access/access.ts';
import {
  requireInsertRights,
  unreadableFor,
  unreadablePaths,
  withoutUnreadable,
} from '../../documents/access/field-rights.ts';
import { isAt, type JsonObject, revisionOf } from '../../documents/document.ts';
import { writeGuarded } from '../../documents/store/guarded-write.ts';
import { planUpdate, type UpdatePlan, withoutGrowth } from '../../documents/store/plan-update.ts';
import { requireReferences } from '../../documents/store/references.ts';
import { type Settle, settleUpdate } from '../../documents/store/settle-update.ts';
import { refuseOperators, sanitizeInsert, sanitizeUpdate, sizeOf } from '../../documents/store/validate.ts';
import { convertFields } from '../../documents/values.ts';
import { wireDocument } from '../../documents/wire.ts';
import { databaseFull, hasManagedRoom } from '../../projects/database-quota.ts';
import type { Project } from '../../projects/project.ts';
import { nameOfProvider } from '../../projects/social/providers.ts';
import { type AccountFilter, enabled, requireAccount, type SignInState } from '../account-store.ts';
import { toPasskeyView } from '../passkeys/passkey.ts';
import type { Bearer } from '../tokens.ts';
import { ownView, profileFields, type UserRecord, type UserView, userAccounts, userRecords } from './users.ts';

const pickFields = (users: Collection, body: JsonObject, nameOf: (key: string) => string): JsonObject => {
  const own = new Set(profileFields(users).map(({ key }) => key));
  return Object.fromEntries(Object.entries(body).filter(([key]) => own.has(nameOf(key))));
};

/** Fields outside the schema that clients may send back. */
const ofEveryUser: ReadonlySet<string> = new Set([
  ...['email', 'password', emailVerifiedField, 'isAnonymous', 'disabled'],
  ...systemFields,
]);

/** Errors for fields that a closed schema lacks. */
const unknownInProfile = (users: Collection, body: JsonObject): readonly FieldError[] => {
  if (!users.closed) return [];
  const fields = [...profileFields(users), ...ofEveryUser].map((field) =>
    typeof field === 'string' ? field : field.key,
  );
  const known = new Set(fields);
  const unknown = Object.entries(body).filter(([path]) => !known.has(path.split('.', 1)[0] ?? ''));
  return unknownFields(users, [], Object.fromEntries(unknown));
};

/** In stored form, with defaults; other fields are dropped. Throws 400 `VALIDATION_FAILED`. */
export const newProfile = (users: Collection, body: JsonObject): JsonObject => {
  refuseOperators(body);
  const sent = sanitizeInsert(pickFields(users, body, (key) => key));
  const errors: FieldError[] = [...unknownInProfile(users, body), ...unknownFields(users, profileFields(users), sent)];
  const profile = convertFields(profileFields(users), sent, '', errors);
  if (errors.length > 0) throw validationFailed(...errors);
  return profile;
};

const contextOf = (project: Project, users: Collection, userId?: string): AccessContext => ({
  project,
  collection: users,
  caller: { kind: 'publishable', ...(userId !== undefined && { userId }) },
});

/** Throws 403 `FIELD_PROTECTED`. */
export const requireProfileRights = (
  project: Project,
  users: Collection,
  body: JsonObject,
  profile: JsonObject,
): Promise<void> => requireInsertRights(contextOf(project, users), body, profile);

const requiredKeys = (users: Collection): readonly string[] =>
  profileFields(users).flatMap(({ key, required }) => (required ? [key] : []));

/** The schema's defaults. Required fields are due with the first change of the profile. */
export const laterProfile = (users: Collection): { readonly profile: JsonObject; readonly _signIn?: SignInState } => {
  const profile = newProfile(
    { ...users, schema: profileFields(users).map((field) => ({ ...field, required: false })) },
    {},
  );
  const isDue = requiredKeys(users).some((key) => !Object.hasOwn(profile, key));
  return { profile, ...(isDue && { _signIn: { profileDue: true } }) };
};

const nothingOfProfile = (): AppError =>
  new AppError(
    'NOTHING_TO_UPDATE',
    'Nothing to update. Send at least one field of the users schema except email, password and emailVerified. To change the password, use change-password.',
  );

const profilePart = (users: Collection, body: JsonObject): JsonObject =>
  pickFields(users, body, (key) => key.split('.', 1)[0] ?? '');

/** Fields outside the schema are dropped. Throws 400 `NOTHING_TO_UPDATE` and the errors of `planUpdate`. */
export const planProfile = (users: Collection, body: JsonObject): UpdatePlan => {
  refuseOperators(body);
  const unknown = unknownInProfile(users, body);
  if (unknown.length > 0) throw validationFailed(...unknown);
  const sent = profilePart(users, body);
  if (Object.keys(sent).length === 0 && Object.keys(body).length > 0) throw nothingOfProfile();
  return planUpdate(
    { name: users.name, schema: profileFields(users), rls: noRowSecurity, closed: users.closed === true },
    sent,
  );
};

interface ProfileChange {
  readonly context: AccessContext;
  readonly filter: AccountFilter;
  readonly beside?: Document;
  /** Computes what is set from the current user. */
  readonly settle?: Settle | undefined;
  readonly current: () => Promise<UserRecord>;
  readonly busy: string;
}

/** Large records are read first to be measured; in a full database the profile cannot grow. */
export const changeProfile = async (
  project: Project,
  planned: UpdatePlan | undefined,
  { context, filter, beside = {}, settle, current, busy }: ProfileChange,
): Promise<UserRecord> => {
  const hasRoom = !planned || (await hasManagedRoom(project, planned.size));
  const plan = hasRoom
    ? planned
    : withoutGrowth(planned, databaseFull(project), await unreadablePaths(context, Object.keys(planned.set)));
  let [set, unchanged]: [JsonObject | undefined, AccountFilter] = [settle ? undefined : { ...plan?.set }, {}];
  return writeGuarded(plan?.guards ?? [], {
    write: async (conditions) => {
      if (!set) return null;
      const change = { ...beside, $set: { ...set, ...beside.$set } };
      return (await userAccounts(project).change({ ...filter, ...conditions, ...unchanged }, change)) ?? null;
    },
    read: async () => {
      const document = { ...(await current()) };
      if (settle) [set, unchanged] = [await settle(document), isAt(revisionOf(document))];
      return { document, bytes: sizeOf(document) };
    },
    busy,
  });
};

const requireProfile = (account: UserRecord, keys: readonly string[]): UserRecord => {
  const missing = account._signIn?.profileDue ? keys.filter((key) => !Object.hasOwn(account, key)) : [];
  if (missing.length === 0) return account;
  throw validationFailed(
    ...missing.map((field) => ({ field, message: `${field} is required, as the account has none yet` })),
  );
};

/** Matches accounts that have all these fields, or do not owe them. */
const hasFields = (keys: readonly string[]): AccountFilter =>
  keys.length === 0
    ? {}
    : { $or: [{ '_signIn.profileDue': { $ne: true } }, { $and: keys.map((key) => ({ [key]: { $exists: true } })) }] };

/** Changes the caller's profile. Errors: 409 `DUPLICATE_VALUE`, 401 `TOKEN_INVALID`, those of `planProfile`. */
export const updateProfile = async (
  project: Project,
  users: Collection,
  { userId }: Bearer,
  body: JsonObject,
): Promise<UserView> => {
  const plan = planProfile(users, body);
  const context = contextOf(project, users, userId);
  const settle = settleUpdate(context, plan.set, sanitizeUpdate(profilePart(users, body)));
  // Field rights are checked before references.
  if (!settle) await requireReferences(context, plan.set);
  const required = requiredKeys(users);
  const kept = required.filter((key) => !Object.hasOwn(plan.set, key));
  const updated = await changeProfile(project, plan, {
    context,
    filter: { _id: new ObjectId(userId), ...enabled, ...hasFields(kept) },
    ...(required.length > 0 && { beside: { $unset: { '_signIn.profileDue': '' } } }),
    settle:
      settle &&
      (async (account) => {
        const set = await settle(account);
        await requireReferences(context, set);
        return set;
      }),
    current: async () => requireProfile(await requireAccount(userAccounts(project), userId), kept),
    busy: 'Other requests are changing the profile. Retry.',
  });
  return ownView(project, users, updated);
};

export const userNotFound = (): AppError => new AppError('USER_NOT_FOUND', 'User not found');

/** Public part of a user's profile. Throws 404 `USER_NOT_FOUND`. */
export const getPublicProfile = async (
  project: Project,
  users: Collection,
  username: string,
): Promise<Record<string, unknown> & { readonly _id: string }> => {
  const field = profileFields(users).find(({ key }) => key === 'username');
  if (field?.type !== 'String') throw userNotFound();
  const unreadable = await unreadableFor(contextOf(project, users));
  // Callers who cannot read names cannot search by them.
  if (unreadable?.always.some(({ path }) => path === 'username')) throw userNotFound();
  const record = await userRecords(project).findOne(
    { username: { $eq: username }, isDeleted: { $ne: true }, isDisabled: { $ne: true } },
    { projection: publicProfileProjection(users) },
  );
  if (!record) throw userNotFound();
  const profile = wireDocument(publicProfile(users, record));
  const shown = unreadable ? withoutUnreadable(unreadable, profile, { ...record }) : profile;
  return { ...shown, _id: record._id.toHexString() };
};

/** A user's own sign-in methods; passkeys oldest first. */
export const securityView = ({
  email,
  emailVerified,
  password,
  hasPassword,
  identities = [],
  _signIn: { totp, passkeys = [] } = {},
}: UserRecord) => ({
  email: email ?? null,
  emailVerified: emailVerified === true,
  password: password !== undefined && hasPassword !== false,
  providers: [...new Set(identities.map(({ provider }) => provider))].map((provider) => ({
    provider,
    name: nameOfProvider(provider),
  })),
  passkeys: passkeys.map(toPasskeyView),
  /** Remaining recovery codes; `null` without an authenticator app. */
  secondFactor: totp ? { recoveryCodes: totp.recovery.length } : null,
});
