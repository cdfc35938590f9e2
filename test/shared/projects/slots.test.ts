import { describe, expect, test } from 'vitest';
import { freeSlot } from '../../../shared/projects/create-project.ts';

const picks = (used: readonly number[], limit: number | null): Set<number | undefined> =>
  new Set(Array.from({ length: 500 }, () => freeSlot(used, limit)));

describe('a free slot', () => {
  test('is a free number below the limit', () => {
    expect(picks([1], 3)).toEqual(new Set([0, 2]));
  });

  test('is undefined when the limit is reached', () => {
    expect(picks([0, 1, 2], 3)).toEqual(new Set([undefined]));
  });

  test('is undefined when more are held than a smaller plan allows', () => {
    expect(picks([7, 8, 9, 10], 3)).toEqual(new Set([undefined]));
  });

  test.each([
    [[7, 12, 15], 5, [0, 1]],
    [[4, 7], 5, [0, 1, 2]],
    [[0, 9], 3, [1]],
  ])('is one of the free numbers when %j are held and the limit is %i', (used, limit, open) => {
    expect(picks(used, limit)).toEqual(new Set(open));
  });

  test('is among the smallest when there is no limit', () => {
    expect([...picks([0, 2], null)].sort((a, b) => Number(a) - Number(b))).toEqual([
      1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
    ]);
  });
});
