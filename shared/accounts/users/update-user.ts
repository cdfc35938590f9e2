import type { Document } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import { AppError } from '../../core/errors.ts';
import type { JsonObject } from '../../documents/document.ts';
import type { UpdatePlan } from '../../documents/write/update-plan.ts';
import type { Project } from '../../projects/project.ts';
import { type AccountFilter, type AccountStore, findByEmail } from '../account-store.ts';
import { ownPassword, replaceCredentials, unsetAnonymous } from '../credentials.ts';
import { checkEmail } from '../email.ts';
import { checkPassword, hashPassword } from '../passwords.ts';
import { userAccounts } from '../stores/users.ts';
import { refuseAddress, userExists } from './insert-user.ts';
import { type ManagedUser, requireKnownFields, requireUser, toManagedUser, usersOf } from './managed-users.ts';
import { changeProfile, planProfile } from './profile.ts';
import type { UserRecord } from './user-record.ts';

/** What a developer may change of an end user besides the fields of the schema. */
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

/** A new address is nobody's until it is verified; the same one stays what it is. */
const emailChange = (record: UserRecord, given: string | undefined): Partial<UserRecord> => {
  if (given === undefined) return {};
  const email = checkEmail(given);
  return email === record.email ? {} : { email, emailVerified: false };
};

const passwordChange = async (store: AccountStore, given: string | undefined): Promise<Partial<UserRecord>> =>
  given === undefined ? {} : ownPassword(store, await hashPassword(checkPassword(given)));

const busy = 'The user is being changed right now. Please try again.';

/** Whoever was first has changed the credentials too, so that the sessions are to be ended for those. */
const noneIfBusy = (error: unknown): undefined => {
  if (!(error instanceof AppError && error.code === 'TOO_MANY_WRITERS')) throw error;
};

/**
 * Changes an end user: fields of the schema, address, password, whether they are disabled; the last two end their
 * sessions, before anything is written. Unknown field, nothing or something invalid → 400; address taken → 409
 * `USER_EXISTS`; unknown user → 404.
 */
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
  const store = userAccounts(project);
  // Of who has no address, `null` says so: the driver leaves `undefined` out.
  const filter = { _id: record._id, email: { $eq: record.email ?? null } };
  const set = {
    ...emailChange(record, email),
    ...(await passwordChange(store, password)),
    ...(disabled && { isDisabled: true }),
  };
  const unset = disabled === false ? { isDisabled: '' } : {};
  const write = (matching: AccountFilter, beside: Document) =>
    changeProfile(project, plan, { filter: matching, beside, current: () => requireUser(project, id), busy });
  const endsSessions = disabled === true || password !== undefined;
  // The write decides, but by then their sessions have ended.
  if (endsSessions && set.email !== undefined && (await findByEmail(store, set.email))) throw userExists();
  const updated = await (endsSessions
    ? replaceCredentials(store, filter, set, { unset, write: (...change) => write(...change).catch(noneIfBusy) })
    : write(filter, { $set: set, $unset: { ...unset, ...unsetAnonymous({ ...record, ...set }) } })
  ).catch(refuseAddress);
  if (!updated) {
    await requireUser(project, id);
    throw new AppError('TOO_MANY_WRITERS', busy, { retryAfter: 1 });
  }
  return toManagedUser(users, updated);
};
