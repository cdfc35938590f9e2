import { requireCredentialVersion } from '../credential-version.ts';
import { issueDashboardToken } from '../dashboard-tokens.ts';
import { type RefreshSession, startSession } from '../refresh-sessions.ts';
import { type Client, developerScope } from '../session-keys.ts';
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
 * A session of a developer for whom this version of the credentials is the current one; else 401 `INVALID_CREDENTIALS`.
 */
export const openSession = (developerId: string, version: number, client: Client): Promise<RefreshSession> =>
  startSession(developerScope, developerId, client, [requireCredentialVersion(developerScope, developerId, version)]);

/** The tokens of a session, for the developer whose it is. */
export const signedIn = async (
  record: DeveloperRecord,
  { sessionId, refreshToken }: RefreshSession,
): Promise<SignIn> => {
  const developer = toDeveloper(record);
  return { ...(await issueDashboardToken({ developerId: developer._id, sessionId })), developer, refreshToken };
};

/**
 * Signs in a developer who has just proved who they are, by `record` as it was read for that. Where their password was
 * changed, or their account deleted, since then → 401 `INVALID_CREDENTIALS`.
 */
export const signIn = async (record: DeveloperRecord, client: Client): Promise<SignIn> =>
  signedIn(record, await openSession(record._id.toHexString(), credentialVersionOf(record), client));
