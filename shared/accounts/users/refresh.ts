import type { Project } from '../../projects/project.ts';
import { issueAccessToken } from '../access-tokens.ts';
import { refreshTokenInvalid, requireRefreshToken, rotate } from '../refresh-sessions.ts';
import { parseRefreshToken } from '../refresh-token.ts';
import { projectScope } from '../session-keys.ts';
import { type OpenedSession, openedSession } from './open-session.ts';

/**
 * Exchanges a user's refresh token for new tokens, in one transaction of the table (contract 3, "Rotation"); whatever
 * ends a user's access ends their sessions, so the user is not read. None → 401 `REFRESH_TOKEN_MISSING`, bad → 401
 * `REFRESH_TOKEN_INVALID`. The access token is signed first and given away only after the exchange: where signing fails
 * the refresh token is still good.
 */
export const refresh = async (project: Project, refreshToken: string | undefined): Promise<OpenedSession> => {
  const token = requireRefreshToken(refreshToken);
  const claimed = parseRefreshToken(token);
  if (!claimed) throw refreshTokenInvalid();
  const issued = await issueAccessToken(project, claimed);
  return openedSession(issued, await rotate(projectScope(project.id), token));
};
