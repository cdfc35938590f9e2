import { afterEach, describe, expect, it } from 'vitest';
import { parseDatabaseUri, resolveSeeds, UnsupportedUri } from '../../../shared/customer-database/uri.ts';
import type { Resolver } from '../../../shared/outbound/restricted-addresses.ts';
import { RestrictedHost } from '../../../shared/outbound/restricted-addresses.ts';

const scripted = Symbol.for('basalt.resolver');
afterEach(() => Reflect.deleteProperty(globalThis, scripted));

const absent = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));

/** The DNS of `c.example.com`: its targets as `name:port`, and its texts. */
const dns = (targets: readonly string[], texts: readonly string[][] = []): void => {
  const resolver: Partial<Resolver> = {
    services: async (name) => {
      expect(name).toBe('_mongodb._tcp.c.example.com');
      return targets.map((target) => ({ name: target.split(':')[0] ?? '', port: Number(target.split(':')[1]) }));
    },
    texts: texts.length === 0 ? absent('ENODATA') : async () => texts,
  };
  Reflect.set(globalThis, scripted, resolver);
};

const resolve = (options = '') => resolveSeeds(parseDatabaseUri(`mongodb+srv://c.example.com/x?${options}`));

describe('mongodb+srv', () => {
  it('returns the servers of the record, with TLS', async () => {
    dns(['a.example.com:1', 'B.Example.com:2']);
    expect(await resolve()).toEqual({
      seeds: [
        { host: 'a.example.com', port: 1 },
        { host: 'b.example.com', port: 2 },
      ],
      options: { tls: true },
    });
  });

  it('uses options of the TXT record when the URI has none', async () => {
    dns(['a.example.com:1'], [['authSource=other&', 'replicaSet=rs0']]);
    expect((await resolve()).options).toEqual({ tls: true, authSource: 'other', replicaSet: 'rs0' });
    expect((await resolve('replicaSet=mine&tls=false')).options).toEqual({
      tls: false,
      authSource: 'other',
      replicaSet: 'mine',
    });
  });

  it.each(['10.0.0.1:1', 'localhost:1', 'x.internal:1', '127.1:1', '169.254.169.254:80', 'a.example.com%2f:1'])(
    'rejects a record that leads to %s',
    async (target) => {
      dns(['a.example.com:1', target]);
      await expect(resolve()).rejects.toBeInstanceOf(RestrictedHost);
    },
  );

  it.each(['a.other.com:1', 'example.com:1', 'evilexample.com:1', 'a.example.com.evil.com:1'])(
    'rejects a record that leads out of the domain, to %s',
    async (target) => {
      dns([target]);
      await expect(resolve()).rejects.toBeInstanceOf(UnsupportedUri);
    },
  );

  it.each([
    [[['replicaSet=a'], ['authSource=b']]],
    [[['loadBalanced=true']]],
    [[['tls=false']]],
    [[['proxyHost=10.0.0.1']]],
    [[['readPreference=secondary']]],
  ])('rejects the texts %j', async (texts) => {
    dns(['a.example.com:1'], texts);
    await expect(resolve()).rejects.toBeInstanceOf(UnsupportedUri);
  });

  it('fails when there is no record', async () => {
    Reflect.set(globalThis, scripted, { services: absent('ENOTFOUND'), texts: absent('ENOTFOUND') });
    await expect(resolve()).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it('fails when the TXT records cannot be queried', async () => {
    dns(['a.example.com:1']);
    Reflect.set(Reflect.get(globalThis, scripted), 'texts', absent('ESERVFAIL'));
    await expect(resolve()).rejects.toMatchObject({ code: 'ESERVFAIL' });
  });
});

it('mongodb:// makes no DNS query', async () => {
  Reflect.set(globalThis, scripted, {});
  const { seeds, options } = await resolveSeeds(parseDatabaseUri('mongodb://a.example.com:1,b.example.com/x?w=2'));
  expect(seeds).toEqual([
    { host: 'a.example.com', port: 1 },
    { host: 'b.example.com', port: 27_017 },
  ]);
  expect(options).toEqual({ w: 2 });
});
