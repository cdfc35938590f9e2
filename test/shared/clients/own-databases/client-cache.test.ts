import type { Db, MongoClient } from 'mongodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { ClientCache, type OpenDatabase } from '../../../../shared/clients/own-databases/client-cache.ts';

let opened: string[];
let closed: string[];
let cache: ClientCache;

beforeEach(() => {
  opened = [];
  closed = [];
  cache = new ClientCache(3);
});

const open = (key: string) => async (): Promise<OpenDatabase> => {
  opened.push(key);
  const client = { close: async () => void closed.push(key) } as unknown as MongoClient;
  return { client, db: { databaseName: key } as Db };
};

const use = (key: string, act: () => Promise<unknown> = async () => undefined) =>
  cache.use(key, open(key), async ({ db }) => {
    await act();
    return db.databaseName;
  });

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('ClientCache', () => {
  it('opens one client a key, however many ask at once', async () => {
    const names = await Promise.all([use('a'), use('a'), use('b'), use('a')]);
    expect(names).toEqual(['a', 'a', 'b', 'a']);
    expect(opened).toEqual(['a', 'b']);
  });

  it('closes the longest unused one where there are too many', async () => {
    for (const key of ['a', 'b', 'c', 'a', 'd']) await use(key);
    await settled();
    expect(closed).toEqual(['b']);
    await use('b');
    expect(opened).toEqual(['a', 'b', 'c', 'd', 'b']);
  });

  it('does not close one that is in use before it is free', async () => {
    const free = Promise.withResolvers<void>();
    const first = use('a', () => free.promise);
    const second = use('a', () => free.promise);
    for (const key of ['b', 'c', 'd']) await use(key);
    await settled();
    expect(closed).toEqual([]);
    free.resolve();
    expect(await Promise.all([first, second])).toEqual(['a', 'a']);
    await settled();
    expect(closed).toEqual(['a']);
  });

  it('closes one that is retired once, and opens another for the next', async () => {
    await use('a');
    cache.retire('a');
    cache.retire('a');
    await settled();
    expect(closed).toEqual(['a']);
    await use('a');
    expect(opened).toEqual(['a', 'a']);
  });

  it('does not remember one that could not be opened', async () => {
    const fail = () =>
      cache.use(
        'a',
        () => Promise.reject(new Error('no')),
        async () => 1,
      );
    await expect(fail()).rejects.toThrow('no');
    expect(await use('a')).toBe('a');
  });

  it('passes on what the use of it throws, and keeps the client', async () => {
    await expect(use('a', () => Promise.reject(new Error('mine')))).rejects.toThrow('mine');
    await use('a');
    expect(opened).toEqual(['a']);
    expect(closed).toEqual([]);
  });

  it('closes all of them in the end', async () => {
    await Promise.all([use('a'), use('b')]);
    await cache.close();
    expect(closed.sort()).toEqual(['a', 'b']);
  });
});
