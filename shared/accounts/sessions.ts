import { randomBytes } from 'node:crypto';
import { clock, nowSeconds } from '../core/clock.ts';
import { AppError, isClientError } from '../core/errors.ts';
import { itemKey, type Key, type PartitionKey, projectScope, sortPrefix } from '../persistence/item-keys.ts';
import { get, list, transact, type Write, write } from '../persistence/table.ts';
import * as kinds from '../persistence/table-keys.ts';
import { sha256 } from './single-use-secrets.ts';
import type { Bearer } from './tokens.ts';

/** The users of a project or the developers; partition key of their items. */
export type SessionScope = PartitionKey<'project' | 'developers'>;

/** The client that used a session last. */
export interface Client {
  readonly ip: string;
  readonly userAgent: string;
}

/** Lifetime of a refresh token and its session, restarted by each rotation. */
export const sessionSeconds = 7 * 24 * 3600;

export const sessionExpiry = (): number => nowSeconds() + sessionSeconds;

export const sessionKey = (scope: SessionScope, userId: string, sessionId: string): Key =>
  itemKey(kinds.session, scope, { userId, sessionId });

export const refreshKey = (scope: SessionScope, hash: string): Key => itemKey(kinds.refreshToken, scope, { hash });

/** Times in ms since 1970, except `expiresAt` in seconds. */
export type SessionItem = Key & {
  readonly createdAt: number;
  readonly lastUsedAt: number;
  readonly ip: string;
  readonly userAgent: string;
  /** Sign-in methods, separated by spaces. */
  readonly amr?: string;
  readonly expiresAt: number;
};

/** `_id` is the `sid` of its access tokens. */
export type Session = ReturnType<typeof toSession>;

const toSession = ({ sk, createdAt, lastUsedAt, userAgent, ip }: SessionItem, prefix: string) => ({
  _id: sk.slice(prefix.length),
  createdAt: new Date(createdAt),
  lastUsedAt: new Date(lastUsedAt),
  userAgent,
  ip,
});

/** Open sessions, the latest used first. */
export const listSessions = async (scope: SessionScope, userId: string): Promise<readonly Session[]> => {
  const prefix = sortPrefix(kinds.session, { userId });
  const items = await list<SessionItem>({ partition: scope, only: { prefix } });
  return items
    .filter(({ expiresAt }) => expiresAt > nowSeconds())
    .map((item) => toSession(item, prefix))
    .sort((a, b) => b.lastUsedAt.getTime() - a.lastUsedAt.getTime());
};

const sessionEnded = (): AppError =>
  new AppError('TOKEN_INVALID', 'The session of this access token has ended. Sign in again.');

/** Marks the caller's own session. Throws 401 `TOKEN_INVALID` if it has ended. */
export const withCurrent = (sessions: readonly Session[], sessionId: string) => {
  if (!sessions.some(({ _id }) => _id === sessionId)) throw sessionEnded();
  return sessions.map((session) => ({ ...session, current: session._id === sessionId }));
};

/** For actions that a stolen access token must not do. Throws 401 `TOKEN_INVALID`. */
export const requireSession = async (scope: SessionScope, userId: string, sessionId: string): Promise<SessionItem> => {
  const session = await get<SessionItem>(sessionKey(scope, userId, sessionId));
  if (session && session.expiresAt > nowSeconds()) return session;
  throw sessionEnded();
};

/** For projects with `strictSessions`: throws 401 `TOKEN_INVALID` if the session of an access token has ended. */
export const requireUserSession = async (projectId: string, { userId, sessionId }: Bearer): Promise<void> => {
  await requireSession(projectScope(projectId), userId, sessionId);
};

const recentMs = 10 * 60_000;

/** Throws 403 `REAUTHENTICATION_REQUIRED` if the sign-in was over 10 minutes ago; refreshes do not count. */
export const requireRecentSession = async (scope: SessionScope, { userId, sessionId }: Bearer): Promise<void> => {
  const { createdAt } = await requireSession(scope, userId, sessionId);
  if (clock.now() - createdAt <= recentMs) return;
  throw new AppError('REAUTHENTICATION_REQUIRED', 'Sign in again to change how you sign in.');
};

/** A parsed refresh token; all of it is a claim until the hash is found. Ids are 24 hex characters. */
export interface RefreshToken extends Bearer {
  readonly hash: string;
}

const idBytes = 12;

const secretBytes = 32;

const wellFormed = /^[A-Za-z0-9_-]{75,160}$/;

const methodsAt = 2 * idBytes + secretBytes;

const methods = /^(?:[a-z0-9:-]+(?: [a-z0-9:-]+)*)?$/;

/** base64url of user id, session id, 256 random bits and the sign-in methods. Only the hash is stored. */
export const newRefreshToken = (
  userId: string,
  sessionId: string,
  amr: readonly string[] = [],
  secret: Uint8Array = randomBytes(secretBytes),
): { readonly token: string; readonly hash: string } => {
  const ids = Buffer.from(userId + sessionId, 'hex');
  if (ids.length !== 2 * idBytes) throw new Error('User and session ids are 24 hexadecimal characters');
  const token = Buffer.concat([ids, secret, Buffer.from(amr.join(' '))]).toString('base64url');
  return { token, hash: sha256(token) };
};

/** `undefined` if it is malformed. */
export const parseRefreshToken = (token: string): RefreshToken | undefined => {
  if (!wellFormed.test(token)) return undefined;
  const bytes = Buffer.from(token, 'base64url');
  const amr = bytes.toString('latin1', methodsAt);
  if (!methods.test(amr)) return undefined;
  return {
    userId: bytes.toString('hex', 0, idBytes),
    sessionId: bytes.toString('hex', idBytes, 2 * idBytes),
    ...(amr && { amr: amr.split(' ') }),
    hash: sha256(token),
  };
};

const deletesAtOnce = 10;

/** False if there is no such session. */
export const endSession = async (scope: SessionScope, userId: string, sessionId: string): Promise<boolean> => {
  const { item } = await write<SessionItem>({ delete: sessionKey(scope, userId, sessionId) }, 'ALL_OLD');
  return item !== undefined && item.expiresAt > nowSeconds();
};

const sessionNotFound = (): AppError => new AppError('SESSION_NOT_FOUND', 'Session not found');

const isSessionId = (sessionId: string): boolean => /^[0-9a-f]{24}$/.test(sessionId);

/** Throws 404 `SESSION_NOT_FOUND`. */
export const requireRevocation = async (scope: SessionScope, userId: string, sessionId: string): Promise<void> => {
  if (isSessionId(sessionId) && (await endSession(scope, userId, sessionId))) return;
  throw sessionNotFound();
};

/** `except`: the session to keep. */
export const revokeAllSessions = async (scope: SessionScope, userId: string, except?: string): Promise<void> => {
  const sessions = (await listSessions(scope, userId)).filter(({ _id }) => _id !== except);
  for (let first = 0; first < sessions.length; first += deletesAtOnce) {
    await Promise.all(sessions.slice(first, first + deletesAtOnce).map(({ _id }) => endSession(scope, userId, _id)));
  }
};

/** Ends the session of a refresh token, used or not. Unknown tokens are ignored. */
export const signOut = async (scope: SessionScope, token: string): Promise<void> => {
  const known = parseRefreshToken(token);
  if (!known) return;
  if (await get(refreshKey(scope, known.hash))) await endSession(scope, known.userId, known.sessionId);
};

/**
 * Does what a session was opened for, and ends the session where that fails. One that cannot be ended then is of no use
 * either: nobody has been given its token, and it expires. If the act may be repeated, a fault leaves the session: the
 * act may have been done, and its repeat needs the session.
 */
export const orEndSession = async <T>(
  scope: SessionScope,
  { userId, sessionId }: Bearer,
  act: () => Promise<T>,
  isRepeatable = false,
): Promise<T> => {
  try {
    return await act();
  } catch (error) {
    if (!isRepeatable || isClientError(error)) await endSession(scope, userId, sessionId).catch(() => undefined);
    throw error;
  }
};

/** Matches no item, so malformed ids fail in the same transaction, after the check of the caller's session. */
const impossibleId = 'none';

/** Of two sessions that end each other, one stays. Errors: 401 `TOKEN_INVALID`, 404 `SESSION_NOT_FOUND`. */
export const revokeSession = async (
  scope: SessionScope,
  { userId, sessionId }: Bearer,
  revokedId: string,
): Promise<void> => {
  const open = { condition: 'expiresAt > :now', values: { now: nowSeconds() } };
  const own = sessionKey(scope, userId, sessionId);
  const other = isSessionId(revokedId) ? revokedId : impossibleId;
  const writes: Write[] =
    revokedId === sessionId
      ? [{ delete: own, ...open }]
      : [
          { check: own, ...open },
          { delete: sessionKey(scope, userId, other), ...open },
        ];
  const refused = await transact(writes, 'The sessions of this account are being changed right now. Retry.');
  if (refused) throw refused[0]?.refused ? sessionEnded() : sessionNotFound();
};
