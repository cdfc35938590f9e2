import { serviceSettings } from '../core/config.ts';
import { derivedKey } from '../projects/sealed.ts';
import { type Bearer, type IssuedToken, signToken, type TokenKind, verifyToken } from './session-jwt.ts';

const kind: TokenKind = { alg: 'HS256', typ: 'dashboard+jwt', audience: 'dashboard', advice: 'log in again' };

/** A token for the dashboard API, signed by a key derived from the master key; as long as set, or `seconds`. */
export const issueDashboardToken = async (
  bearer: Bearer,
  seconds: number = serviceSettings().DASHBOARD_TOKEN_SECONDS,
): Promise<IssuedToken> => signToken(kind, await derivedKey('dashboard tokens'), bearer, seconds);

/** Whom a dashboard token speaks for; anything but one of ours, for now → 401 `TOKEN_INVALID`. */
export const verifyDashboardToken = async (token: string): Promise<Bearer> => {
  const { userId, sessionId } = await verifyToken(kind, () => derivedKey('dashboard tokens'), token);
  return { userId, sessionId };
};
