import { type Page, type PageRequest, pageFrom } from '../../../core/page.ts';
import type { Project } from '../../../projects/project.ts';
import { projectScope } from '../../../table/item-key.ts';
import { listSessions, type Session } from '../../list-sessions.ts';
import { requireRevocation, revokeAllSessions } from '../../revoke-sessions.ts';
import { requireUser, usersOf } from './managed-user.ts';

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

/** Ends every session of an end user; unknown user → 404. */
export const revokeUserSessions = async (project: Project, userId: string): Promise<void> =>
  revokeAllSessions(projectScope(project.id), await requireOwner(project, userId));

/** Ends one session of an end user; unknown user or session → 404. */
export const revokeUserSession = async (project: Project, userId: string, sessionId: string): Promise<void> =>
  requireRevocation(projectScope(project.id), await requireOwner(project, userId), sessionId);
