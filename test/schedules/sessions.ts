import assert from 'node:assert/strict';
import fc from 'fast-check';
import { startSignIn } from '../../shared/accounts/lockout.ts';
import { rotate, startSession } from '../../shared/accounts/refresh-sessions.ts';
import { endSession, type SessionScope, sessionKey } from '../../shared/accounts/sessions.ts';
import { AppError, statusOf } from '../../shared/core/errors.ts';
import { projectScope } from '../../shared/persistence/item-keys.ts';
import { get } from '../../shared/persistence/table.ts';
import { model, times } from './model.ts';
import { valuesOf, type World } from './world.ts';

const scope: SessionScope = projectScope('a'.repeat(24));
const userId = 'b'.repeat(24);
const client = { ip: '192.0.2.1', userAgent: 'test' };

const unusedTokens = (world: World): number =>
  world.table.items('refresh#').filter(({ usedAt }) => usedAt === undefined).length;

const refresh = fc.record({ key: fc.constantFrom(undefined, 'a', 'b'), isAgain: fc.boolean(), isEnd: fc.boolean() });

/** Several clients exchange one refresh token, some of them also the next one; others end the session. */
const rotation = model('refresh tokens', fc.array(refresh, { minLength: 2, maxLength: 4 }), async (world, clients) => {
  const { refreshToken: first, sessionId } = await startSession(scope, userId, client);
  world.always = () => assert.ok(unusedTokens(world) <= 1, 'Two tokens of one session are valid');
  const all = clients.map(({ key, isAgain, isEnd }) =>
    world.actor(async () => {
      if (isEnd && !isAgain) return endSession(scope, userId, sessionId).then(() => 'ended');
      const { refreshToken } = await rotate(scope, first, client, key);
      if (isAgain) await rotate(scope, refreshToken, client, key);
      return refreshToken;
    }),
  );
  await world.finish();
  const values = valuesOf(all);
  const isOpen = async () => (await get(sessionKey(scope, userId, sessionId))) !== undefined;
  if (values.includes('ended')) assert.equal(await isOpen(), false, 'A refresh opened an ended session again');
  assert.ok(new Set(values.filter((value) => value !== 'ended')).size <= 1, 'One token was exchanged for two');
  // A thief, or the owner after a thief, uses the first token after its exchange.
  world.now += 61_000;
  if (values.some((value) => value !== 'ended')) {
    await assert.rejects(rotate(scope, first, client, 'a'), AppError);
    assert.equal(await isOpen(), false, 'A used token did not end its session');
  }
});

/** A client that repeats a refresh with its key, as ours does, stays signed in. */
const repeated = model('repeated refresh', fc.integer({ min: 2, max: 5 }), async (world, tries) => {
  const { refreshToken } = await startSession(scope, userId, client);
  const begun = world.now;
  const run = world.actor(async () => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await rotate(scope, refreshToken, client, 'key');
      } catch (error) {
        const isUnavailable = error instanceof AppError && statusOf[error.code] === 503;
        if (!isUnavailable || attempt === tries) throw error;
      }
    }
  });
  await world.finish();
  if (world.now - begun > 50_000 || run.outcome.kind === 'value') return;
  // Another request, after a crash too.
  await rotate(scope, refreshToken, client, 'key');
});

const windowMs = 15 * 60_000;

/** Wrong passwords from one place; some attempts are called off before the comparison. */
const guesses = model('wrong passwords', fc.array(fc.boolean(), { minLength: 4, maxLength: 8 }), async (world, all) => {
  const begun = world.now;
  let compared = 0;
  for (const isCompared of all) {
    world.actor(async () => {
      const check = await startSignIn({ scope, address: 'a@example.com', ip: client.ip });
      if (isCompared) compared++;
      await (isCompared ? check.fail() : check.cancel());
    });
  }
  await world.finish();
  const windows = 1 + Math.floor((world.now - begun) / windowMs);
  assert.ok(compared <= 5 * windows, `${compared} passwords were compared`);
});

/** Concurrent attempts with the right password never lock the account. */
const rightPassword = model('right passwords', fc.integer({ min: 2, max: 7 }), async (world, count) => {
  const attempt = { scope, address: 'a@example.com', ip: client.ip };
  const all = times(count, () => world.actor(async () => (await startSignIn(attempt)).succeed()));
  await world.finish();
  if (all.some(({ outcome, isLate }) => outcome.kind === 'unknown' || isLate)) return;
  assert.ok(
    all.every(({ outcome }) => outcome.kind === 'value'),
    'A right password was rejected',
  );
  const [item] = world.table.items('failures');
  const { failures, inFlight } = item ?? {};
  assert.deepEqual([failures, inFlight], [{ N: '0' }, { N: '0' }], 'Attempts are left behind');
});

export const sessions = [rotation, repeated, guesses, rightPassword];
