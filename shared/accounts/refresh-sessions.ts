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

/** The refresh token itself is stored nowhere. */
export interface RefreshSession extends Bearer {
  readonly refreshToken: string;
}

/** Two tabs of one browser may send the same token at the same time, which is no theft. */
const replayGraceMs = 10_000;

/** Time for a retry of an exchange with the same key. */
const repeatMs = 60_000;

const maxUserAgentLength = 256;

/** The same error for every invalid refresh token. */
export const refreshTokenInvalid = (cause?: unknown): AppError =>
  new AppError('REFRESH_TOKEN_INVALID', 'The refresh token is invalid or has expired. Sign in again.', { cause });

/** `usedAt` in ms since 1970, `expiresAt` in seconds. */
type RefreshItem = Key & {
  readonly sessionId: string;
  readonly usedAt?: number;
  readonly expiresAt: number;
};

const putRefresh = (scope: SessionScope, hash: string, sessionId: string): Put => ({
  put: { ...refreshKey(scope, hash), sessionId, expiresAt: sessionExpiry() },
});

/** Only the latest client is stored. */
const boundedClient = ({ ip, userAgent }: Client): Client => ({
  ip,
  userAgent: cutText(userAgent, maxUserAgentLength),
});

/** A session that several runs of one sign-up open: each with the same id and the same first refresh token. */
export interface SameSession {
  readonly sessionId: string;
  /** The random bytes of the refresh token. */
  readonly secret: Uint8Array;
}

/** Throws 401 `INVALID_CREDENTIALS` if a condition fails, 503 under contention. */
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
    ...boundedClient(client),
    ...(amr.length > 0 && { amr: amr.join(' ') }),
    expiresAt: sessionExpiry(),
  };
  const writes = [{ put: session }, putRefresh(scope, hash, sessionId), ...conditions];
  const refused = await transact(writes, 'Too many sign-ins of this account at the same time. Retry.');
  if (refused) throw new AppError('INVALID_CREDENTIALS', 'Invalid email or password');
  return { userId, sessionId, amr, refreshToken: token };
};

/** Derives the next token's secret from token and key: a retry gets the same token although only hashes are stored. */
const secretAfter = async (token: string, key: string): Promise<Buffer> =>
  createHmac('sha256', await derivedKey('refresh tokens'))
    .update(`${token}\n${key}`)
    .digest();

/** The secret of the first refresh token of a sign-up, which each of its runs derives from the key that it came with. */
export const firstSecret = async (seed: string, key: string): Promise<Buffer> =>
  createHmac('sha256', await derivedKey('refresh tokens'))
    .update(`sign-up ${seed}\n${key}`)
    .digest();

/** True if the token is issued, unused, and its session is open. */
export const isCurrent = async (scope: SessionScope, { userId, sessionId }: Bearer, hash: string): Promise<boolean> => {
  const [given, session] = await Promise.all([
    get<RefreshItem>(refreshKey(scope, hash)),
    get<SessionItem>(sessionKey(scope, userId, sessionId)),
  ]);
  return given !== undefined && given.usedAt === undefined && session !== undefined && session.expiresAt > nowSeconds();
};

/**
 * Exchanges a refresh token for the next one; exactly one concurrent caller succeeds. Throws 401
 * `REFRESH_TOKEN_INVALID`; reuse more than 10 s after the exchange also ends the session. With a `key`, a retry within
 * 60 s gets the same next token while that is unused. Throws 503 under contention; the token stays valid.
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
      values: { nowMs, now, until: sessionExpiry(), ...boundedClient(client) },
    },
  ];
  const refused = await transact<RefreshItem>(writes, 'Too many refreshes of this session at the same time. Retry.');
  if (!refused) return rotated;
  // NaN for a token that was never used, so both conditions are false.
  const sinceMs = clock.now() - (refused[0]?.item?.usedAt ?? Number.NaN);
  if (key !== undefined && sinceMs <= repeatMs && (await isCurrent(scope, old, next.hash))) return rotated;
  if (sinceMs > replayGraceMs) await endSession(scope, userId, sessionId);
  throw refreshTokenInvalid();
};
