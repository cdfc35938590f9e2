import type { Page, PageRequest } from '../../../core/page.ts';
import type { Project } from '../../../projects/project.ts';
import { listSessions, type Session } from '../../list-sessions.ts';
import { requireRevocation, revokeAllSessions } from '../../revoke-sessions.ts';
import { projectScope } from '../../session-keys.ts';
import { requireUser, usersOf } from './managed-user.ts';

const requireOwner = async (project: Project, userId: string): Promise<string> => {
  await usersOf(project);
  return (await requireUser(project, userId))._id.toHexString();
};

/** A page of an end user's sessions, the one used last first; unknown user → 404. */
export const listUserSessions = async (
  project: Project,
  userId: string,
  { page, limit }: PageRequest,
): Promise<Page<Session>> => {
  const sessions = await listSessions(projectScope(project.id), await requireOwner(project, userId));
  const start = (page - 1) * limit;
  return { items: sessions.slice(start, start + limit), total: sessions.length, page, limit };
};

/** Ends every session of an end user; unknown user → 404. */
export const revokeUserSessions = async (project: Project, userId: string): Promise<void> =>
  revokeAllSessions(projectScope(project.id), await requireOwner(project, userId));

/** Ends one session of an end user; unknown user or session → 404. */
export const revokeUserSession = async (project: Project, userId: string, sessionId: string): Promise<void> =>
  requireRevocation(projectScope(project.id), await requireOwner(project, userId), sessionId);
