import { revokeByToken } from '../auth/revoke-sessions.ts';
import { developerScope } from '../auth/session-keys.ts';

/** Ends the session of a refresh token; without one, or with one that is unknown, nothing happens. */
export const logOutDeveloper = async (refreshToken: string | undefined): Promise<void> => {
  if (refreshToken) await revokeByToken(developerScope, refreshToken);
};
