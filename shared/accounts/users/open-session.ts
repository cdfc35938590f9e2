import type { Project } from '../../projects/project.ts';
import { type IssuedToken, issueAccessToken } from '../access-tokens.ts';
import { requireCredentialVersion } from '../credential-version.ts';
import { type RefreshSession, startSession } from '../refresh-sessions.ts';
import { type Client, projectScope } from '../session-keys.ts';
import { credentialVersionOf, type UserRecord } from './user-record.ts';

/** What a user gets who signs in or refreshes. `token` is the deprecated alias of `accessToken`. */
export interface OpenedSession {
  readonly accessToken: string;
  readonly token: string;
  /** Human-readable lifetime of the access token, such as `15m`. */
  readonly expiresIn: string;
  readonly refreshToken: string;
  readonly userId: string;
  readonly sessionId: string;
}

/** Both tokens of a session that has just been opened or refreshed. */
export const openedSession = ({ accessToken, expiresIn }: IssuedToken, session: RefreshSession): OpenedSession => ({
  accessToken,
  token: accessToken,
  expiresIn,
  ...session,
});

/**
 * Opens a session for a user who has just proved who they are, by `record` as it was read for that. Where their
 * password was changed, or they were disabled or deleted, since then → 401 `INVALID_CREDENTIALS`: no session outlives
 * what ends them.
 */
export const openSession = async (
  project: Project,
  record: Pick<UserRecord, '_id' | 'credentialVersion'>,
  client: Client,
): Promise<OpenedSession> => {
  const scope = projectScope(project.id);
  const userId = record._id.toHexString();
  const version = credentialVersionOf(record);
  const session = await startSession(scope, userId, client, [requireCredentialVersion(scope, userId, version)]);
  return openedSession(await issueAccessToken(project, session), session);
};
