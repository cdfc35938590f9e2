import { afterEach, expect, test, vi } from 'vitest';
import { mailTries, retryDelay } from '../../../shared/mail/queue.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const delays = (chance: number): number[] => {
  vi.spyOn(Math, 'random').mockReturnValue(chance);
  return Array.from({ length: mailTries - 1 }, (_, index) => retryDelay(index + 1));
};

test('each delay is three times the one before', () => {
  expect(delays(0)).toEqual([10, 30, 90, 270, 810, 2430, 7290]);
});

test('the random part adds up to half', () => {
  expect(delays(0.999_999)).toEqual([15, 45, 135, 405, 1215, 3645, 10_935]);
});

test.each([
  ['the provider asks for more', 60, 60],
  ['the provider asks for less', 5, 10],
  ['the provider asks for more than the queue can', 1_000_000, 43_200],
])('when %s', (_title, asked, seconds) => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  expect(retryDelay(1, asked)).toBe(seconds);
});

test('all tries together end long before the provider forgets the email', () => {
  expect(delays(0.999_999).reduce((sum, delay) => sum + delay, 0)).toBeLessThan(20 * 3600);
});
