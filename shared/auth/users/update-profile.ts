import type { Filter } from 'mongodb';
import { ObjectId } from 'mongodb';
import { onManaged } from '../../clients/mongo.ts';
import { clock } from '../../clock.ts';
import type { Collection } from '../../collections/collection.ts';
import type { JsonObject } from '../../documents/document.ts';
import { AppError } from '../../errors.ts';
import type { Project } from '../../projects/project.ts';
import { requireManagedRoom } from '../../quota/database-quota.ts';
import type { Bearer } from '../access-tokens.ts';
import { requireCurrentUser } from './current-user.ts';
import { planProfile } from './profile.ts';
import type { UserRecord } from './user-record.ts';
import { type UserView, userView } from './user-view.ts';

/**
 * Changes the profile of the user who asks, in one command: fields of the schema only (contract 3, "update-profile").
 * Taken unique value → 409 `DUPLICATE_VALUE`; user gone or disabled → 401; what `planProfile` refuses → 400.
 */
export const updateProfile = async (
  project: Project,
  users: Collection,
  bearer: Bearer,
  body: JsonObject,
): Promise<UserView> => {
  const { set, size, conditions, refusal } = planProfile(users, body);
  await requireManagedRoom(project, size);
  const filter = {
    _id: new ObjectId(bearer.userId),
    isDeleted: { $ne: true },
    isDisabled: { $ne: true },
    $and: [...conditions],
  } as Filter<UserRecord>;
  const updated = await onManaged(project, (db) =>
    db
      .collection<UserRecord>(users.name)
      .findOneAndUpdate(
        filter,
        { $set: { ...set, updatedAt: new Date(clock.now()) } },
        { returnDocument: 'after', maxTimeMS: 5000 },
      ),
  );
  if (updated) return userView(users, updated);
  const current = await requireCurrentUser(project, bearer);
  throw (
    refusal({ ...current }) ??
    new AppError('SERVICE_UNAVAILABLE', 'The profile is being changed by others right now. Please try again.', {
      retryAfter: 1,
    })
  );
};
