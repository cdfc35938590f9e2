import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { newId } from '../../core/new-id.ts';
import { unlessTaken, untilWritten } from '../../core/until-written.ts';
import type { JsonObject } from '../../documents/document.ts';
import { revisionField } from '../../documents/revision.ts';
import { requireFit, sizeOf } from '../../documents/write/document-size.ts';
import { plans } from '../../projects/plans.ts';
import type { Project } from '../../projects/project.ts';
import { requireManagedRoom } from '../../projects/quota/database-quota.ts';
import { freeSlot } from '../../projects/slots.ts';
import type { NewAccount } from '../account-store.ts';
import { announcedUser } from './announced-user.ts';
import { type UserRecord, userRecords } from './user-record.ts';

const limitReached = (project: Project, limit: number): AppError =>
  new AppError('PLAN_LIMIT', `The ${project.plan} plan allows ${limit} users, and this project has as many.`);

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
export const takenField = (error: unknown): string | undefined =>
  error instanceof AppError && error.code === 'DUPLICATE_VALUE' ? error.errors?.[0]?.field : undefined;

/** Throws what a write failed of; where the address has an account already 409 `USER_EXISTS`. */
export const refuseAddress = (cause: unknown): never => {
  if (takenField(cause) !== 'email') throw cause;
  throw new AppError('USER_EXISTS', 'An account with this e-mail address exists already. Log in instead.', { cause });
};

const insert = (project: Project, user: UserRecord): Promise<UserRecord> =>
  untilWritten('Too many accounts are being opened at once. Please try again.', async () => {
    const planSlot = await freePlanSlot(project);
    const record = { ...user, ...(planSlot === undefined ? {} : { planSlot }) };
    const inserted = userRecords(project).insertOne(record);
    return unlessTaken(
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
  return announcedUser(project, 'user.created', _id, () => insert(project, record), { isNew: true });
};
