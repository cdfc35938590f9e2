import type { Filter } from 'mongodb';
import { ObjectId } from 'mongodb';
import { onManaged } from '../../clients/mongo.ts';
import type { Collection } from '../../collections/collection.ts';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import type { JsonObject } from '../../documents/document.ts';
import { sizeOf } from '../../documents/write/document-size.ts';
import { withoutGrowth } from '../../documents/write/update-plan.ts';
import type { Project } from '../../projects/project.ts';
import { databaseFull, hasManagedRoom } from '../../projects/quota/database-quota.ts';
import type { Bearer } from '../access-tokens.ts';
import { requireAccount } from '../account-store.ts';
import { userAccounts } from '../stores/users.ts';
import { planProfile } from './profile.ts';
import type { UserRecord } from './user-record.ts';
import { type UserView, userView } from './user-view.ts';

const maxTries = 3;

/**
 * Changes the profile of the user who asks, in one command (a large one is read first): fields of the schema only
 * (contract 3, "update-profile"). Taken unique value → 409 `DUPLICATE_VALUE`; user gone or disabled → 401; what
 * `planProfile` refuses → 400.
 */
export const updateProfile = async (
  project: Project,
  users: Collection,
  bearer: Bearer,
  body: JsonObject,
): Promise<UserView> => {
  const plan = planProfile(users, body);
  const { set, conditions, conditionsFor, refusal } = (await hasManagedRoom(project, plan.size))
    ? plan
    : withoutGrowth(plan, databaseFull(project));
  for (let tries = 0, held = conditions; tries < maxTries; tries += 1) {
    const filter = {
      _id: new ObjectId(bearer.userId),
      isDeleted: { $ne: true },
      isDisabled: { $ne: true },
      $and: [...held],
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
    const current = { ...(await requireAccount(userAccounts(project), bearer.userId)) };
    const bytes = sizeOf(current);
    const refused = refusal(current, bytes);
    if (refused) throw refused;
    held = conditionsFor(current, bytes);
  }
  throw new AppError('TOO_MANY_WRITERS', 'The profile is being changed by others right now. Please try again.', {
    retryAfter: 1,
  });
};
