import { createHmac, randomBytes } from 'node:crypto';
import { clock, nowSeconds } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { cutText } from '../core/text.ts';
import type { Put } from '../persistence/dynamo.ts';
import type { Key } from '../persistence/item-keys.ts';
import { get, transact, type Write } from '../persistence/table.ts';
import { derivedKey } from '../projects/sealed.ts';
import {
  type Client,
  endSession,
  newRefreshToken,
  parseRefreshToken,
  refreshKey,
  type SessionItem,
  type SessionScope,
  sessionExpiry,
  sessionKey,
} from './sessions.ts';
import type { Bearer } from './tokens.ts';

/** A session and its one refresh token that is good now; the token itself is stored nowhere. */
export interface RefreshSession extends Bearer {
  readonly refreshToken: string;
}

/** Grace period in ms: two tabs of one browser may send the same token at once, which is not a theft. */
const graceMs = 10_000;

/** How long after its exchange, in ms, a token may come again with the key that it came with then. */
const repeatMs = 60_000;

const maxUserAgentLength = 256;

/** The one refusal of a refresh token, whatever is wrong with it. */
export const refreshTokenInvalid = (cause?: unknown): AppError =>
  new AppError('REFRESH_TOKEN_INVALID', 'The refresh token is invalid or has expired. Sign in again.', { cause });

/** The item of a refresh token: `usedAt` in ms since 1970, `expiresAt` in seconds. */
type RefreshItem = Key & {
  readonly sessionId: string;
  readonly usedAt?: number;
  readonly expiresAt: number;
};

const putRefresh = (scope: SessionScope, hash: string, sessionId: string): Put => ({
  put: { ...refreshKey(scope, hash), sessionId, expiresAt: sessionExpiry() },
});

/** What a session keeps of the client that used it last, and of no earlier one. */
const shownOf = ({ ip, userAgent }: Client): Client => ({ ip, userAgent: cutText(userAgent, maxUserAgentLength) });

/** A session that several runs of one sign-up open: each with the same id and the same first refresh token. */
export interface SameSession {
  readonly sessionId: string;
  /** The random bytes of the refresh token. */
  readonly secret: Uint8Array;
}

/**
 * Opens a session, for 7 days from each rotation of its token. `conditions` must hold at that moment, else 401
 * `INVALID_CREDENTIALS`; items that stay held by others → 503.
 */
export const startSession = async (
  scope: SessionScope,
  userId: string,
  client: Client,
  conditions: readonly Write[] = [],
  amr: readonly string[] = [],
  same?: SameSession,
): Promise<RefreshSession> => {
  const sessionId = same?.sessionId ?? randomBytes(12).toString('hex');
  const { token, hash } = newRefreshToken(userId, sessionId, amr, same?.secret);
  const now = clock.now();
  const session: SessionItem = {
    ...sessionKey(scope, userId, sessionId),
    createdAt: now,
    lastUsedAt: now,
    ...shownOf(client),
    ...(amr.length > 0 && { amr: amr.join(' ') }),
    expiresAt: sessionExpiry(),
  };
  const writes = [{ put: session }, putRefresh(scope, hash, sessionId), ...conditions];
  const refused = await transact(writes, 'Too many sign-ins of this account at once. Please try again.');
  if (refused) throw new AppError('INVALID_CREDENTIALS', 'Invalid email or password');
  return { userId, sessionId, amr, refreshToken: token };
};

/**
 * The secret of the token that comes after another one, for a caller's key: the same whenever both come again, so that
 * the table has hashes alone, and of several answers, in whatever order they arrive, none has an outdated token.
 */
const secretAfter = async (token: string, key: string): Promise<Buffer> =>
  createHmac('sha256', await derivedKey('refresh tokens'))
    .update(`${token}\n${key}`)
    .digest();

/** The secret of the first refresh token of a sign-up, which each of its runs derives from the key that it came with. */
export const firstSecret = async (seed: string, key: string): Promise<Buffer> =>
  createHmac('sha256', await derivedKey('refresh tokens'))
    .update(`sign-up ${seed}\n${key}`)
    .digest();

/** Whether a token was given out and is unused, of a session that still stands. */
export const isCurrent = async (scope: SessionScope, { userId, sessionId }: Bearer, hash: string): Promise<boolean> => {
  const [given, session] = await Promise.all([
    get<RefreshItem>(refreshKey(scope, hash)),
    get<SessionItem>(sessionKey(scope, userId, sessionId)),
  ]);
  return given !== undefined && given.usedAt === undefined && session !== undefined && session.expiresAt > nowSeconds();
};

/**
 * Exchanges a refresh token for the next one of its session; exactly one of any number of parallel callers wins
 * (contract 3, "Rotation"). Everything else is 401 `REFRESH_TOKEN_INVALID`, and a token used more than 10 s after it
 * was exchanged ends the session. With a `key` the same token and key get the same next one for 60 s, as long as that
 * is unused. The session is `client`'s from then on. Items that stay held by others → 503, and the token stays good.
 */
export const rotate = async (
  scope: SessionScope,
  token: string,
  client: Client,
  key?: string,
): Promise<RefreshSession> => {
  const old = parseRefreshToken(token);
  if (!old) throw refreshTokenInvalid();
  const { userId, sessionId, amr } = old;
  const next = newRefreshToken(userId, sessionId, amr, key === undefined ? undefined : await secretAfter(token, key));
  const rotated: RefreshSession = { userId, sessionId, ...(amr && { amr }), refreshToken: next.token };
  const nowMs = clock.now();
  const now = nowSeconds();
  const writes: Write[] = [
    {
      update: refreshKey(scope, old.hash),
      change: 'SET usedAt = :nowMs',
      condition: 'attribute_exists(pk) AND attribute_not_exists(usedAt) AND expiresAt > :now',
      values: { nowMs, now },
    },
    putRefresh(scope, next.hash, sessionId),
    {
      update: sessionKey(scope, userId, sessionId),
      change: 'SET lastUsedAt = :nowMs, expiresAt = :until, ip = :ip, userAgent = :userAgent',
      condition: 'attribute_exists(pk) AND expiresAt > :now',
      values: { nowMs, now, until: sessionExpiry(), ...shownOf(client) },
    },
  ];
  const refused = await transact<RefreshItem>(writes, 'Too many refreshes of this session at once. Please try again.');
  if (!refused) return rotated;
  // Of a token that was never used nothing below holds.
  const sinceMs = clock.now() - (refused[0]?.item?.usedAt ?? Number.NaN);
  if (key !== undefined && sinceMs <= repeatMs && (await isCurrent(scope, old, next.hash))) return rotated;
  if (sinceMs > graceMs) await endSession(scope, userId, sessionId);
  throw refreshTokenInvalid();
};
