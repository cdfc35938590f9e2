import { refreshTokenInvalid, requireRefreshToken, rotate } from '../auth/refresh-sessions.ts';
import { revokeSession } from '../auth/revoke-sessions.ts';
import { developerScope } from '../auth/session-keys.ts';
import { findDeveloper } from './find-developer.ts';
import { type SignIn, signIn } from './sign-in.ts';

/** Exchanges a developer's refresh token for new tokens. None → 401 `REFRESH_TOKEN_MISSING`, bad → 401 `REFRESH_TOKEN_INVALID`. */
export const refreshDeveloper = async (refreshToken: string | undefined): Promise<SignIn> => {
  const session = await rotate(developerScope, requireRefreshToken(refreshToken));
  const developer = await findDeveloper(session.userId);
  if (!developer) {
    await revokeSession(developerScope, session.userId, session.sessionId);
    throw refreshTokenInvalid();
  }
  return signIn(developer, session);
};
