import type { Collection } from '../../collections/collection.ts';
import { AppError } from '../../core/errors.ts';
import type { JsonObject } from '../../documents/document.ts';
import type { UpdatePlan } from '../../documents/write/update-plan.ts';
import type { Project } from '../../projects/project.ts';
import type { AccountStore } from '../account-store.ts';
import { ownPassword, replaceCredentials, unsetAnonymous } from '../credentials.ts';
import { checkEmail } from '../email.ts';
import { checkPassword, hashPassword } from '../passwords.ts';
import { userAccounts } from '../stores/users.ts';
import { refuseAddress } from './insert-user.ts';
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

/**
 * Changes an end user: fields of the schema, address, password, whether they are disabled; the last two end their
 * sessions, before these are written, and after all that can be refused. Unknown field, nothing or something invalid →
 * 400; address taken → 409 `USER_EXISTS`, another unique value → 409 `DUPLICATE_VALUE`; unknown user → 404.
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
  const address = emailChange(record, email);
  const credentials = { ...(await passwordChange(store, password)), ...(disabled && { isDisabled: true }) };
  const unset = disabled === false ? { isDisabled: '' } : {};
  const endsSessions = Object.keys(credentials).length > 0;
  const change = {
    // Of who has no address, `null` says so: the driver leaves `undefined` out.
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
  let updated = changesProfile ? await changeProfile(project, plan, change).catch(refuseAddress) : record;
  if (endsSessions) {
    updated =
      (await replaceCredentials(store, { _id: record._id }, credentials, { unset })) ??
      (await requireUser(project, id));
  }
  return toManagedUser(users, updated);
};
