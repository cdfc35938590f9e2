import { afterEach, expect, test, vi } from 'vitest';
import { ShortCache } from '../../../shared/core/cache.ts';
import { clock } from '../../../shared/core/clock.ts';

/** Loads the key itself, or nothing if the key begins with a question mark. */
const cacheOf = () => {
  const loads: string[] = [];
  const isMiss = (value: string | undefined) => value === undefined;
  const cache = new ShortCache<string | undefined>(5000, 3, { isMiss, size: 2, ttlMs: 500 });
  const get = (key: string) =>
    cache.get(key, async () => {
      loads.push(key);
      return key.startsWith('?') ? undefined : key;
    });
  return { loads, get };
};

afterEach(() => {
  vi.restoreAllMocks();
});

test('misses evict only other misses', async () => {
  const { loads, get } = cacheOf();
  for (const key of ['a', 'b', 'c', '?1', '?2', '?3']) await get(key);
  loads.length = 0;
  for (const key of ['a', 'b', 'c', '?3', '?2']) await get(key);
  expect(loads).toEqual([]);
  await get('?1');
  expect(loads).toEqual(['?1']);
});

test('concurrent callers share one load, also of a miss', async () => {
  const { loads, get } = cacheOf();
  expect(await Promise.all(['a', 'a', '?1', '?1'].map(get))).toEqual(['a', 'a', undefined, undefined]);
  expect(loads).toEqual(['a', '?1']);
});

test('the oldest entry is evicted when the cache is full', async () => {
  const { loads, get } = cacheOf();
  for (const key of ['a', 'b', 'c', 'd', 'a']) await get(key);
  expect(loads).toEqual(['a', 'b', 'c', 'd', 'a']);
});

test('expired hits and misses are removed when the cache grows', async () => {
  const now = vi.spyOn(clock, 'now').mockReturnValue(0);
  const cache = new ShortCache<string>(5000, 1000, {
    isMiss: (value) => value.startsWith('?'),
    size: 1000,
    ttlMs: 5000,
  });
  const get = (key: string) => cache.get(key, async () => key);
  for (let n = 0; n < 100; n++) await Promise.all([get(`${n}`), get(`?${n}`)]);
  expect(cache.size).toBe(200);
  now.mockReturnValue(5000);
  await Promise.all([get('new'), get('?new')]);
  expect(cache.size).toBe(2);
});

test('the oldest entries are evicted by weight, and an entry above the total weight is not kept', async () => {
  const loads: number[] = [];
  const cache = new ShortCache<number>(5000, 1000, undefined, { of: (value) => value, most: 10 });
  const get = (value: number) =>
    cache.get(String(value), async () => {
      loads.push(value);
      return value;
    });
  for (const value of [3, 4, 2]) await get(value);
  expect(cache.size).toBe(3);
  for (const value of [5, 2, 5, 3, 4]) await get(value);
  expect(loads).toEqual([3, 4, 2, 5, 3, 4]);
  await get(11);
  expect(cache.size).toBe(0);
});

test('misses expire after their own lifetime, counted from the request', async () => {
  const now = vi.spyOn(clock, 'now').mockReturnValue(0);
  const { loads, get } = cacheOf();
  const ask = async (at: number) => {
    now.mockReturnValue(at);
    await Promise.all([get('a'), get('?1')]);
    return loads.splice(0);
  };
  expect(await ask(0)).toEqual(['a', '?1']);
  expect(await ask(499)).toEqual([]);
  expect(await ask(500)).toEqual(['?1']);
  expect(await ask(999)).toEqual([]);
  expect(await ask(1000)).toEqual(['?1']);
  expect(await ask(4999)).toEqual(['?1']);
  expect(await ask(5000)).toEqual(['a']);
});

test('forget removes only matching hits and misses', async () => {
  const cache = new ShortCache<string>(5000, 10, { isMiss: (value) => value.startsWith('?'), size: 10, ttlMs: 500 });
  const loads: string[] = [];
  const get = (key: string) =>
    cache.get(key, async () => {
      loads.push(key);
      return key;
    });
  for (const key of ['a', 'b', '?a', '?b']) await get(key);
  cache.forget((key, value) => key.endsWith('a') && value.endsWith('a'));
  loads.length = 0;
  for (const key of ['a', 'b', '?a', '?b']) await get(key);
  expect(loads).toEqual(['a', '?a']);
});

test.each([true, false])('a value that was loading during a forget is not kept; separate misses: %s', async (apart) => {
  const misses = { isMiss: (value: number) => value < 0, size: 10, ttlMs: 500 };
  const cache = new ShortCache<number>(5000, 10, apart ? misses : undefined);
  const first = Promise.withResolvers<number>();
  const early = cache.get('key', () => first.promise);
  cache.forget(() => false);
  const late = cache.get('key', async () => 2);
  first.resolve(1);
  expect(await Promise.all([early, late])).toEqual([1, 2]);
  expect(await cache.get('key', async () => 3)).toBe(2);
});

test('a hit is kept when it was evicted while it was loading', async () => {
  const { loads, get } = cacheOf();
  await Promise.all(['a', '?1', '?2', '?3'].map(get));
  await get('a');
  expect(loads).toEqual(['a', '?1', '?2', '?3']);
});
