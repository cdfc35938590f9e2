import type { Filter } from 'mongodb';
import { onManaged } from '../../../clients/mongo.ts';
import type { Collection } from '../../../collections/collection.ts';
import { usersCollection } from '../../../collections/schema/collection-name.ts';
import { clock } from '../../../core/clock.ts';
import { AppError } from '../../../core/errors.ts';
import type { JsonObject } from '../../../documents/document.ts';
import { sizeOf } from '../../../documents/write/document-size.ts';
import { type UpdatePlan, withoutGrowth } from '../../../documents/write/update-plan.ts';
import type { Project } from '../../../projects/project.ts';
import { databaseFull, hasManagedRoom } from '../../../projects/quota/database-quota.ts';
import { credentialVersionOf, endSessions } from '../../credentials.ts';
import { checkEmail } from '../../email.ts';
import { checkPassword, hashPassword } from '../../passwords.ts';
import { userAccounts } from '../../stores/users.ts';
import { takenField, userExists } from '../insert-user.ts';
import { planProfile } from '../profile.ts';
import type { UserRecord } from '../user-record.ts';
import { type ManagedUser, requireKnownFields, requireUser, toManagedUser, usersOf } from './managed-user.ts';

/** What a developer may change of an end user besides the fields of the schema. */
export interface AccountChanges {
  readonly email?: string | undefined;
  readonly password?: string | undefined;
  readonly disabled?: boolean | undefined;
}

const own = ['email', 'password', 'disabled'];

const maxTries = 3;

/** What the body changes of the profile; in a full database it may not grow. */
const profilePlan = async (project: Project, users: Collection, body: JsonObject): Promise<UpdatePlan | undefined> => {
  const profile = Object.entries(body).filter(([name]) => !own.includes(name));
  if (profile.length === 0) return undefined;
  const plan = planProfile(users, Object.fromEntries(profile));
  return (await hasManagedRoom(project, plan.size)) ? plan : withoutGrowth(plan, databaseFull(project));
};

/** A new address is nobody's until it is verified; the same one stays what it is. */
const emailChange = (record: UserRecord, given: string | undefined): Partial<UserRecord> => {
  if (given === undefined) return {};
  const email = checkEmail(given);
  return email === record.email ? {} : { email, emailVerified: false };
};

const passwordChange = async (given: string | undefined): Promise<Partial<UserRecord>> =>
  given === undefined ? {} : { password: await hashPassword(checkPassword(given)), hasPassword: true };

const write = async (
  project: Project,
  filter: Filter<UserRecord>,
  set: object,
  { disabled, password }: AccountChanges,
): Promise<UserRecord | null> => {
  try {
    return await onManaged(project, (db) =>
      db.collection<UserRecord>(usersCollection).findOneAndUpdate(
        filter,
        {
          $set: { ...set, updatedAt: new Date(clock.now()), ...(disabled === true ? { isDisabled: true } : {}) },
          ...(disabled === false ? { $unset: { isDisabled: '' } } : {}),
          ...(disabled === true || password !== undefined ? { $inc: { credentialVersion: 1 } } : {}),
        },
        { returnDocument: 'after', maxTimeMS: 5000 },
      ),
    );
  } catch (error) {
    throw takenField(error) === 'email' ? userExists(error) : error;
  }
};

/** Writes what was planned and the rest; a user whose record is large is read again first, to be measured. */
const writeIfAble = async (
  project: Project,
  { _id, email }: UserRecord,
  plan: UpdatePlan | undefined,
  account: object,
  changes: AccountChanges,
): Promise<UserRecord> => {
  let conditions = plan?.conditions ?? [];
  for (let tries = 0; tries < maxTries; tries += 1) {
    const held = conditions.length > 0 ? { $and: [...conditions] } : {};
    const filter = { _id, email: { $eq: email }, ...held } as Filter<UserRecord>;
    const updated = await write(project, filter, { ...plan?.set, ...account }, changes);
    if (updated) return updated;
    const current = { ...(await requireUser(project, _id.toHexString())) };
    const bytes = sizeOf(current);
    const refusal = plan?.refusal(current, bytes);
    if (refusal) throw refusal;
    conditions = plan?.conditionsFor(current, bytes) ?? [];
  }
  throw new AppError('TOO_MANY_WRITERS', 'The user is being changed right now. Please try again.', {
    retryAfter: 1,
  });
};

/**
 * Changes an end user: fields of the schema, address, password, whether they are disabled; the last two end their
 * sessions. Unknown field, nothing or something invalid → 400; address taken → 409 `USER_EXISTS`; unknown user → 404.
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
  const plan = await profilePlan(project, users, body);
  const account = { ...emailChange(record, body.email), ...(await passwordChange(body.password)) };
  const updated = await writeIfAble(project, record, plan, account, body);
  if (body.disabled === true || body.password !== undefined) {
    await endSessions(userAccounts(project), record._id.toHexString(), credentialVersionOf(updated));
  }
  return toManagedUser(users, updated);
};
