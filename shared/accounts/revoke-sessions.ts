import { nowSeconds } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { get, write } from '../table/item.ts';
import { listSessions, type SessionItem } from './list-sessions.ts';
import { parseRefreshToken } from './refresh-token.ts';
import { refreshKey, type SessionScope, sessionKey } from './session-keys.ts';

const deletesAtOnce = 10;

/** Ends one session: it cannot refresh from this moment. False where the user has no such session. */
export const endSession = async (scope: SessionScope, userId: string, sessionId: string): Promise<boolean> => {
  const { item } = await write<SessionItem>({ delete: sessionKey(scope, userId, sessionId) }, 'ALL_OLD');
  return item !== undefined && item.expiresAt > nowSeconds();
};

/** The refusal of a session that the user does not have (404). */
export const sessionNotFound = (): AppError => new AppError('SESSION_NOT_FOUND', 'Session not found');

/** Whether a path names what can be a session. */
export const isSessionId = (sessionId: string): boolean => /^[0-9a-f]{24}$/.test(sessionId);

/** Ends one session that the user must have; else 404 `SESSION_NOT_FOUND`. */
export const requireRevocation = async (scope: SessionScope, userId: string, sessionId: string): Promise<void> => {
  if (isSessionId(sessionId) && (await endSession(scope, userId, sessionId))) return;
  throw sessionNotFound();
};

/** Ends every session of a user; `except` names the one that stays. */
export const revokeAllSessions = async (
  scope: SessionScope,
  userId: string,
  { except }: { readonly except?: string } = {},
): Promise<void> => {
  const sessions = (await listSessions(scope, userId)).filter(({ _id }) => _id !== except);
  for (let first = 0; first < sessions.length; first += deletesAtOnce) {
    await Promise.all(sessions.slice(first, first + deletesAtOnce).map(({ _id }) => endSession(scope, userId, _id)));
  }
};

/**
 * Ends the session that a refresh token, used or not, belongs to. A token that is none, or unknown, changes nothing.
 */
export const signOut = async (scope: SessionScope, token: string): Promise<void> => {
  const known = parseRefreshToken(token);
  if (!known) return;
  if (await get(refreshKey(scope, known.hash))) await endSession(scope, known.userId, known.sessionId);
};

/**
 * Does what a session was opened for, and ends the session where that fails. One that cannot be ended then is of no use
 * either: nobody has been given its token, and it expires.
 */
export const orEndSession = async <T>(
  scope: SessionScope,
  { userId, sessionId }: { readonly userId: string; readonly sessionId: string },
  act: () => Promise<T>,
): Promise<T> => {
  try {
    return await act();
  } catch (error) {
    await endSession(scope, userId, sessionId).catch(() => undefined);
    throw error;
  }
};
