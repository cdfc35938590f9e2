import { revokeByToken } from '../revoke-sessions.ts';
import { developerScope } from '../session-keys.ts';

/** Ends the session of a refresh token; without one, or with one that is unknown, nothing happens. */
export const logOutDeveloper = async (refreshToken: string | undefined): Promise<void> => {
  if (refreshToken) await revokeByToken(developerScope, refreshToken);
};
