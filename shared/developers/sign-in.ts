import { issueDashboardToken } from '../auth/dashboard-tokens.ts';
import type { RefreshSession } from '../auth/refresh-sessions.ts';
import type { Developer } from './developer-record.ts';

/** What a developer gets who registers, logs in or refreshes: both tokens and himself. */
export interface SignIn {
  readonly accessToken: string;
  /** Lifetime of the access token for people, `15m`. */
  readonly expiresIn: string;
  readonly developer: Developer;
  /** For the cookie only; good for 7 days. */
  readonly refreshToken: string;
}

/** The developer signed in with a session that has just been opened or refreshed. */
export const signIn = async (developer: Developer, session: RefreshSession): Promise<SignIn> => ({
  ...(await issueDashboardToken({ developerId: developer._id, sessionId: session.sessionId })),
  developer,
  refreshToken: session.refreshToken,
});
