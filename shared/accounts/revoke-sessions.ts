import { nowSeconds } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { get, transact, type Write, write } from '../persistence/table.ts';
import {
  listSessions,
  parseRefreshToken,
  refreshKey,
  type SessionItem,
  type SessionScope,
  sessionEnded,
  sessionKey,
} from './sessions.ts';
import type { Bearer } from './tokens.ts';

const deletesAtOnce = 10;

/** Ends one session: it cannot refresh from this moment. False where the user has no such session. */
export const endSession = async (scope: SessionScope, userId: string, sessionId: string): Promise<boolean> => {
  const { item } = await write<SessionItem>({ delete: sessionKey(scope, userId, sessionId) }, 'ALL_OLD');
  return item !== undefined && item.expiresAt > nowSeconds();
};

const sessionNotFound = (): AppError => new AppError('SESSION_NOT_FOUND', 'Session not found');

const isSessionId = (sessionId: string): boolean => /^[0-9a-f]{24}$/.test(sessionId);

/** Ends one session that the user must have; else 404 `SESSION_NOT_FOUND`. */
export const requireRevocation = async (scope: SessionScope, userId: string, sessionId: string): Promise<void> => {
  if (isSessionId(sessionId) && (await endSession(scope, userId, sessionId))) return;
  throw sessionNotFound();
};

/** Ends every session of a user; `except` names the one that stays. */
export const revokeAllSessions = async (scope: SessionScope, userId: string, except?: string): Promise<void> => {
  const sessions = (await listSessions(scope, userId)).filter(({ _id }) => _id !== except);
  for (let first = 0; first < sessions.length; first += deletesAtOnce) {
    await Promise.all(sessions.slice(first, first + deletesAtOnce).map(({ _id }) => endSession(scope, userId, _id)));
  }
};

/** Ends the session of a refresh token, used or not; one that is none, or unknown, changes nothing. */
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
  { userId, sessionId }: Bearer,
  act: () => Promise<T>,
): Promise<T> => {
  try {
    return await act();
  } catch (error) {
    await endSession(scope, userId, sessionId).catch(() => undefined);
    throw error;
  }
};

/** Leads to no item: what cannot be an id is refused by the same transaction, after the asker's own session. */
const impossibleId = 'none';

/**
 * Ends one of the asker's sessions, in one transaction with the check that the asker's own still stands: of two that
 * end each other one stays. The asker's has ended → 401 `TOKEN_INVALID`; no such session → 404 `SESSION_NOT_FOUND`.
 */
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
  const refused = await transact(writes, 'The sessions of this account are being changed right now. Please try again.');
  if (refused) throw refused[0]?.refused ? sessionEnded() : sessionNotFound();
};
