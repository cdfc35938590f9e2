import { nowSeconds } from '../core/clock.ts';
import { transact, type Write } from '../table/transact.ts';
import { sessionEnded } from './require-session.ts';
import { isSessionId, sessionNotFound } from './revoke-sessions.ts';
import { type SessionScope, sessionKey } from './session-keys.ts';

/** Whose access token asks, and by which session it was issued. */
interface Asker {
  readonly userId: string;
  readonly sessionId: string;
}

/** Leads to no item: what cannot be an id is refused by the same transaction, after the asker's own session. */
const impossibleId = 'none';

/**
 * Ends one of the asker's sessions, in one transaction with the check that the asker's own still stands: of two that
 * end each other one stays. The asker's has ended → 401 `TOKEN_INVALID`; no such session → 404 `SESSION_NOT_FOUND`.
 */
export const revokeSession = async (
  scope: SessionScope,
  { userId, sessionId }: Asker,
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
