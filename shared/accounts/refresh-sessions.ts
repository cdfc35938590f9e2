import { randomBytes } from 'node:crypto';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { clock, nowSeconds } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { type Found, transact, type Write } from '../table/transact.ts';
import { newRefreshToken, parseRefreshToken } from './refresh-token.ts';
import { revokeSession } from './revoke-sessions.ts';
import { type Client, refreshKey, type SessionScope, sessionExpiry, sessionKey } from './session-keys.ts';

/** A session and its one refresh token that is good now; the token itself is stored nowhere. */
export interface RefreshSession {
  readonly userId: string;
  readonly sessionId: string;
  readonly refreshToken: string;
}

/** Grace period in ms: two tabs of one browser may send the same token at once, which is not a theft. */
const graceMs = 10_000;

const maxUserAgentLength = 256;

/** The one refusal of a refresh token, whatever is wrong with it. */
export const refreshTokenInvalid = (cause?: unknown): AppError =>
  new AppError('REFRESH_TOKEN_INVALID', 'The refresh token is invalid or has expired. Sign in again.', { cause });

/** Takes the token that a cookie or header brought; none is 401 `REFRESH_TOKEN_MISSING`. */
export const requireRefreshToken = (token: string | undefined): string => {
  if (!token) throw new AppError('REFRESH_TOKEN_MISSING', 'Refresh token missing');
  return token;
};

const refreshItem = (scope: SessionScope, hash: string, sessionId: string): Record<string, AttributeValue> => ({
  ...refreshKey(scope, hash),
  sessionId: { S: sessionId },
  expiresAt: { N: sessionExpiry() },
});

/**
 * Opens a session for a user who has just proved who they are. It lives 7 days from each rotation of its token.
 * `conditions` must hold at that moment; where they do not → 401 `INVALID_CREDENTIALS`. Items that stay held by others
 * → 503.
 */
export const startSession = async (
  scope: SessionScope,
  userId: string,
  client: Client,
  conditions: readonly Write[] = [],
): Promise<RefreshSession> => {
  const sessionId = randomBytes(12).toString('hex');
  const { token, hash } = newRefreshToken(userId, sessionId);
  const now = { N: String(clock.now()) };
  const session: Record<string, AttributeValue> = {
    ...sessionKey(scope, userId, sessionId),
    createdAt: now,
    lastUsedAt: now,
    ip: { S: client.ip },
    userAgent: { S: client.userAgent.slice(0, maxUserAgentLength) },
    expiresAt: { N: sessionExpiry() },
  };
  const writes: Write[] = [
    { Put: { Item: session } },
    { Put: { Item: refreshItem(scope, hash, sessionId) } },
    ...conditions,
  ];
  const refused = await transact(writes, 'Too many sign-ins of this account at once. Please try again.');
  if (refused) throw new AppError('INVALID_CREDENTIALS', 'Invalid email or password');
  return { userId, sessionId, refreshToken: token };
};

/** When the token was exchanged, as a lost rotation found it; `undefined` for one that was not, or is unknown. */
const usedAt = ([found]: readonly Found[]): number | undefined => {
  const text = found?.item?.usedAt?.N;
  return text === undefined ? undefined : Number(text);
};

/**
 * Exchanges a refresh token for the next one of its session; exactly one of any number of parallel callers wins
 * (contract 3, "Rotation"). Everything else is 401 `REFRESH_TOKEN_INVALID`, and a token used more than 10 s after it
 * was exchanged ends the session. Items that stay held by others → 503, and the token stays good.
 */
export const rotate = async (scope: SessionScope, token: string): Promise<RefreshSession> => {
  const old = parseRefreshToken(token);
  if (!old) throw refreshTokenInvalid();
  const { userId, sessionId } = old;
  const next = newRefreshToken(userId, sessionId);
  const nowMs = { N: String(clock.now()) };
  const now = { N: String(nowSeconds()) };
  const writes: Write[] = [
    {
      Update: {
        Key: refreshKey(scope, old.hash),
        UpdateExpression: 'SET usedAt = :nowMs',
        ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(usedAt) AND expiresAt > :now',
        ExpressionAttributeValues: { ':nowMs': nowMs, ':now': now },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    },
    { Put: { Item: refreshItem(scope, next.hash, sessionId) } },
    {
      Update: {
        Key: sessionKey(scope, userId, sessionId),
        UpdateExpression: 'SET lastUsedAt = :nowMs, expiresAt = :until',
        ConditionExpression: 'attribute_exists(pk) AND expiresAt > :now',
        ExpressionAttributeValues: { ':nowMs': nowMs, ':now': now, ':until': { N: sessionExpiry() } },
      },
    },
  ];
  const refused = await transact(writes, 'Too many refreshes of this session at once. Please try again.');
  if (refused) {
    const used = usedAt(refused);
    if (used !== undefined && clock.now() - used > graceMs) await revokeSession(scope, userId, sessionId);
    throw refreshTokenInvalid();
  }
  return { userId, sessionId, refreshToken: next.token };
};
