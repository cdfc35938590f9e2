import { describe, expect, test } from 'vitest';
import { isCurrent, rotate, startSession } from '../../../shared/accounts/refresh-sessions.ts';
import {
  endSession,
  listSessions,
  newRefreshToken,
  parseRefreshToken,
  requireRecentSession,
  requireRevocation,
  requireSession,
  revokeAllSessions,
  revokeSession,
  signOut,
} from '../../../shared/accounts/sessions.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { laterRefusalOf } from '../../support/data/refusal.ts';
import { useMemoryTable } from '../../support/fixtures/memory-table.ts';

const { time } = useMemoryTable();
const scope = projectScope('a'.repeat(24));
const userId = 'b'.repeat(24);
const client = { ip: '192.0.2.1', userAgent: 'test' };
const dayMs = 24 * 3600 * 1000;

const start = () => startSession(scope, userId, client, [], ['pwd']);
const exchange = (token: string, key?: string) => rotate(scope, token, client, key);
const isOpen = (sessionId: string) =>
  requireSession(scope, userId, sessionId).then(
    () => true,
    () => false,
  );
const invalid = { code: 'REFRESH_TOKEN_INVALID' };
const current = (token: string) => {
  const parsed = parseRefreshToken(token);
  if (!parsed) throw new Error('The token is malformed');
  return isCurrent(scope, parsed, parsed.hash);
};

describe('an exchange of a refresh token', () => {
  test('returns the next token of the session, with its sign-in methods', async () => {
    const { refreshToken, sessionId } = await start();
    const next = await exchange(refreshToken);
    expect(next).toMatchObject({ userId, sessionId, amr: ['pwd'] });
    expect(next.refreshToken).not.toBe(refreshToken);
    await exchange(next.refreshToken);
  });

  test('401 when the token was used in the last 10 s, and the session stays', async () => {
    const { refreshToken, sessionId } = await start();
    const next = await exchange(refreshToken);
    time.now += 10_000;
    await expect(exchange(refreshToken)).rejects.toMatchObject(invalid);
    expect(await isOpen(sessionId)).toBe(true);
    await exchange(next.refreshToken);
  });

  test('401 when the token was used earlier, and the session ends', async () => {
    const { refreshToken, sessionId } = await start();
    const next = await exchange(refreshToken);
    time.now += 10_001;
    await expect(exchange(refreshToken)).rejects.toMatchObject(invalid);
    expect(await isOpen(sessionId)).toBe(false);
    await expect(exchange(next.refreshToken)).rejects.toMatchObject(invalid);
  });

  test('401 when the session ended, when the token expired, and when it is another one', async () => {
    const ended = await start();
    await endSession(scope, userId, ended.sessionId);
    await expect(exchange(ended.refreshToken)).rejects.toMatchObject(invalid);
    const [first, second] = [await start(), await start()];
    await expect(exchange('none')).rejects.toMatchObject(invalid);
    const { expiresAt } = await requireSession(scope, userId, first.sessionId);
    time.now = expiresAt * 1000 - 1000;
    await exchange(first.refreshToken);
    time.now += 1000;
    await expect(exchange(second.refreshToken)).rejects.toMatchObject(invalid);
  });

  test('returns the same token for a repeat with the same key within 60 s, while that token is unused', async () => {
    const { refreshToken, sessionId } = await start();
    const next = await exchange(refreshToken, 'key');
    expect(await current(refreshToken)).toBe(false);
    expect(await current(next.refreshToken)).toBe(true);
    expect(await current(newRefreshToken(userId, sessionId).token)).toBe(false);
    time.now += 60_000;
    expect(await exchange(refreshToken, 'key')).toEqual(next);
    await expect(exchange(refreshToken, 'other')).rejects.toMatchObject(invalid);
    expect(await isOpen(sessionId)).toBe(false);
  });

  test('401 for a repeat with the same key after 60 s, or after the next token was used', async () => {
    const late = await start();
    await exchange(late.refreshToken, 'key');
    time.now += 60_001;
    await expect(exchange(late.refreshToken, 'key')).rejects.toMatchObject(invalid);
    const used = await start();
    const next = await exchange(used.refreshToken, 'key');
    await exchange(next.refreshToken, 'key');
    await expect(exchange(used.refreshToken, 'key')).rejects.toMatchObject(invalid);
  });
});

test('a token of an ended or expired session is not current', async () => {
  const [ended, expired] = [await start(), await start()];
  await endSession(scope, userId, ended.sessionId);
  expect(await current(ended.refreshToken)).toBe(false);
  const { expiresAt } = await requireSession(scope, userId, expired.sessionId);
  time.now = expiresAt * 1000;
  expect(await current(expired.refreshToken)).toBe(false);
});

test('a session without sign-in methods stores none', async () => {
  const { sessionId, refreshToken } = await startSession(scope, userId, client);
  expect(await requireSession(scope, userId, sessionId)).not.toHaveProperty('amr');
  expect(await exchange(refreshToken)).not.toHaveProperty('amr');
  expect(() => newRefreshToken(userId, 'short')).toThrow('24 hexadecimal');
});

describe('a session', () => {
  test('403 REAUTHENTICATION_REQUIRED when the sign-in was over 10 minutes ago', async () => {
    const bearer = await start();
    time.now += 10 * 60_000;
    await requireRecentSession(scope, bearer);
    time.now += 1;
    expect(await laterRefusalOf(requireRecentSession(scope, bearer))).toMatchObject({
      code: 'REAUTHENTICATION_REQUIRED',
    });
  });

  test('401 TOKEN_INVALID from the second in which it expires', async () => {
    const { sessionId } = await start();
    const { expiresAt } = await requireSession(scope, userId, sessionId);
    time.now = expiresAt * 1000 - 1;
    expect(await isOpen(sessionId)).toBe(true);
    expect(await listSessions(scope, userId)).toHaveLength(1);
    time.now += 1;
    expect(await laterRefusalOf(requireSession(scope, userId, sessionId))).toMatchObject({ code: 'TOKEN_INVALID' });
    expect(await listSessions(scope, userId)).toEqual([]);
    const open = await start();
    expect(await laterRefusalOf(revokeSession(scope, open, sessionId))).toMatchObject({ code: 'SESSION_NOT_FOUND' });
    const expired = { userId, sessionId };
    expect(await laterRefusalOf(revokeSession(scope, expired, open.sessionId))).toMatchObject({
      code: 'TOKEN_INVALID',
    });
    expect(await endSession(scope, userId, sessionId)).toBe(false);
    expect(await laterRefusalOf(requireSession(scope, userId, sessionId))).toMatchObject({ code: 'TOKEN_INVALID' });
  });

  test('404 SESSION_NOT_FOUND when it is revoked again, expired, malformed or of another user', async () => {
    const { sessionId } = await start();
    const expired = await start();
    const notFound = { code: 'SESSION_NOT_FOUND' };
    expect(await laterRefusalOf(requireRevocation(scope, 'c'.repeat(24), sessionId))).toMatchObject(notFound);
    expect(await laterRefusalOf(requireRevocation(scope, userId, 'none'))).toMatchObject(notFound);
    await requireRevocation(scope, userId, sessionId);
    expect(await laterRefusalOf(requireRevocation(scope, userId, sessionId))).toMatchObject(notFound);
    time.now += 1000 * dayMs;
    expect(await laterRefusalOf(requireRevocation(scope, userId, expired.sessionId))).toMatchObject(notFound);
  });

  test('ends with its token, used or not, and not with a token that was never issued', async () => {
    const [first, second] = [await start(), await start()];
    await exchange(first.refreshToken);
    await signOut(scope, 'none');
    await signOut(scope, newRefreshToken(userId, first.sessionId).token);
    await signOut(projectScope('c'.repeat(24)), first.refreshToken);
    expect(await isOpen(first.sessionId)).toBe(true);
    await signOut(scope, first.refreshToken);
    expect(await isOpen(first.sessionId)).toBe(false);
    expect(await isOpen(second.sessionId)).toBe(true);
  });

  test('stays when all others of its user are revoked', async () => {
    const all = [];
    for (let left = 25; left > 0; left--) all.push(await start());
    const [kept] = all;
    await revokeAllSessions(scope, userId, kept?.sessionId);
    expect((await listSessions(scope, userId)).map(({ _id }) => _id)).toEqual([kept?.sessionId]);
    await revokeAllSessions(scope, userId);
    expect(await listSessions(scope, userId)).toEqual([]);
  });

  test('is revoked by another one that is open, or by its own', async () => {
    const [first, second, third] = [await start(), await start(), await start()];
    await revokeSession(scope, first, second.sessionId);
    expect(await isOpen(second.sessionId)).toBe(false);
    expect(await laterRefusalOf(revokeSession(scope, second, first.sessionId))).toMatchObject({
      code: 'TOKEN_INVALID',
    });
    expect(await laterRefusalOf(revokeSession(scope, first, second.sessionId))).toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
    expect(await laterRefusalOf(revokeSession(scope, first, 'none'))).toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await revokeSession(scope, first, first.sessionId);
    expect(await isOpen(first.sessionId)).toBe(false);
    expect(await laterRefusalOf(revokeSession(scope, first, first.sessionId))).toMatchObject({ code: 'TOKEN_INVALID' });
    expect(await isOpen(third.sessionId)).toBe(true);
  });
});
