import { describe, expect, it, vi } from 'vitest';
import { clock } from '../../../shared/core/clock.ts';
import { workThrough } from '../../../shared/persistence/jobs.ts';

const minute = 60_000;

/** Runs a job over `count` due items, two per page, each due a minute after the previous one. Returns what it did. */
const run = async (count: number, { limitMs = 100_000, fails = -1 } = {}) => {
  const now = Date.now();
  vi.spyOn(clock, 'now').mockReturnValue(now);
  const acted: number[] = [];
  const worked = await workThrough<number>({
    async *due() {
      for (let first = 0; first < count; first += 2) yield [first, first + 1].filter((item) => item < count);
    },
    dueAt: (item) => now - (count - item) * minute,
    step: async (item) => {
      acted.push(item);
      return item === fails ? 0 : 1;
    },
    concurrency: 2,
    limitMs,
  });
  return { ...worked, acted };
};

describe('workThrough', () => {
  it('processes all due items, the oldest first', async () => {
    expect(await run(5)).toEqual({ done: 5, behindMinutes: 0, acted: [0, 1, 2, 3, 4] });
  });

  it('counts finished items and continues after one that is not', async () => {
    expect(await run(5, { fails: 0 })).toEqual({ done: 4, behindMinutes: 0, acted: [0, 1, 2, 3, 4] });
  });

  it('starts no item after its time limit, and returns how long the oldest has been due', async () => {
    expect(await run(5, { limitMs: 0 })).toEqual({ done: 0, behindMinutes: 5, acted: [] });
  });

  it('does nothing when nothing is due', async () => {
    expect(await run(0, { limitMs: 0 })).toEqual({ done: 0, behindMinutes: 0, acted: [] });
  });
});
