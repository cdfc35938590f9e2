import { describe, expect, test } from 'vitest';
import {
  clearFailures,
  countFactorFailure,
  startProof,
  startSignIn,
  undoFactorFailure,
} from '../../../shared/accounts/lockout.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { useMemoryTable } from '../../support/fixtures/memory-table.ts';

const { time, faults } = useMemoryTable();
const scope = projectScope('a'.repeat(24));
const userId = 'b'.repeat(24);
const attempt = { scope, address: 'a@example.com', ip: '192.0.2.1' };
const minuteMs = 60_000;

const fail = async (times: number, from = attempt): Promise<void> => {
  for (let left = times; left > 0; left--) await (await startSignIn(from)).fail();
};
const failProof = async (times: number): Promise<void> => {
  for (let left = times; left > 0; left--) await (await startProof(userId, attempt)).fail();
};

describe('429 ACCOUNT_LOCKED', () => {
  test('after 5 failures from one place, until 15 minutes after the first', async () => {
    await fail(4);
    time.now += 5 * minuteMs;
    await fail(1);
    await expect(startSignIn(attempt)).rejects.toMatchObject({
      code: 'ACCOUNT_LOCKED',
      message: 'Too many failed attempts. Retry in 10 minutes.',
      retryAfter: 600,
    });
    time.now += 10 * minuteMs - 1000;
    await expect(startSignIn(attempt)).rejects.toMatchObject({
      message: 'Too many failed attempts. Retry in 1 minute.',
      retryAfter: 1,
    });
    time.now += 1000;
    await fail(5);
    await expect(startSignIn(attempt)).rejects.toMatchObject({ retryAfter: 900 });
  });

  test('not for another place, address or project', async () => {
    await fail(5);
    await fail(1, { ...attempt, ip: '192.0.2.2' });
    await fail(1, { ...attempt, address: 'b@example.com' });
    await fail(1, { ...attempt, scope: projectScope('c'.repeat(24)) });
  });

  test('after 100 failures from anywhere, for an hour', async () => {
    for (let place = 0; place < 20; place++) await fail(5, { ...attempt, ip: `192.0.2.${place}` });
    const other = { ...attempt, ip: '198.51.100.1' };
    await expect(startSignIn(other)).rejects.toMatchObject({ code: 'ACCOUNT_LOCKED', retryAfter: 3600 });
    time.now += 60 * minuteMs;
    await fail(1, other);
  });

  test('when a rejected attempt from anywhere also counts for its place', async () => {
    for (let place = 0; place < 20; place++) await fail(5, { ...attempt, ip: `192.0.2.${place}` });
    const other = { ...attempt, ip: '198.51.100.1' };
    for (let left = 5; left > 0; left--) await expect(startSignIn(other)).rejects.toMatchObject({ retryAfter: 3600 });
    await expect(startSignIn(other)).rejects.toMatchObject({ retryAfter: 900 });
  });

  test('after 5 failures of a signed-in user, independent of sign-ins', async () => {
    await fail(5);
    await failProof(5);
    await expect(startProof(userId, attempt)).rejects.toMatchObject({ code: 'ACCOUNT_LOCKED', retryAfter: 900 });
  });

  test('after 10 wrong second factors', async () => {
    for (let left = 10; left > 0; left--) await countFactorFailure(scope, userId);
    await expect(countFactorFailure(scope, userId)).rejects.toMatchObject({ code: 'ACCOUNT_LOCKED' });
    await undoFactorFailure(scope, userId);
    await countFactorFailure(scope, userId);
    await expect(countFactorFailure(scope, userId)).rejects.toMatchObject({ code: 'ACCOUNT_LOCKED' });
  });
});

describe('a success', () => {
  test('clears the failures of its place, and counts no failure from anywhere', async () => {
    for (let place = 0; place < 19; place++) await fail(5, { ...attempt, ip: `192.0.2.${place + 10}` });
    await fail(4);
    await (await startSignIn(attempt)).succeed();
    await fail(1);
    await expect(startSignIn(attempt)).rejects.toMatchObject({ retryAfter: 3600 });
  });

  test('keeps the attempts that are still compared', async () => {
    const others = await Promise.all([1, 2, 3].map(() => startSignIn(attempt)));
    await (await startSignIn(attempt)).succeed();
    await fail(2);
    for (const other of others) await other.fail();
    await expect(startSignIn(attempt)).rejects.toMatchObject({ retryAfter: 900 });
  });

  test('of a signed-in user unlocks sign-ins from the same place', async () => {
    await fail(5);
    await failProof(4);
    await (await startProof(userId, attempt)).succeed();
    await fail(5);
    await failProof(5);
  });

  test('with a new password unlocks all sign-ins of this place', async () => {
    await fail(5);
    await clearFailures(attempt);
    await fail(5);
    await expect(startSignIn(attempt)).rejects.toMatchObject({ code: 'ACCOUNT_LOCKED' });
  });
});

test('an attempt that is called off does not count', async () => {
  for (let left = 110; left > 0; left--) await (await startSignIn(attempt)).cancel();
  await fail(5);
});

test('an attempt that ends after its window changes nothing in the next one', async () => {
  const late = await startSignIn(attempt);
  time.now += 15 * minuteMs;
  await fail(4);
  const other = await startSignIn(attempt);
  await late.succeed();
  await other.fail();
  await expect(startSignIn(attempt)).rejects.toMatchObject({ code: 'ACCOUNT_LOCKED', retryAfter: 900 });
});

test('attempts whose responses were lost count one time', async () => {
  faults.isRepeated = true;
  await fail(5);
  await expect(startSignIn(attempt)).rejects.toMatchObject({ code: 'ACCOUNT_LOCKED' });
});

test('an attempt that ended cannot be called off', async () => {
  const check = await startSignIn(attempt);
  await check.fail();
  await check.cancel();
  await fail(4);
  await expect(startSignIn(attempt)).rejects.toMatchObject({ code: 'ACCOUNT_LOCKED', retryAfter: 900 });
});

test('an undone failure that was never counted allows no more attempts, and clearing none changes nothing', async () => {
  await countFactorFailure(scope, userId);
  await undoFactorFailure(scope, userId);
  await undoFactorFailure(scope, userId);
  for (let left = 10; left > 0; left--) await countFactorFailure(scope, userId);
  await expect(countFactorFailure(scope, userId)).rejects.toMatchObject({ code: 'ACCOUNT_LOCKED' });
  await clearFailures(attempt);
  await fail(5);
  await expect(startSignIn(attempt)).rejects.toMatchObject({ code: 'ACCOUNT_LOCKED' });
});

test('a new password also clears the failures from anywhere', async () => {
  for (let place = 0; place < 20; place++) await fail(5, { ...attempt, ip: `192.0.2.${place}` });
  const other = { ...attempt, ip: '198.51.100.1' };
  await clearFailures(other);
  await fail(1, other);
});

test('concurrent attempts at the start of a window all count', async () => {
  await fail(5);
  time.now += 15 * minuteMs;
  const checks = await Promise.all(Array.from({ length: 5 }, () => startSignIn(attempt)));
  for (const check of checks) await check.fail();
  await expect(startSignIn(attempt)).rejects.toMatchObject({ code: 'ACCOUNT_LOCKED' });
});
