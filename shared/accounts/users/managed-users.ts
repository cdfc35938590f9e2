import { findPage } from '../../clients/find-page.ts';
import type { Collection } from '../../collections/collection.ts';
import { loadCollection, requireCollection } from '../../collections/find-collections.ts';
import { estimateDocuments } from '../../collections/on-collection.ts';
import { usersCollection } from '../../collections/schema/collection-name.ts';
import { cutText } from '../../core/bounded-text.ts';
import { maxErrors, validationFailed } from '../../core/errors.ts';
import { type Page, type PageRequest, pageFrom } from '../../core/page.ts';
import type { JsonObject } from '../../documents/document.ts';
import type { Project } from '../../projects/project.ts';
import { projectScope } from '../../table/item-key.ts';
import { findById } from '../account-store.ts';
import { requireRevocation, revokeAllSessions } from '../revoke-sessions.ts';
import { listSessions, type Session } from '../sessions.ts';
import { accountWithPassword, checkCredentials } from '../sign-up.ts';
import { userAccounts } from '../stores/users.ts';
import { removeUser } from './delete-account.ts';
import { insertUser } from './insert-user.ts';
import { newProfile, userNotFound } from './profile.ts';
import { securityView } from './security-view.ts';
import type { SignUpBody } from './sign-up.ts';
import { profileFields, type UserRecord, type UserView, userRecords, userView } from './user-record.ts';

/** An end user as the developer of the project sees them (contract 6, "Records"). */
export interface ManagedUser extends UserView {
  readonly disabled: boolean;
}

export const toManagedUser = (users: Collection, record: UserRecord): ManagedUser => ({
  ...userView(users, record),
  disabled: record.isDisabled === true,
});

/** The `users` collection as it is now, whether or not accounts are turned on; none → 404 `COLLECTION_NOT_FOUND`. */
export const usersOf = (project: Project): Promise<Collection> => loadCollection(project, usersCollection);

export const requireUser = async (project: Project, id: string): Promise<UserRecord> => {
  const record = await findById(userAccounts(project), id);
  if (!record) throw userNotFound();
  return record;
};

/** Refuses fields that are neither of the schema nor among `others`: 400 `VALIDATION_FAILED`. */
export const requireKnownFields = (users: Collection, body: JsonObject, others: readonly string[]): void => {
  const known = new Set([...others, ...profileFields(users).map(({ key }) => key)]);
  const errors = Object.keys(body)
    .filter((name) => !known.has(name.split('.', 1)[0] ?? ''))
    .slice(0, maxErrors)
    .map((name) => ({ field: cutText(name, 200), message: `${cutText(name, 200)} is not a known field` }));
  if (errors.length > 0) throw validationFailed(...errors);
};

/** MongoDB compares texts by their bytes, of which no character has higher ones. */
const lastCharacter = '\u{10FFFF}';

/** All of them, the newest first; or those whose address begins with `email`, in lower case, by their address. */
export const listUsers = async (
  project: Project,
  { email, ...request }: PageRequest & { readonly email?: string | undefined },
): Promise<Page<ManagedUser>> => {
  const users = await requireCollection(project, usersCollection);
  const records = userRecords(project);
  const there = { isDeleted: { $ne: true } };
  const show = (record: UserRecord) => toManagedUser(users, record);
  if (email === undefined) {
    return findPage(records, there, request, { sort: { _id: -1 } }, show, () => estimateDocuments(project, users.name));
  }
  const beginning = { ...there, email: { $gte: email, $lt: email + lastCharacter } };
  return findPage(records, beginning, request, { sort: { email: 1, _id: 1 } }, show);
};

export const getUser = async (project: Project, id: string): Promise<ManagedUser> => {
  const users = await requireCollection(project, usersCollection);
  return toManagedUser(users, await requireUser(project, id));
};

/** With what an end user may sign in, as they see it themselves. */
export const userSecurity = async (project: Project, id: string) => {
  await usersOf(project);
  return securityView(await requireUser(project, id));
};

/** Also while public sign-ups are closed; refusals as `signUp` has them, and no mail is sent. */
export const createUser = async (project: Project, body: SignUpBody): Promise<ManagedUser> => {
  const users = await usersOf(project);
  requireKnownFields(users, body, ['email', 'password']);
  const credentials = checkCredentials(body);
  const profile = newProfile(users, body);
  const account = await accountWithPassword(credentials);
  return toManagedUser(users, await insertUser(project, { ...account, profile }));
};

/** Deletes an end user for good, as they may themselves (contract 3, "Deleting the account"). Unknown → 404. */
export const deleteUser = async (project: Project, id: string): Promise<void> => {
  const users = await usersOf(project);
  const { _id } = await requireUser(project, id);
  await removeUser(project, users, { _id });
};

const requireOwner = async (project: Project, userId: string): Promise<string> => {
  await usersOf(project);
  return (await requireUser(project, userId))._id.toHexString();
};

/** A page of an end user's sessions, the one used last first; unknown user → 404. */
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
