import { expect, test } from 'vitest';
import { ShortCache } from '../../shared/short-cache.ts';

/** What is loaded for a key: itself, or nothing where it begins with a question mark. */
const cacheOf = () => {
  const loads: string[] = [];
  const isMiss = (value: string | undefined) => value === undefined;
  const cache = new ShortCache<string | undefined>(5000, 3, { isMiss, size: 2 });
  const get = (key: string) =>
    cache.get(key, async () => {
      loads.push(key);
      return key.startsWith('?') ? undefined : key;
    });
  return { loads, get };
};

test('misses push out none but each other', async () => {
  const { loads, get } = cacheOf();
  for (const key of ['a', 'b', 'c', '?1', '?2', '?3']) await get(key);
  loads.length = 0;
  for (const key of ['a', 'b', 'c', '?3', '?2']) await get(key);
  expect(loads).toEqual([]);
  await get('?1');
  expect(loads).toEqual(['?1']);
});

test('all who ask at once share a load, of a miss too', async () => {
  const { loads, get } = cacheOf();
  expect(await Promise.all(['a', 'a', '?1', '?1'].map(get))).toEqual(['a', 'a', undefined, undefined]);
  expect(loads).toEqual(['a', '?1']);
});

test('the oldest makes room', async () => {
  const { loads, get } = cacheOf();
  for (const key of ['a', 'b', 'c', 'd', 'a']) await get(key);
  expect(loads).toEqual(['a', 'b', 'c', 'd', 'a']);
});
