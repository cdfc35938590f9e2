import { issueDashboardToken } from '../dashboard-tokens.ts';
import { refreshTokenInvalid, requireRefreshToken, rotate } from '../refresh-sessions.ts';
import { parseRefreshToken } from '../refresh-token.ts';
import { revokeByToken } from '../revoke-sessions.ts';
import { developerScope } from '../session-keys.ts';
import { findDeveloper } from './find-developer.ts';
import type { SignIn } from './sign-in.ts';

/**
 * Exchanges a developer's refresh token for new tokens. None → 401 `REFRESH_TOKEN_MISSING`, bad → 401
 * `REFRESH_TOKEN_INVALID`. The developer is looked up and the access token signed first: where that fails the token is
 * still good, and no session is lost.
 */
export const refreshDeveloper = async (refreshToken: string | undefined): Promise<SignIn> => {
  const token = requireRefreshToken(refreshToken);
  const claimed = parseRefreshToken(token);
  if (!claimed) throw refreshTokenInvalid();
  const developer = await findDeveloper(claimed.userId);
  if (!developer) {
    await revokeByToken(developerScope, token);
    throw refreshTokenInvalid();
  }
  const issued = await issueDashboardToken({ developerId: developer._id, sessionId: claimed.sessionId });
  return { ...issued, developer, refreshToken: (await rotate(developerScope, token)).refreshToken };
};
