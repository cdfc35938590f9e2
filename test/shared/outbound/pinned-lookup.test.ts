import { connect, createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { listen } from '../../../infra/local/ports.ts';
import {
  checkedAddresses,
  type HostAddress,
  pinnedLookup,
  type Resolver,
  RestrictedHost,
} from '../../../shared/outbound/restricted-addresses.ts';

const permission = Symbol.for('basalt.permitted-addresses');
const scripted = Symbol.for('basalt.resolver');

const of = (address: string): HostAddress => ({ address, family: address.includes(':') ? 6 : 4 });

/** Responds to each DNS query with the next of these addresses, and then repeats the last one. */
const answer = (...answers: readonly (readonly string[])[]): { readonly asked: () => number } => {
  let asked = 0;
  const script: Pick<Resolver, 'addresses'> = {
    addresses: async () => (answers[Math.min(asked++, answers.length - 1)] ?? []).map(of),
  };
  Reflect.set(globalThis, scripted, script);
  return { asked: () => asked };
};

afterEach(() => {
  Reflect.deleteProperty(globalThis, permission);
  Reflect.deleteProperty(globalThis, scripted);
});

const look = (host: string, options: { all?: boolean; family?: number | 'IPv4' | 'IPv6' } = {}) =>
  new Promise((resolve, reject) => {
    pinnedLookup(host, options, (error, address, family) => {
      if (error) reject(error);
      else resolve(family === undefined ? address : [address, family]);
    });
  });

describe('checkedAddresses', () => {
  it('returns every address of a name', async () => {
    answer(['8.8.8.8', '2606:4700::1']);
    expect(await checkedAddresses('db.example.com')).toEqual([of('8.8.8.8'), of('2606:4700::1')]);
  });

  it('returns an address without a DNS query', async () => {
    const { asked } = answer(['10.0.0.1']);
    expect(await checkedAddresses('8.8.8.8')).toEqual([of('8.8.8.8')]);
    expect(await checkedAddresses('[2606:4700::1]')).toEqual([of('2606:4700::1')]);
    expect(asked()).toBe(0);
  });

  const inside = [
    '127.0.0.1',
    '10.1.2.3',
    '169.254.169.254',
    '::1',
    'fd00::1',
    '::ffff:8.8.8.8',
    '0.0.0.0',
    'nonsense',
  ];
  for (const address of inside) {
    it(`rejects a name with the address ${address}`, async () => {
      answer(['8.8.8.8', address]);
      await expect(checkedAddresses('db.example.com')).rejects.toBeInstanceOf(RestrictedHost);
    });
  }

  it('rejects a restricted spelling without a DNS query', async () => {
    const { asked } = answer(['8.8.8.8']);
    for (const host of ['localhost', '127.1', '0x7f000001', 'a.internal', '10.0.0.1']) {
      await expect(checkedAddresses(host)).rejects.toBeInstanceOf(RestrictedHost);
    }
    expect(asked()).toBe(0);
  });

  it('limits a permission to its port', async () => {
    Reflect.set(globalThis, permission, new Set(['127.0.0.1:4711']));
    answer(['127.0.0.1']);
    expect(await checkedAddresses('db.example.com', 4711)).toEqual([of('127.0.0.1')]);
    await expect(checkedAddresses('db.example.com', 4712)).rejects.toBeInstanceOf(RestrictedHost);
  });

  it('fails when a name does not resolve', async () => {
    Reflect.set(globalThis, scripted, {
      addresses: () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })),
    });
    await expect(checkedAddresses('nobody.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });
});

describe('pinnedLookup', () => {
  it('returns the same as dns.lookup', async () => {
    answer(['8.8.8.8', '2606:4700::1']);
    expect(await look('a.example.com')).toEqual(['8.8.8.8', 4]);
    expect(await look('a.example.com', { all: true })).toEqual([of('8.8.8.8'), of('2606:4700::1')]);
    expect(await look('a.example.com', { family: 6 })).toEqual(['2606:4700::1', 6]);
    expect(await look('a.example.com', { family: 'IPv4', all: true })).toEqual([of('8.8.8.8')]);
    expect(await look('a.example.com', { family: 0 })).toEqual(['8.8.8.8', 4]);
  });

  it('fails when no address of the family exists', async () => {
    answer(['8.8.8.8']);
    await expect(look('a.example.com', { family: 6 })).rejects.toMatchObject({ code: 'ENODATA' });
  });

  it('rejects a name that was public when it was checked and is private now', async () => {
    answer(['8.8.8.8'], ['127.0.0.1']);
    await checkedAddresses('db.example.com');
    await expect(look('db.example.com', { all: true })).rejects.toBeInstanceOf(RestrictedHost);
  });

  it('prevents a connection to a name that was rebound', async () => {
    let connections = 0;
    const server = createServer(() => connections++);
    const port = await listen(server, 0);
    const reach = (): Promise<string> =>
      new Promise((resolve) => {
        const socket = connect({ host: 'db.example.com', port, lookup: pinnedLookup });
        socket.on('connect', () => resolve('connected')).on('error', (error) => resolve(error.name));
        socket.on('close', () => socket.destroy());
      });
    answer(['127.0.0.1']);
    expect(await reach()).toBe('RestrictedHost');
    expect(connections).toBe(0);
    Reflect.set(globalThis, permission, new Set([`127.0.0.1:${port}`]));
    expect(await reach()).toBe('connected');
    server.close();
  });
});
