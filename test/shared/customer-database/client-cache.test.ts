import type { Db, MongoClient } from 'mongodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { ClientCache, type OpenDatabase } from '../../../shared/customer-database/client.ts';

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

const use = async (key: string, act: () => Promise<unknown> = async () => undefined) => {
  const lease = cache.lease(key, open(key));
  try {
    const { db } = await lease.opened;
    await act();
    return db.databaseName;
  } finally {
    lease.giveBack();
  }
};

const never = () => new Promise<never>(() => undefined);

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('ClientCache', () => {
  it('opens one client per key when many callers ask concurrently', async () => {
    const names = await Promise.all([use('a'), use('a'), use('b'), use('a')]);
    expect(names).toEqual(['a', 'a', 'b', 'a']);
    expect(opened).toEqual(['a', 'b']);
  });

  it('closes the least recently used client when there are too many', async () => {
    for (const key of ['a', 'b', 'c', 'a', 'd']) await use(key);
    await settled();
    expect(closed).toEqual(['b']);
    await use('b');
    expect(opened).toEqual(['a', 'b', 'c', 'd', 'b']);
  });

  it('closes a client when it is released, not while it is in use', async () => {
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

  it('opens another client when one was retired', async () => {
    const lease = cache.lease('a', open('a'));
    lease.retire();
    lease.retire();
    await settled();
    expect(closed).toEqual([]);
    lease.giveBack();
    lease.retire();
    await settled();
    expect(closed).toEqual(['a']);
    await use('a');
    expect(opened).toEqual(['a', 'a']);
  });

  it('closes a dropped client immediately and one time, even in use, and opens another for the next caller', async () => {
    void use('a', never);
    const [first, second] = [cache.lease('a', open('a')), cache.lease('a', open('a'))];
    first.drop();
    first.giveBack();
    await settled();
    expect(closed).toEqual(['a']);
    await use('a');
    expect(opened).toEqual(['a', 'a']);
    second.drop();
    second.giveBack();
    await use('a');
    expect(opened).toEqual(['a', 'a']);
    expect(closed).toEqual(['a']);
  });

  it('does not cache a client when it could not be opened', async () => {
    const lease = cache.lease('a', () => Promise.reject(new Error('no')));
    await expect(lease.opened).rejects.toThrow('no');
    lease.drop();
    lease.giveBack();
    expect(await use('a')).toBe('a');
  });

  it('closes all clients when it is closed', async () => {
    await Promise.all([use('a'), use('b')]);
    await cache.close();
    expect(closed.sort()).toEqual(['a', 'b']);
  });
});
