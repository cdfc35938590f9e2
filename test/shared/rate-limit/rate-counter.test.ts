import { describe, expect, test, vi } from 'vitest';
import { JsonClient } from '../../../shared/persistence/aws-client.ts';
import { blockOf, RateCounter, type RateWindow, windowSeconds } from '../../../shared/rate-limit/rate-limit.ts';
import { useMemoryTable } from '../../support/fixtures/memory-table.ts';

const { time } = useMemoryTable();
const ip = '192.0.2.1';
const windowOf = (limit: number, name: RateWindow['name'] = 'all', block = 10): RateWindow => ({ name, limit, block });

/** What remains after each of so many requests; `over` for a rejected one. */
const admitted = async (times: number, counter: RateCounter, ...windows: readonly RateWindow[]) => {
  const results: (number | 'over')[] = [];
  for (let left = times; left > 0; left--) {
    results.push(
      await counter.count(ip, windows).then(
        ({ remaining }) => remaining,
        () => 'over' as const,
      ),
    );
  }
  return results;
};

describe('a window', () => {
  test('admits its limit, tells the rest, and is free again when it ends', async () => {
    const counter = new RateCounter();
    const window = windowOf(3);
    time.now += 100_000;
    expect(await admitted(5, counter, window)).toEqual([2, 1, 0, 'over', 'over']);
    await expect(counter.count(ip, [window])).rejects.toMatchObject({
      state: { limit: 3, remaining: 0, reset: 800 },
    });
    time.now += 799_000;
    expect(counter.refusal(ip, [window])).toBeDefined();
    time.now += 1000;
    expect(counter.refusal(ip, [window])).toBeUndefined();
    expect(await counter.count(ip, [window])).toEqual({ limit: 3, remaining: 2, reset: windowSeconds });
  });

  test('admits its limit with blocks, with fewer writes than requests and one by one at its end', async () => {
    const sent = vi.mocked(JsonClient.prototype.send);
    const counter = new RateCounter();
    const results = await admitted(101, counter, windowOf(100));
    expect(results).toEqual([...Array.from({ length: 100 }, (_, at) => 99 - at), 'over']);
    expect(sent.mock.calls.length).toBeLessThan(50);
    sent.mockClear();
    await admitted(5, counter, windowOf(100));
    expect(sent).not.toHaveBeenCalled();
  });

  test('is shared by all processes, and none of them admits more', async () => {
    const counters = [1, 2, 3].map(() => new RateCounter());
    const all: (number | 'over')[] = [];
    for (let round = 0; round < 50; round++)
      for (const counter of counters) all.push(...(await admitted(1, counter, windowOf(100))));
    const count = all.filter((one) => one !== 'over').length;
    expect(count).toBeLessThanOrEqual(100);
    expect(count).toBeGreaterThanOrEqual(80);
  });

  test('is one of several: the tightest is returned, and rejects', async () => {
    const counter = new RateCounter();
    const [wide, narrow] = [windowOf(10), windowOf(2, 'auth')];
    expect(await admitted(3, counter, wide, narrow)).toEqual([1, 0, 'over']);
    expect(counter.refusal(ip, [wide])).toBeUndefined();
    expect(counter.refusal(ip, [narrow])).toMatchObject({ state: { limit: 2 } });
  });

  test('is of one source', async () => {
    const counter = new RateCounter();
    expect(await admitted(2, counter, windowOf(1))).toEqual([0, 'over']);
    expect(await counter.count('192.0.2.2', [windowOf(1)])).toMatchObject({ remaining: 0 });
    expect(counter.refusal('192.0.2.3', [windowOf(1)])).toBeUndefined();
  });

  test('that is counted each time is returned with the rest of one that is counted in blocks', async () => {
    const [single, blocks] = [windowOf(1000, 'all', 1), windowOf(50, 'auth')];
    const rest = Array.from({ length: 20 }, (_, at) => 49 - at);
    expect(await admitted(20, new RateCounter(), single, blocks)).toEqual(rest);
    time.now += windowSeconds * 1000;
    expect(await admitted(20, new RateCounter(), blocks, single)).toEqual(rest);
  });

  test('has room for another process at its end', async () => {
    await admitted(95, new RateCounter(), windowOf(100));
    expect(await admitted(1, new RateCounter(), windowOf(100))).not.toEqual(['over']);
  });
});

describe('a process that may know 3 sources', () => {
  const known = async (counter: RateCounter, ...sources: readonly string[]): Promise<void> => {
    for (const source of sources) await counter.count(source, [windowOf(10)]);
  };
  /** Makes `ip` one of the sources: this process knows it to be over its limit. */
  const over = async (counter: RateCounter) => expect(await admitted(2, counter, windowOf(1))).toEqual([0, 'over']);
  const isKnown = (counter: RateCounter) => counter.refusal(ip, [windowOf(1)]) !== undefined;

  test('forgets all sources when there is no room for another one', async () => {
    const counter = new RateCounter(3);
    await over(counter);
    await known(counter, 'a', 'b', 'a');
    expect(isKnown(counter)).toBe(true);
    await known(counter, 'c');
    expect(isKnown(counter)).toBe(false);
  });

  test('forgets those of past windows first', async () => {
    const counter = new RateCounter(3);
    await known(counter, 'a');
    time.now += windowSeconds * 1000;
    await over(counter);
    await known(counter, 'b', 'c');
    expect(isKnown(counter)).toBe(true);
    await known(counter, 'd');
    expect(isKnown(counter)).toBe(false);
  });
});

test('the last tenth of a window is counted one by one', async () => {
  const counter = new RateCounter();
  const sent = vi.mocked(JsonClient.prototype.send);
  const counts = async (counted: number): Promise<number> => {
    sent.mockClear();
    sent.mockResolvedValueOnce({ Attributes: { n_all: { N: String(counted) } } });
    await counter.count(ip, [windowOf(100)]);
    const [[, input] = ['', {}]] = sent.mock.calls;
    return Number(
      (input as { ExpressionAttributeValues?: Record<string, { N: string }> }).ExpressionAttributeValues?.[':all']?.N,
    );
  };
  for (let count = 1; count < 9; count++) expect(await counts(count)).toBe(count > 8 ? 2 : 1);
  expect(await counts(89)).toBe(2);
  await counter.count(ip, [windowOf(100)]);
  expect(await counts(90)).toBe(2);
  await counter.count(ip, [windowOf(100)]);
  expect(await counts(91)).toBe(1);
});

test('a process counts a thousandth of a limit at a time, or as many as the operator sets', () => {
  expect([blockOf(100, 0), blockOf(3500, 0), blockOf(3500, 7)]).toEqual([1, 3, 7]);
});
