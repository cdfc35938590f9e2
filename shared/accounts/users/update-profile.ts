import { ObjectId } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import type { JsonObject } from '../../documents/document.ts';
import type { Project } from '../../projects/project.ts';
import { enabled, requireAccount } from '../account-store.ts';
import type { Bearer } from '../session-jwt.ts';
import { userAccounts } from '../stores/users.ts';
import { changeProfile } from './change-profile.ts';
import { planProfile } from './profile.ts';
import { type UserView, userView } from './user-view.ts';

/**
 * Changes the profile of the user who asks: fields of the schema only (contract 3, "update-profile"). Taken unique
 * value → 409 `DUPLICATE_VALUE`; user gone or disabled → 401; what `planProfile` refuses → 400.
 */
export const updateProfile = async (
  project: Project,
  users: Collection,
  { userId }: Bearer,
  body: JsonObject,
): Promise<UserView> => {
  const updated = await changeProfile(project, planProfile(users, body), {
    filter: { _id: new ObjectId(userId), ...enabled },
    current: () => requireAccount(userAccounts(project), userId),
    busy: 'The profile is being changed by others right now. Please try again.',
  });
  return userView(users, updated);
};
