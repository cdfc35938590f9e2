import { afterEach, describe, expect, test, vi } from 'vitest';
import { type PasswordSignIn, startSignIn } from '../../../shared/accounts/lockout.ts';
import { rotate, startSession } from '../../../shared/accounts/refresh-sessions.ts';
import {
  endSession,
  listSessions,
  requireSession,
  revokeAllSessions,
  revokeSession,
  type SessionScope,
  signOut,
} from '../../../shared/accounts/sessions.ts';
import { clock } from '../../../shared/core/clock.ts';
import { AppError } from '../../../shared/core/errors.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { inParallel } from '../../support/clients/client.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';

listenToCommands();

const hex = (): string => crypto.randomUUID().replaceAll('-', '').slice(0, 24);
const client = { ip: '192.0.2.7', userAgent: 'test' };

const newSession = async (scope = projectScope(hex()), userId = hex()) => ({
  scope,
  ...(await startSession(scope, userId, client)),
});

const later = (ms: number): void => {
  const moment = clock.now() + ms;
  vi.spyOn(clock, 'now').mockReturnValue(moment);
};

/** Returns `ok` or the error code. */
const outcomeOf = (act: Promise<unknown>): Promise<string> =>
  act.then(
    () => 'ok',
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  );

const outcomes = async (times: number, act: (index: number) => Promise<unknown>): Promise<Record<string, number>> => {
  const all = Object.groupBy(await inParallel(times, (index) => outcomeOf(act(index))), (outcome) => outcome);
  return Object.fromEntries(Object.entries(all).map(([outcome, those = []]) => [outcome, those.length]));
};

const refused = { code: 'REFRESH_TOKEN_INVALID' };

afterEach(() => {
  vi.restoreAllMocks();
});

describe('rotate', () => {
  test('takes one table operation', async () => {
    const { scope, refreshToken } = await newSession();
    expect(await commandsOf(() => rotate(scope, refreshToken, client))).toEqual(['dynamodb TransactWriteItemsCommand']);
  });

  test('REFRESH_TOKEN_INVALID for all except one of 50 concurrent calls, and the session stays active', async () => {
    const { scope, refreshToken } = await newSession();
    let next = '';
    const act = async (): Promise<void> => {
      next = (await rotate(scope, refreshToken, client)).refreshToken;
    };
    expect(await outcomes(50, act)).toEqual({ ok: 1, REFRESH_TOKEN_INVALID: 49 });
    expect(await outcomeOf(rotate(scope, next, client))).toBe('ok');
  });

  test('REFRESH_TOKEN_INVALID without another effect for a token exchanged up to 10 s ago', async () => {
    const { scope, refreshToken } = await newSession();
    later(0);
    const next = await rotate(scope, refreshToken, client);
    later(9900);
    await expect(rotate(scope, refreshToken, client)).rejects.toMatchObject(refused);
    expect(await outcomeOf(rotate(scope, next.refreshToken, client))).toBe('ok');
  });

  test('REFRESH_TOKEN_INVALID for a token exchanged earlier, and the session ends', async () => {
    const { scope, userId, refreshToken } = await newSession();
    const other = await newSession(scope, userId);
    const next = await rotate(scope, (await rotate(scope, refreshToken, client)).refreshToken, client);
    later(10_100);
    await expect(rotate(scope, refreshToken, client)).rejects.toMatchObject(refused);
    await expect(rotate(scope, next.refreshToken, client)).rejects.toMatchObject(refused);
    expect(await outcomeOf(rotate(scope, other.refreshToken, client))).toBe('ok');
  });

  test('REFRESH_TOKEN_INVALID 7 days after the last rotation, even if the table still has the session', async () => {
    const { scope, userId, refreshToken } = await newSession();
    later(6 * 24 * 3600_000);
    const next = await rotate(scope, refreshToken, client);
    later(6 * 24 * 3600_000);
    const last = await rotate(scope, next.refreshToken, client);
    later(7 * 24 * 3600_000);
    await expect(rotate(scope, last.refreshToken, client)).rejects.toMatchObject(refused);
    expect(await listSessions(scope, userId)).toEqual([]);
  });

  test('REFRESH_TOKEN_INVALID in another project, and the session stays active', async () => {
    const { scope, refreshToken } = await newSession();
    const other = projectScope(hex());
    await expect(rotate(other, refreshToken, client)).rejects.toMatchObject(refused);
    await signOut(other, refreshToken);
    expect(await outcomeOf(rotate(scope, refreshToken, client))).toBe('ok');
  });
});

describe('rotate with a key when its response was lost', () => {
  const key = 'one renewal';
  const again = (
    session: { readonly scope: SessionScope; readonly refreshToken: string },
    by: string | undefined = key,
  ) => rotate(session.scope, session.refreshToken, client, by);

  test('takes one table operation, and a retry two additional reads', async () => {
    const session = await newSession();
    const transaction = 'dynamodb TransactWriteItemsCommand';
    expect(await commandsOf(() => again(session))).toEqual([transaction]);
    const read = 'dynamodb GetItemCommand';
    expect(await commandsOf(() => again(session))).toEqual([read, read, transaction]);
  });

  test('returns one token to 50 concurrent calls and to a retry within 60 s, and the session stays active', async () => {
    const session = await newSession();
    const { scope, userId } = session;
    later(0);
    const given = await inParallel(50, () => again(session));
    later(59_900);
    given.push(await again(session));
    const [next = ''] = new Set(given.map(({ refreshToken }) => refreshToken));
    expect(given).toEqual(given.map(() => expect.objectContaining({ userId, refreshToken: next })));
    expect(next).not.toBe(session.refreshToken);
    expect(await outcomes(50, () => rotate(scope, next, client))).toEqual({ ok: 1, REFRESH_TOKEN_INVALID: 49 });
    expect(await listSessions(scope, userId)).toHaveLength(1);
  });

  test.each([
    ['without a key', undefined],
    ['with another key', 'another renewal'],
  ])('is REFRESH_TOKEN_INVALID %s, and after 10 s the session ends', async (_with, other) => {
    const session = await newSession();
    const { scope, userId } = session;
    later(0);
    await again(session);
    await expect(rotate(scope, session.refreshToken, client, other)).rejects.toMatchObject(refused);
    expect(await listSessions(scope, userId)).toHaveLength(1);
    later(10_100);
    await expect(rotate(scope, session.refreshToken, client, other)).rejects.toMatchObject(refused);
    expect(await listSessions(scope, userId)).toEqual([]);
    await expect(again(session)).rejects.toMatchObject(refused);
  });

  test.each([
    ['when the exchange had no key', undefined, 10_100],
    ['after 60 s', key, 60_100],
  ])('is REFRESH_TOKEN_INVALID and ends the session %s', async (_when, first, ms) => {
    const session = await newSession();
    later(0);
    await rotate(session.scope, session.refreshToken, client, first);
    later(ms);
    await expect(again(session)).rejects.toMatchObject(refused);
    expect(await listSessions(session.scope, session.userId)).toEqual([]);
  });

  test('is REFRESH_TOKEN_INVALID and ends the session 10 s after the next token was used', async () => {
    const session = await newSession();
    later(0);
    const { refreshToken } = await again(session);
    await again({ ...session, refreshToken });
    await expect(again(session)).rejects.toMatchObject(refused);
    expect(await listSessions(session.scope, session.userId)).toHaveLength(1);
    later(10_100);
    await expect(again(session)).rejects.toMatchObject(refused);
    expect(await listSessions(session.scope, session.userId)).toEqual([]);
  });

  test('is REFRESH_TOKEN_INVALID when the session has ended, or belongs to another project', async () => {
    const session = await newSession();
    await again(session);
    await expect(again({ ...session, scope: projectScope(hex()) })).rejects.toMatchObject(refused);
    await signOut(session.scope, session.refreshToken);
    await expect(again(session)).rejects.toMatchObject(refused);
    expect(await listSessions(session.scope, session.userId)).toEqual([]);
  });

  test('keeps the sign-in methods of the session', async () => {
    const scope = projectScope(hex());
    const session = { scope, ...(await startSession(scope, hex(), client, [], ['pwd', 'totp'])) };
    const first = await again(session);
    expect(first.amr).toEqual(['pwd', 'totp']);
    expect(await again(session)).toEqual(first);
  });
});

describe('a revoked session', () => {
  test('REFRESH_TOKEN_INVALID immediately after the revocation', async () => {
    const { scope, userId, sessionId, refreshToken } = await newSession();
    expect(await endSession(scope, userId, sessionId)).toBe(true);
    await expect(rotate(scope, refreshToken, client)).rejects.toMatchObject(refused);
    expect(await endSession(scope, userId, sessionId)).toBe(false);
  });

  test('never becomes active again when rotations and a revocation run in any order', async () => {
    const { scope, userId, sessionId, refreshToken } = await newSession();
    const tokens = [refreshToken];
    await inParallel(50, async (index) => {
      if (index === 25) await endSession(scope, userId, sessionId);
      else
        await rotate(scope, refreshToken, client).then(
          (next) => tokens.push(next.refreshToken),
          () => undefined,
        );
    });
    for (const token of tokens) await expect(rotate(scope, token, client)).rejects.toMatchObject(refused);
    expect(await listSessions(scope, userId)).toEqual([]);
  });

  test('cannot be ended by another user', async () => {
    const { scope, sessionId, refreshToken } = await newSession();
    expect(await endSession(scope, hex(), sessionId)).toBe(false);
    expect(await outcomeOf(rotate(scope, refreshToken, client))).toBe('ok');
  });
});

describe('a session that has expired, whether or not the table still has it', () => {
  test('TOKEN_INVALID for its requests, SESSION_NOT_FOUND for ending it', async () => {
    const { scope, userId, sessionId } = await newSession();
    await requireSession(scope, userId, sessionId);
    later(4 * 24 * 3600_000);
    const asking = await startSession(scope, userId, client);
    later(3 * 24 * 3600_000 + 1000);
    await expect(requireSession(scope, userId, sessionId)).rejects.toMatchObject({ code: 'TOKEN_INVALID' });
    const expired = { userId, sessionId };
    for (const ended of [sessionId, asking.sessionId, 'x']) {
      await expect(revokeSession(scope, expired, ended)).rejects.toMatchObject({ code: 'TOKEN_INVALID' });
    }
    await expect(revokeSession(scope, asking, sessionId)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    expect(await endSession(scope, userId, sessionId)).toBe(false);
    await revokeSession(scope, asking, asking.sessionId);
    expect(await listSessions(scope, userId)).toEqual([]);
  });
});

describe('the sessions of a user', () => {
  test('are listed with the last used first, without tokens', async () => {
    const first = await newSession();
    later(1000);
    const second = await newSession(first.scope, first.userId);
    later(1000);
    const { refreshToken } = await rotate(first.scope, first.refreshToken, client);
    await newSession(first.scope);
    const sessions = await listSessions(first.scope, first.userId);
    expect(sessions.map(({ _id }) => _id)).toEqual([first.sessionId, second.sessionId]);
    expect(sessions[0]).toMatchObject(client);
    expect(Number(sessions[0]?.lastUsedAt) - Number(sessions[0]?.createdAt)).toBeGreaterThanOrEqual(2000);
    expect(JSON.stringify(sessions)).not.toContain(refreshToken);
  });

  test('all end except the given one', async () => {
    const kept = await newSession();
    const others = await inParallel(25, () => startSession(kept.scope, kept.userId, client));
    const stranger = await newSession(kept.scope);
    await revokeAllSessions(kept.scope, kept.userId, kept.sessionId);
    expect(await outcomes(25, (index) => rotate(kept.scope, others[index]?.refreshToken ?? '', client))).toEqual({
      REFRESH_TOKEN_INVALID: 25,
    });
    expect(await outcomeOf(rotate(kept.scope, kept.refreshToken, client))).toBe('ok');
    expect(await outcomeOf(rotate(stranger.scope, stranger.refreshToken, client))).toBe('ok');
  });
});

describe('startSignIn', () => {
  const countFailure = async (attempt: PasswordSignIn): Promise<void> => (await startSignIn(attempt)).fail();
  const newAttempt = () => ({ scope: projectScope(hex()), address: 'ann@example.com', ip: '192.0.2.7' });

  test('ACCOUNT_LOCKED for all except five of 50 concurrent failures, until 15 minutes after the first', async () => {
    const attempt = newAttempt();
    expect(await outcomes(50, () => countFailure(attempt))).toEqual({ ok: 5, ACCOUNT_LOCKED: 45 });
    await expect(countFailure(attempt)).rejects.toMatchObject({ retryAfter: expect.closeTo(900, -1) });
    later(901_000);
    expect(await outcomes(50, () => countFailure(attempt))).toEqual({ ok: 5, ACCOUNT_LOCKED: 45 });
  });

  test('allows the same address from another IP, other addresses, and the same address in another project', async () => {
    const attempt = newAttempt();
    await outcomes(6, () => countFailure(attempt));
    expect(await outcomeOf(countFailure({ ...attempt, ip: '192.0.2.8' }))).toBe('ok');
    expect(await outcomeOf(countFailure({ ...attempt, address: 'bob@example.com' }))).toBe('ok');
    expect(await outcomeOf(countFailure({ ...attempt, scope: projectScope(hex()) }))).toBe('ok');
    expect(await outcomeOf(countFailure(attempt))).toBe('ACCOUNT_LOCKED');
  });

  test('ACCOUNT_LOCKED for one client that changes its address within an IPv6 /64', async () => {
    const attempt = newAttempt();
    const from = (index: number) => countFailure({ ...attempt, ip: `2001:db8:1:2::${index.toString(16)}` });
    expect(await outcomes(10, from)).toEqual({ ok: 5, ACCOUNT_LOCKED: 5 });
  });

  test('ACCOUNT_LOCKED for all except 100 in an hour from any IP; each success frees only its own attempt', async () => {
    const attempt = newAttempt();
    const from = (index: number) => ({ ...attempt, ip: `198.51.100.${index}` });
    const started = await startSignIn(from(0));
    expect(await outcomes(149, (index) => countFailure(from(index + 1)))).toEqual({ ok: 99, ACCOUNT_LOCKED: 50 });
    await started.succeed();
    expect(await outcomes(5, (index) => countFailure(from(200 + index)))).toEqual({ ok: 1, ACCOUNT_LOCKED: 4 });
    later(3_601_000);
    expect(await outcomeOf(countFailure(from(1)))).toBe('ok');
  });

  test('starts counting again after a success', async () => {
    const attempt = newAttempt();
    for (let round = 0; round < 3; round++) {
      expect(await outcomes(4, () => countFailure(attempt))).toEqual({ ok: 4 });
      await (await startSignIn(attempt)).succeed();
    }
  });
});
