import { onManaged } from '../../../clients/mongo.ts';
import type { Project } from '../../../projects/project.ts';
import { replaceCredentials } from '../../credentials.ts';
import { userAccounts } from '../../stores/users.ts';
import type { UserRecord } from '../user-record.ts';
import { requireUser, usersOf } from './managed-user.ts';

/**
 * Deletes an end user for good. They are disabled and their sessions end first, so that a deletion that is cut short
 * leaves a user who is plainly disabled: it can be repeated, or the user enabled again. Unknown → 404.
 */
export const deleteUser = async (project: Project, id: string): Promise<void> => {
  const users = await usersOf(project);
  const { _id } = await requireUser(project, id);
  await replaceCredentials(userAccounts(project), { _id }, { isDisabled: true });
  await onManaged(project, (db) => db.collection<UserRecord>(users.name).deleteOne({ _id }));
};
