import { afterEach, expect, test, vi } from 'vitest';
import { watch } from '../../client/src/live.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

const changes = 50_000;
const page = 1000;

test('live keeps at most 10,000 revisions of documents that it does not show', async () => {
  const Real = Map;
  let most = 0;
  vi.stubGlobal(
    'Map',
    class<K, V> extends Real<K, V> {
      override set(key: K, value: V): this {
        super.set(key, value);
        most = Math.max(most, this.size);
        return this;
      }
    },
  );
  const end = new AbortController();
  const read = (since: number | undefined) => {
    if (since === undefined) return { changes: [], next: 0, more: true };
    if (since === changes) end.abort();
    const documents = Array.from({ length: since < changes ? page : 0 }, (_, at) => ({
      _id: String(since + at),
      rev: 1,
      deleted: true as const,
    }));
    return { changes: documents, next: since + documents.length, more: true };
  };
  const send = async (method: string, _path: string, parts: { query?: { since?: number } } = {}) =>
    ({ data: method === 'POST' ? { url: null } : read(parts.query?.since) }) as never;
  const fail = vi.fn();
  await watch({
    name: 'posts',
    where: {},
    send,
    page: undefined,
    list: () => (async function* () {})(),
    show: () => undefined,
    fail,
    pause: async () => undefined,
    signal: end.signal,
  });
  expect(fail).not.toHaveBeenCalled();
  expect(most).toBeGreaterThanOrEqual(10_000);
  expect(most).toBeLessThanOrEqual(10_001);
});
