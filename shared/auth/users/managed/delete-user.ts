import { onManaged } from '../../../clients/mongo.ts';
import type { Project } from '../../../projects/project.ts';
import { nobody } from '../credential-gate.ts';
import { endSessions } from '../replace-credentials.ts';
import type { UserRecord } from '../user-record.ts';
import { requireUser, usersOf } from './managed-user.ts';

/**
 * Deletes an end user for good. Their sessions end first, so that a deletion that is cut short can be repeated. Unknown
 * → 404.
 */
export const deleteUser = async (project: Project, id: string): Promise<void> => {
  const users = await usersOf(project);
  const { _id } = await requireUser(project, id);
  await endSessions(project, _id.toHexString(), nobody);
  await onManaged(project, (db) => db.collection<UserRecord>(users.name).deleteOne({ _id }));
};
