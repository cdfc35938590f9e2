import { describe, expect, test, vi } from 'vitest';
import { daysLeft, trashEnd } from '../../../shared/collections/trash-conditions.ts';
import { clock } from '../../../shared/core/clock.ts';

const now = Date.UTC(2026, 5, 30, 12);
const dayMs = 86_400_000;

vi.spyOn(clock, 'now').mockImplementation(() => now);

describe('the days that a trashed document has left are', () => {
  test.each([
    ['30 where it was trashed just now', 0, 30],
    ['30 a second later', 1000, 30],
    ['29 after a day', dayMs, 29],
    ['1 an hour before the end', 30 * dayMs - 3600_000, 1],
    ['0 at the end', 30 * dayMs, 0],
    ['0 ever after', 400 * dayMs, 0],
    ['31 where another clock is ahead', -1, 31],
  ])('%s', (_when, agoMs, left) => {
    expect(daysLeft(new Date(now - agoMs))).toBe(left);
  });

  test.each([[null], [undefined], ['2026-01-01'], [now]])('unknown where its date is %j', (value) => {
    expect(daysLeft(value)).toBeNull();
  });
});

test('what was trashed 30 days ago, to the millisecond, has been kept for long enough', () => {
  expect(trashEnd()).toEqual(new Date(now - 30 * dayMs));
});
