import { randomInt } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { clock } from '../../shared/core/clock.ts';
import { blockOf, OverLimit, RateCounter, type RateWindow } from '../../shared/rate-limit/rate-limit.ts';
import { inParallel } from '../support/clients/client.ts';
import { commandsOf, listenToCommands } from '../support/command-notes.ts';

listenToCommands();

const realNow = clock.now;

// A window must not end while a test counts in it.
beforeEach(() => {
  const now = realNow();
  clock.now = () => now;
});
afterEach(() => {
  clock.now = realNow;
});

/** One of so many that none is met twice; those of private networks are too few. */
const newAddress = (): string => [randomInt(1, 224), randomInt(256), randomInt(256), randomInt(256)].join('.');

const windowOf = (limit: number, block = blockOf(limit, 0)): RateWindow => ({ name: 'all', limit, block });

const isLetIn = async (counter: RateCounter, address: string, windows: readonly RateWindow[]): Promise<boolean> => {
  try {
    await counter.count(address, windows);
    return true;
  } catch (error) {
    if (error instanceof OverLimit) return false;
    throw error;
  }
};

/** The number of admitted requests when a process sends `times` of them in sequence. */
const letIn = async (counter: RateCounter, address: string, times: number, window: RateWindow): Promise<number> => {
  let count = 0;
  for (let n = 0; n < times; n++) if (await isLetIn(counter, address, [window])) count++;
  return count;
};

describe('the block of a rate window', () => {
  test.each([
    [100, 1],
    [1999, 1],
    [2000, 2],
    [10_000, 10],
    [1_000_000, 1000],
  ])('for a limit of %i is %i', (limit, block) => {
    expect(blockOf(limit, 0)).toBe(block);
  });

  test('is the operator’s setting when one is given', () => {
    expect(blockOf(1_000_000, 1)).toBe(1);
  });
});

describe('a rate window counted in blocks', () => {
  test('costs one write per block of requests', async () => {
    const [counter, address] = [new RateCounter(), newAddress()];
    await letIn(counter, address, 51, windowOf(10_000));
    const commands = await commandsOf(() => letIn(counter, address, 100, windowOf(10_000)));
    expect(commands).toEqual(Array(10).fill('dynamodb UpdateItemCommand'));
  });

  test('starts with single requests, so that a process reserves at most a quarter of what it has used', async () => {
    const [counter, address] = [new RateCounter(), newAddress()];
    const commands = await commandsOf(() => letIn(counter, address, 16, windowOf(10_000)));
    expect(commands).toHaveLength(12);
  });

  test('returns the exact remaining number when one process counts', async () => {
    const [counter, address] = [new RateCounter(), newAddress()];
    for (let left = 2999; left > 2990; left--) {
      expect(await counter.count(address, [windowOf(3000)])).toMatchObject({ limit: 3000, remaining: left });
    }
  });

  test('admits exactly the limit when one process counts', async () => {
    expect(await letIn(new RateCounter(), newAddress(), 2100, windowOf(2000))).toBe(2000);
  });

  test.each([
    [50, 2000],
    [50, 5000],
    [100, 10_000],
  ])(
    'never admits more than the limit, and at most one block per process fewer, when %i processes share a limit of %i',
    async (processes, limit) => {
      const address = newAddress();
      const window = windowOf(limit);
      const counts = await inParallel(processes, () =>
        letIn(new RateCounter(), address, Math.ceil((limit * 1.2) / processes), window),
      );
      const total = counts.reduce((sum, count) => sum + count, 0);
      expect(total).toBeLessThanOrEqual(limit);
      expect(total).toBeGreaterThanOrEqual(limit - processes * (window.block - 1));
    },
  );

  test('starts at zero when the next window begins', async () => {
    const [counter, address] = [new RateCounter(), newAddress()];
    expect(await letIn(counter, address, 2001, windowOf(2000))).toBe(2000);
    const later = clock.now() + 900_000;
    clock.now = () => later;
    expect(await letIn(counter, address, 3, windowOf(2000))).toBe(3);
  });

  test('does not loosen a narrower window of the same address', async () => {
    const [counter, address] = [new RateCounter(), newAddress()];
    const windows: readonly RateWindow[] = [windowOf(10_000), { name: 'credential', limit: 20, block: 1 }];
    const answers = await inParallel(50, () => isLetIn(counter, address, windows));
    expect(answers.filter(Boolean)).toHaveLength(20);
  });
});
