import { issueDashboardToken } from '../auth/dashboard-tokens.ts';
import { startSession } from '../auth/refresh-sessions.ts';
import { type Client, developerScope } from '../auth/session-keys.ts';
import { passGate } from '../auth/users/credential-gate.ts';
import { credentialVersionOf, type Developer, type DeveloperRecord, toDeveloper } from './developer-record.ts';

/** What a developer gets who registers, logs in or refreshes: both tokens and their own record. */
export interface SignIn {
  readonly accessToken: string;
  /** Human-readable lifetime of the access token, such as `15m`. */
  readonly expiresIn: string;
  readonly developer: Developer;
  /** For the cookie only; good for 7 days. */
  readonly refreshToken: string;
}

/**
 * Signs in a developer who has just proved who they are, by `record` as it was read for that. Where their password was
 * changed, or their account deleted, since then → 401 `INVALID_CREDENTIALS`.
 */
export const signIn = async (record: DeveloperRecord, client: Client): Promise<SignIn> => {
  const developer = toDeveloper(record);
  const version = credentialVersionOf(record);
  const { sessionId, refreshToken } = await startSession(developerScope, developer._id, client, (table) => [
    passGate(table, developerScope, developer._id, version),
  ]);
  return { ...(await issueDashboardToken({ developerId: developer._id, sessionId })), developer, refreshToken };
};
