import { ObjectId } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import { estimateDocuments, loadCollection, requireCollection } from '../../collections/find-collections.ts';
import { usersCollection } from '../../collections/names.ts';
import { AppError, maxErrors, validationFailed } from '../../core/errors.ts';
import { cutText } from '../../core/text.ts';
import { type Page, type PageRequest, pageFrom } from '../../core/values.ts';
import type { JsonObject } from '../../documents/document.ts';
import { followLater, noteRemoval } from '../../documents/store/cascade-records.ts';
import type { UpdatePlan } from '../../documents/store/plan-update.ts';
import { requireReferences } from '../../documents/store/references.ts';
import { requireUnrestricted } from '../../documents/store/removal.ts';
import { projectScope } from '../../persistence/item-keys.ts';
import { findPage } from '../../persistence/records.ts';
import type { Project } from '../../projects/project.ts';
import { isHooked } from '../../webhooks/events.ts';
import {
  type AccountStore,
  accountUnavailable,
  enabled,
  findById,
  type OneAccount,
  requireAccount,
} from '../account-store.ts';
import { ownPassword, replaceCredentials, unchangedSince, unsetAnonymous, wrongPassword } from '../credentials.ts';
import { checkEmail } from '../email-tokens.ts';
import { checkPassword, hashPassword } from '../passwords.ts';
import { type Client, listSessions, requireRevocation, revokeAllSessions, type Session } from '../sessions.ts';
import { accountWithPassword, checkCredentials } from '../sign-in.ts';
import { requireStepUp } from '../step-up.ts';
import type { Bearer } from '../tokens.ts';
import { removeInvitationsOf } from './invitation-records.ts';
import { changeProfile, newProfile, planProfile, securityView, userNotFound } from './profile.ts';
import { insertUser, rethrowUserExists, type SignUpBody } from './sign-up.ts';
import {
  profileFields,
  removalOfUser,
  sealLastView,
  type UserRecord,
  type UserView,
  userAccounts,
  userRecords,
  userView,
  withUserEvent,
} from './users.ts';

/** Disables the user and ends sessions first, so that an interrupted deletion can be repeated or undone. */
const removeUser = async (project: Project, users: Collection, filter: OneAccount): Promise<boolean> => {
  const disabled = await replaceCredentials(userAccounts(project), filter, { isDisabled: true });
  if (!disabled) return false;
  const { _id } = disabled;
  const noted = await noteRemoval(project, removalOfUser(_id));
  await removeInvitationsOf(project, _id);
  await withUserEvent(project, 'user.deleted', _id, () => userRecords(project).deleteOne({ _id }), {
    ...(isHooked(project, 'user') && { lastView: await sealLastView(users, disabled) }),
  });
  await followLater(project, noted);
  return true;
};

/** Errors: those of `requireStepUp`; 401 `TOKEN_INVALID` for all but one of concurrent calls. */
export const deleteAccount = async (
  project: Project,
  users: Collection,
  { userId, sessionId }: Bearer,
  password: string | undefined,
  client: Client,
): Promise<void> => {
  const store = userAccounts(project);
  const account = await requireAccount(store, userId);
  await requireStepUp(store, account, { sessionId, password }, client);
  if (await removeUser(project, users, { ...unchangedSince(account), ...enabled })) return;
  throw (await store.find({ _id: account._id, ...enabled })) ? wrongPassword() : accountUnavailable();
};

interface ManagedUser extends UserView {
  readonly disabled: boolean;
}

const toManagedUser = (users: Collection, record: UserRecord): ManagedUser => ({
  ...userView(users, record),
  disabled: record.isDisabled === true,
});

/** Throws 404 `COLLECTION_NOT_FOUND`; works with accounts turned off. */
const usersOf = (project: Project): Promise<Collection> => loadCollection(project, usersCollection);

const requireUser = async (project: Project, id: string): Promise<UserRecord> => {
  const record = await findById(userAccounts(project), id);
  if (!record) throw userNotFound();
  return record;
};

/** Throws 400 `VALIDATION_FAILED`. */
const requireKnownFields = (users: Collection, body: JsonObject, others: readonly string[]): void => {
  const known = new Set([...others, ...profileFields(users).map(({ key }) => key)]);
  const errors = Object.keys(body)
    .filter((name) => !known.has(name.split('.', 1)[0] ?? ''))
    .slice(0, maxErrors)
    .map((name) => ({ field: cutText(name, 200), message: `${cutText(name, 200)} is not a known field` }));
  if (errors.length > 0) throw validationFailed(...errors);
};

/** MongoDB compares strings by bytes; this character sorts last. */
const lastCharacter = '\u{10FFFF}';

interface UsersRequest extends PageRequest {
  readonly email?: string | undefined;
  readonly ids?: readonly string[] | undefined;
}

/** Newest first; with `email` (in lower case) those whose address starts with it, by address; with `ids` only these. */
export const listUsers = async (
  project: Project,
  { email, ids, ...request }: UsersRequest,
): Promise<Page<ManagedUser>> => {
  const users = await requireCollection(project, usersCollection);
  const records = userRecords(project);
  const there = { isDeleted: { $ne: true }, ...(ids && { _id: { $in: ids.map((id) => new ObjectId(id)) } }) };
  const show = (record: UserRecord) => toManagedUser(users, record);
  if (email === undefined) {
    const count = ids ? undefined : () => estimateDocuments(project, users.name);
    return findPage(records, there, request, { sort: { _id: -1 } }, show, count);
  }
  const beginning = { ...there, email: { $gte: email, $lt: email + lastCharacter } };
  return findPage(records, beginning, request, { sort: { email: 1, _id: 1 } }, show);
};

export const getUser = async (project: Project, id: string): Promise<ManagedUser> => {
  const users = await requireCollection(project, usersCollection);
  return toManagedUser(users, await requireUser(project, id));
};

export const userSecurity = async (project: Project, id: string) => {
  await usersOf(project);
  return securityView(await requireUser(project, id));
};

/** Also while sign-ups are closed. Sends no email. Errors are those of `signUpUser`. */
export const createUser = async (project: Project, body: SignUpBody): Promise<ManagedUser> => {
  const users = await usersOf(project);
  requireKnownFields(users, body, ['email', 'password']);
  const credentials = checkCredentials(body);
  const profile = newProfile(users, body);
  await requireReferences({ project, collection: users, caller: { kind: 'secret' } }, profile);
  const account = await accountWithPassword(credentials);
  return toManagedUser(users, await insertUser(project, { ...account, profile }));
};

/** Throws 404 `USER_NOT_FOUND`, and 409 if references restrict the deletion. */
export const deleteUser = async (project: Project, id: string): Promise<void> => {
  const users = await usersOf(project);
  const { _id } = await requireUser(project, id);
  await requireUnrestricted({ project, collection: users, caller: { kind: 'secret' } }, removalOfUser(_id));
  await removeUser(project, users, { _id });
};

const requireOwner = async (project: Project, userId: string): Promise<string> => {
  await usersOf(project);
  return (await requireUser(project, userId))._id.toHexString();
};

/** The latest used first. Throws 404 `USER_NOT_FOUND`. */
export const listUserSessions = async (
  project: Project,
  userId: string,
  request: PageRequest,
): Promise<Page<Session>> =>
  pageFrom(await listSessions(projectScope(project.id), await requireOwner(project, userId)), request);

export const revokeUserSessions = async (project: Project, userId: string): Promise<void> =>
  revokeAllSessions(projectScope(project.id), await requireOwner(project, userId));

export const revokeUserSession = async (project: Project, userId: string, sessionId: string): Promise<void> =>
  requireRevocation(projectScope(project.id), await requireOwner(project, userId), sessionId);

/** What developers can change in addition to schema fields. */
interface AccountChanges {
  readonly email?: string | undefined;
  readonly password?: string | undefined;
  readonly disabled?: boolean | undefined;
}

const own = ['email', 'password', 'disabled'];

const profilePlan = (users: Collection, body: JsonObject): UpdatePlan | undefined => {
  const profile = Object.entries(body).filter(([name]) => !own.includes(name));
  return profile.length === 0 ? undefined : planProfile(users, Object.fromEntries(profile));
};

const emailChange = (record: UserRecord, given: string | undefined): Partial<UserRecord> => {
  if (given === undefined) return {};
  const email = checkEmail(given);
  return email === record.email ? {} : { email, emailVerified: false };
};

const passwordChange = async (store: AccountStore, given: string | undefined): Promise<Partial<UserRecord>> =>
  given === undefined ? {} : ownPassword(store, await hashPassword(checkPassword(given)));

const busy = 'The user is being changed right now. Retry.';

/** `password` and `disabled` end sessions. Errors: 400, 404, 409 `USER_EXISTS`, 409 `DUPLICATE_VALUE`. */
export const updateUser = async (
  project: Project,
  id: string,
  body: JsonObject & AccountChanges,
): Promise<ManagedUser> => {
  const users = await usersOf(project);
  requireKnownFields(users, body, own);
  if (Object.keys(body).length === 0) throw new AppError('NOTHING_TO_UPDATE', 'Name at least one field to change.');
  const record = await requireUser(project, id);
  const { disabled, email, password } = body;
  const plan = profilePlan(users, body);
  const context = { project, collection: users, caller: { kind: 'secret' } } as const;
  if (plan) await requireReferences(context, plan.set);
  const store = userAccounts(project);
  const address = emailChange(record, email);
  const credentials = { ...(await passwordChange(store, password)), ...(disabled && { isDisabled: true }) };
  const unset = disabled === false ? { isDisabled: '' } : {};
  const endsSessions = Object.keys(credentials).length > 0;
  const change = {
    context,
    // `null` matches a missing address; the driver drops `undefined`.
    filter: { _id: record._id, email: { $eq: record.email ?? null } },
    beside: {
      $set: address,
      $unset: {
        ...(!endsSessions && unset),
        ...unsetAnonymous({ ...record, ...address }),
        ...(address.email && { '_signIn.newEmail': '' }),
      },
    },
    current: () => requireUser(project, id),
    busy,
  };
  const changesProfile = plan !== undefined || address.email !== undefined || !endsSessions;
  let updated = changesProfile ? await changeProfile(project, plan, change).catch(rethrowUserExists) : record;
  if (endsSessions) {
    updated =
      (await replaceCredentials(store, { _id: record._id }, credentials, { unset })) ??
      (await requireUser(project, id));
  }
  return toManagedUser(users, updated);
};
