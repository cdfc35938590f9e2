import { expect, test, vi } from 'vitest';
import { findProjectByKey } from '../../../shared/collections/find-project-by-key.ts';
import { ShortCache } from '../../../shared/core/cache.ts';
import { hashApiKey, newApiKey } from '../../../shared/projects/project.ts';

test('a cache of projects has the hash of an API key, never the key', async () => {
  const key = newApiKey('secret');
  const get = vi.spyOn(ShortCache.prototype, 'get').mockResolvedValue(undefined);
  expect(await findProjectByKey(key, 'notes')).toBeUndefined();
  expect(get.mock.calls.map(([name]) => name)).toEqual([`${hashApiKey(key)}\nnotes`]);
  get.mockRestore();
});
