import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { clearFailures, type PasswordSignIn, startProof, startSignIn } from '../../../shared/accounts/lockout.ts';
import { clock } from '../../../shared/core/clock.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { loseFirstAnswers } from '../../support/faults/lost-answers.ts';

const hex = (): string => crypto.randomUUID().replaceAll('-', '').slice(0, 24);
const locked = { code: 'ACCOUNT_LOCKED' };

let address: string;
let scope: PasswordSignIn['scope'];

beforeEach(() => {
  address = `${hex()}@example.com`;
  scope = projectScope(hex());
});

afterEach(() => {
  vi.restoreAllMocks();
});

const from = (place: number): PasswordSignIn => ({ scope, address, ip: `10.0.${place >> 8}.${place & 255}` });

const later = (ms: number): void => {
  const moment = clock.now() + ms;
  vi.spyOn(clock, 'now').mockReturnValue(moment);
};

const countFailure = async (attempt: PasswordSignIn): Promise<void> => (await startSignIn(attempt)).fail();
const countSuccess = async (attempt: PasswordSignIn): Promise<void> => (await startSignIn(attempt)).succeed();

/** Number of counted attempts before one is rejected. */
const untilLocked = async (placeOf: (n: number) => number): Promise<number> => {
  for (let n = 0; n < 200; n++) {
    try {
      await countFailure(from(placeOf(n)));
    } catch (error) {
      expect(error).toMatchObject(locked);
      return n;
    }
  }
  return Number.POSITIVE_INFINITY;
};

describe('the windows of a lockout', () => {
  test('429 after five in the next window, however many the last one counted', async () => {
    for (let n = 0; n < 4; n++) await countFailure(from(1));
    later(15 * 60_000 + 1000);
    expect(await untilLocked(() => 1)).toBe(5);
  });

  test('429 after a hundred of all clients, however many sign-ins succeeded before', async () => {
    for (let n = 0; n < 10; n++) await countSuccess(from(n));
    expect(await untilLocked((n) => n)).toBe(100);
  });

  test('429 for a new client while the address is locked for all, although the first client succeeded', async () => {
    const first = await startSignIn(from(200));
    expect(await untilLocked((n) => n)).toBe(99);
    await first.succeed();
    await countFailure(from(300));
    await expect(countFailure(from(301))).rejects.toMatchObject(locked);
  });

  test('429 after five of a client and a hundred of all clients when the password was reset', async () => {
    expect(await untilLocked((n) => n)).toBe(100);
    await clearFailures(from(0));
    expect(await untilLocked(() => 0)).toBe(5);
    expect(await untilLocked((n) => n + 100)).toBe(95);
  });

  test('429 after five and after a hundred when the SDK repeats each write', async () => {
    loseFirstAnswers();
    expect(await untilLocked(() => 1)).toBe(5);
    await (await startProof(address, from(1))).succeed();
    await countSuccess(from(1));
    expect(await untilLocked((n) => n + 2)).toBe(100 - 5);
  });
});
