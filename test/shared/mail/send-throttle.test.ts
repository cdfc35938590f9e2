import { beforeEach, expect, test, vi } from 'vitest';
import { mailRuns } from '../../../shared/mail/queue.ts';
import { pauseAccount, waitForRateLimit } from '../../../shared/mail/submit.ts';

process.env.MAIL_PER_SECOND = '20';
const spacingMs = (1000 * mailRuns) / 20;

/** The waits in milliseconds, in sequence, while the clock is stopped. */
const waits: number[] = [];

vi.mock('node:timers/promises', () => ({
  setTimeout: (ms: number) => {
    waits.push(ms);
    return Promise.resolve();
  },
}));

beforeEach(() => {
  waits.length = 0;
  vi.spyOn(performance, 'now').mockReturnValue(1000);
});

test('concurrent runs together stay within the provider’s rate of an account', async () => {
  for (let mail = 0; mail < 4; mail++) expect(await waitForRateLimit('a')).toBe(0);
  expect(waits).toEqual([spacingMs, 2 * spacingMs, 3 * spacingMs]);
});

test('a run of 50 emails returns the delay of those that would wait too long', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, () => waitForRateLimit('b')));
  expect(waits).toEqual(Array.from({ length: 30 }, (_, mail) => (mail + 1) * spacingMs));
  expect(answers.filter((seconds) => seconds === 0)).toHaveLength(31);
  expect(new Set(answers.slice(31))).toEqual(new Set([4]));
});

test('one account does not wait for another', async () => {
  await Promise.all([1, 2, 3].map(() => waitForRateLimit('c')));
  expect(waits).toHaveLength(2);
  expect(await waitForRateLimit('d')).toBe(0);
  expect(waits).toHaveLength(2);
});

test('a short delay of the provider is waited for, a long one is returned', async () => {
  pauseAccount('e', 0.2);
  expect(await waitForRateLimit('e')).toBe(0);
  expect(waits).toEqual([200]);
  pauseAccount('e', 60);
  pauseAccount('e', 1);
  expect(await waitForRateLimit('e')).toBe(60);
  expect(waits).toEqual([200]);
});
