import { nowSeconds } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { get } from '../table/item.ts';
import type { SessionItem } from './list-sessions.ts';
import { type SessionScope, sessionKey } from './session-keys.ts';

/** The refusal of an access token whose session has ended meanwhile (401). */
export const sessionEnded = (): AppError =>
  new AppError('TOKEN_INVALID', 'The session of this access token has ended. Sign in again.');

/**
 * Refuses an access token whose session has ended meanwhile: 401 `TOKEN_INVALID`. For acts that a stolen token must not
 * do.
 */
export const requireSession = async (scope: SessionScope, userId: string, sessionId: string): Promise<void> => {
  const session = await get<SessionItem>(sessionKey(scope, userId, sessionId));
  if (session && session.expiresAt > nowSeconds()) return;
  throw sessionEnded();
};
