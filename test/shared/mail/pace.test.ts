import { expect, test } from 'vitest';
import { awaitTurn, holdBack } from '../../../shared/mail/pace.ts';
import { mailRuns } from '../../../shared/mail/retries.ts';

process.env.MAIL_PER_SECOND = '20';
const spacingMs = (1000 * mailRuns) / 20;

/** Milliseconds that it takes. */
const timeOf = async (act: () => Promise<unknown>): Promise<number> => {
  const begin = performance.now();
  await act();
  return performance.now() - begin;
};

test('all runs together send no more mails a second than the provider takes of an account', async () => {
  const turns = await timeOf(async () => {
    for (let mail = 0; mail < 4; mail++) expect(await awaitTurn('a')).toBe(0);
  });
  expect(turns).toBeGreaterThanOrEqual(3 * spacingMs - 5);
});

test('also when a run sends several at once', async () => {
  expect(await timeOf(() => Promise.all([1, 2, 3].map(() => awaitTurn('b'))))).toBeGreaterThanOrEqual(
    2 * spacingMs - 5,
  );
});

test('one account does not wait for another', async () => {
  await Promise.all([1, 2, 3].map(() => awaitTurn('c')));
  expect(await timeOf(() => awaitTurn('d'))).toBeLessThan(spacingMs / 2);
});

test('a short wait that the provider asks for is waited for, a long one is told at once', async () => {
  holdBack('e', 0.2);
  expect(await timeOf(() => awaitTurn('e'))).toBeGreaterThanOrEqual(195);
  holdBack('e', 60);
  holdBack('e', 1);
  const begin = performance.now();
  expect(await awaitTurn('e')).toBe(60);
  expect(performance.now() - begin).toBeLessThan(50);
});
