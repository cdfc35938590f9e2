import type { Page, PageRequest } from '../../core/page.ts';
import type { DashboardBearer } from '../dashboard-tokens.ts';
import { listSessions, type Session } from '../list-sessions.ts';
import { revokeOwnSession } from '../revoke-own-session.ts';
import { developerScope } from '../session-keys.ts';

/** A session of a developer; `current` is the one that asks. */
export interface DeveloperSession extends Session {
  readonly current: boolean;
}

/** A page of a developer's own sessions, the one used last first. */
export const listDeveloperSessions = async (
  { developerId, sessionId }: DashboardBearer,
  { page, limit }: PageRequest,
): Promise<Page<DeveloperSession>> => {
  const sessions = await listSessions(developerScope, developerId);
  const items = sessions
    .slice((page - 1) * limit, page * limit)
    .map((session) => ({ ...session, current: session._id === sessionId }));
  return { items, total: sessions.length, page, limit };
};

/**
 * Ends one of a developer's own sessions; one that is not theirs → 404 `SESSION_NOT_FOUND`, and 401 `TOKEN_INVALID`
 * where the session that asks has ended.
 */
export const revokeDeveloperSession = ({ developerId, sessionId }: DashboardBearer, revokedId: string): Promise<void> =>
  revokeOwnSession(developerScope, { userId: developerId, sessionId }, revokedId);
