import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDatabaseUri, UnsupportedUri } from '../../../shared/customer-database/uri.ts';
import { isRestrictedHost, RestrictedHost } from '../../../shared/outbound/restricted-addresses.ts';
import { runs, seed, text } from '../../support/data/fuzz-values.ts';

const settings = { seed, numRuns: 20 * runs };

const byte = fc.nat(255);
const privateAddress = fc.oneof(
  fc.tuple(fc.constantFrom(0, 10, 127), byte, byte, byte),
  fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), byte, byte),
  fc.tuple(fc.constant(192), fc.constant(168), byte, byte),
  fc.tuple(fc.constant(169), fc.constant(254), byte, byte),
  fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), byte, byte),
  fc.tuple(fc.integer({ min: 224, max: 255 }), byte, byte, byte),
);

type Address = readonly [number, number, number, number];
const wholeOf = ([a, b, c, d]: Address): number => a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d;
const hexPair = (high: number, low: number): string => (high * 256 + low).toString(16);

const spellings: readonly ((address: Address) => string)[] = [
  (address) => address.join('.'),
  (address) => `${address.join('.')}.`,
  (address) => String(wholeOf(address)),
  (address) => `0x${wholeOf(address).toString(16)}`,
  (address) => `0${wholeOf(address).toString(8)}`,
  (address) => address.map((part) => `0x${part.toString(16)}`).join('.'),
  (address) => address.map((part) => `0${part.toString(8)}`).join('.'),
  ([a, b, c, d]) => `${a}.${b}.${c * 256 + d}`,
  ([a, ...rest]) => `${a}.${wholeOf([0, ...rest])}`,
  (address) => `::ffff:${address.join('.')}`,
  ([a, b, c, d]) => `::ffff:${hexPair(a, b)}:${hexPair(c, d)}`,
  ([a, b, c, d]) => `64:ff9b::${hexPair(a, b)}:${hexPair(c, d)}`,
  ([a, b, c, d]) => `2002:${hexPair(a, b)}:${hexPair(c, d)}::1`,
  (address) => `[::ffff:${address.join('.')}]`,
  (address) => address.map((part) => `%${part.toString(16).padStart(2, '0')}`).join(''),
  (address) => `${address.join('。')}`,
];

const spelled = fc.tuple(privateAddress, fc.constantFrom(...spellings)).map(([address, spell]) => spell(address));

describe('hosts that customers name', () => {
  test('every private address is rejected in any spelling', () => {
    fc.assert(
      fc.property(spelled, (host) => {
        expect(isRestrictedHost(host), host).toBe(true);
      }),
      settings,
    );
  });

  test('every accepted text is a plain name or a public address', () => {
    fc.assert(
      fc.property(fc.oneof(text, fc.domain(), fc.ipV4(), fc.ipV6(), fc.webUrl()), (host) => {
        if (!isRestrictedHost(host)) expect(host).toMatch(/^[A-Za-z0-9._-]+$|^\[?[0-9a-fA-F:.]+\]?$/);
      }),
      settings,
    );
  });
});

describe('URIs of databases', () => {
  const host = fc.oneof(spelled, fc.domain(), text, fc.constantFrom('localhost', 'a.internal', 'db.example.com'));
  const uri = fc
    .record({
      scheme: fc.constantFrom('mongodb://', 'mongodb+srv://', 'MONGODB://', 'http://', ''),
      account: fc.oneof(fc.constant(''), fc.constantFrom('a:b@', 'a@', '@', 'a:b:c@', '%40:%2f@'), text),
      hosts: fc.array(fc.tuple(host, fc.constantFrom('', ':27017', ':0', ':99999', ':x')), { maxLength: 4 }),
      path: fc.oneof(fc.constantFrom('', '/', '/db', '/admin', '/local', '/a/b', '/%00'), text),
      query: fc.oneof(
        fc.constantFrom('', '?tls=true', '?proxyHost=127.0.0.1', '?authMechanism=MONGODB-AWS', '?tls=true&tls=false'),
        text,
      ),
    })
    .map(
      ({ scheme, account, hosts, path, query }) =>
        scheme + account + hosts.map(([name, port]) => name + port).join(',') + path + query,
    );

  test('are rejected unless all of their hosts are allowed', () => {
    let taken = 0;
    fc.assert(
      fc.property(uri, (of) => {
        try {
          const { seeds, database } = parseDatabaseUri(of);
          taken += 1;
          expect(seeds.length).toBeGreaterThan(0);
          for (const seedOf of seeds) expect(isRestrictedHost(seedOf.host, seedOf.port), of).toBe(false);
          expect(database).toMatch(/^[^\p{Cc}/\\. "$*<>:|?]+$/u);
        } catch (error) {
          if (!(error instanceof UnsupportedUri || error instanceof RestrictedHost)) throw error;
        }
      }),
      settings,
    );
    expect(taken).toBeGreaterThan(0);
  });
});
