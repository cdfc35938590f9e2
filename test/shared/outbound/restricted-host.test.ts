import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { isRestrictedHost } from '../../../shared/outbound/restricted-addresses.ts';
import { seed } from '../../support/data/fuzz-values.ts';

fc.configureGlobal({ seed });

const permission = Symbol.for('basalt.permitted-addresses');
const permit = (...entries: readonly string[]): boolean => Reflect.set(globalThis, permission, new Set(entries));
afterEach(() => Reflect.deleteProperty(globalThis, permission));

describe('a host is rejected', () => {
  const refused: readonly (readonly [what: string, ...hosts: string[]])[] = [
    ['as loopback', '127.0.0.1', '127.0.0.0', '127.255.255.255', '127.1.2.3', '::1', '[::1]', '0:0:0:0:0:0:0:1'],
    ['as unspecified', '0.0.0.0', '0.1.2.3', '::', '[::]', '0000:0000:0000:0000:0000:0000:0000:0000'],
    ['as private', '10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255'],
    ['as link-local', '169.254.0.1', '169.254.169.254', '169.254.170.2', 'fe80::1', 'febf::1', 'FE80::1', '[fe80::1]'],
    ['as unique-local', 'fc00::1', 'fd00::1', 'fd00:ec2::254', 'fdff:ffff::1'],
    ['as shared by carriers', '100.64.0.1', '100.127.255.255', '100.100.100.200'],
    ['as reserved', '192.0.0.1', '192.0.0.192', '192.0.2.1', '198.18.0.1', '198.19.255.255', '198.51.100.1'],
    [
      'as reserved too',
      '203.0.113.1',
      '192.88.99.1',
      '240.0.0.1',
      '255.255.255.255',
      '2001:db8::1',
      '3fff::1',
      '100::1',
    ],
    ['as multicast', '224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'],
    ['as a service of the cloud', '168.63.129.16', '169.254.169.253', 'fd00:ec2::253', '5f00::1'],
    ['as IPv4 inside IPv6', '::ffff:127.0.0.1', '::ffff:7f00:1', '[::ffff:10.0.0.1]', '::ffff:8.8.8.8', '::127.0.0.1'],
    ['as IPv4 translated to IPv6', '::ffff:0:127.0.0.1', '64:ff9b::10.0.0.1', '64:ff9b:1::1', '2002:7f00:1::'],
    ['as a tunnel', '2001::1', '2001:0:7f00:1::', '2001:10::1', '2001:20::1', 'fec0::1'],
    ['as an address in octal', '0177.0.0.1', '0177.0.0.01', '017700000001', '010.0.0.1', '8.8.8.010', '00.0.0.0'],
    ['as an address in hexadecimal', '0x7f.0.0.1', '0x7f000001', '0X7F.1', '0x7f.0x0.0x0.0x1', '0xa9fea9fe'],
    ['as an integer', '2130706433', '0', '1', '3232235521', '4294967295', '167772161'],
    ['as a short address', '127.1', '127.0.1', '10.1', '192.168.257', '8.8', '8.8.8'],
    ['as an address that is too long', '127.0.0.1.1', '256.256.256.256', '1.2.3.4.5', '999.1.1.1'],
    ['with a trailing dot', 'localhost.', '127.0.0.1.', 'example.com.', 'metadata.google.internal.', '.'],
    ['with a zone', 'fe80::1%eth0', '[fe80::1%25eth0]', '2606:4700::1%1', '::1%lo'],
    ['percent-encoded', '%31%32%37.0.0.1', '127%2e0%2e0%2e1', 'local%68ost', 'exa%6dple.com', '%00'],
    [
      'in other alphabets',
      '１２７.0.0.1',
      '127。0。0。1',
      '①②⑦.0.0.1',
      'ⓛocalhost',
      'ｌocalhost',
      'exämple.com',
      '๑.๒',
    ],
    [
      'with what is no part of a name',
      'a b',
      'a\tb',
      'a\n',
      'a/b',
      'a\\b',
      'a@b',
      'a#b',
      'a?b',
      'a:1',
      'a,b',
      '',
      ' ',
      '*',
    ],
    ['with a label that is none', '-a.com', 'a-.com', 'a..com', '.a.com', `${'a'.repeat(64)}.com`, 'a.com-', 'a.1com'],
    ['with brackets that hold no IPv6', '[127.0.0.1]', '[localhost]', '[example.com]', '[]', '[::1', '::1]', '[[::1]]'],
    ['as an internal name', 'localhost', 'LOCALHOST', 'LocalHost', 'a.localhost', 'localhost.localdomain', 'a.b.local'],
    [
      'as an internal name too',
      'ip-10-0-0-1.ec2.internal',
      'metadata.google.internal',
      'x.INTERNAL',
      'internal',
      'local',
    ],
    ['as a metadata name', 'metadata', 'METADATA', 'instance-data', 'instance-data.ec2.internal', 'metadata.goog'],
    ['as a socket', '/tmp/mongodb-27017.sock', '%2Ftmp%2Fmongodb.sock', 'a/mongodb.sock'],
  ];
  for (const [what, ...hosts] of refused) {
    for (const host of hosts) it(`${what}: ${JSON.stringify(host)}`, () => expect(isRestrictedHost(host)).toBe(true));
  }
});

describe('a host is accepted', () => {
  const taken = [
    'example.com',
    'EXAMPLE.com',
    'cluster0-shard-00-00.ab1cd.mongodb.net',
    'xn--exmple-cua.com',
    '_mongodb._tcp.example.com',
    'db',
    'internal.example.com',
    'localhost.example.com',
    'notlocalhost',
    'a.b-c.d2',
    '8.8.8.8',
    '1.1.1.1',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '11.0.0.1',
    '169.253.1.1',
    '192.167.1.1',
    '198.20.0.1',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '[2606:4700:4700::1111]',
    '2a00:1450:4001:82a::200e',
  ];
  for (const host of taken) it(host, () => expect(isRestrictedHost(host)).toBe(false));
});

describe('every address of a restricted range is rejected', () => {
  const octet = fc.integer({ min: 0, max: 255 });
  const group = fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16));
  const inside: readonly (readonly [string, fc.Arbitrary<string>])[] = [
    ['127/8', fc.tuple(octet, octet, octet).map((rest) => `127.${rest.join('.')}`)],
    ['10/8', fc.tuple(octet, octet, octet).map((rest) => `10.${rest.join('.')}`)],
    ['172.16/12', fc.tuple(fc.integer({ min: 16, max: 31 }), octet, octet).map((rest) => `172.${rest.join('.')}`)],
    ['192.168/16', fc.tuple(octet, octet).map((rest) => `192.168.${rest.join('.')}`)],
    ['169.254/16', fc.tuple(octet, octet).map((rest) => `169.254.${rest.join('.')}`)],
    ['224/3', fc.tuple(fc.integer({ min: 224, max: 255 }), octet, octet, octet).map((all) => all.join('.'))],
    ['fc00::/7', fc.tuple(fc.constantFrom('fc', 'fd'), group).map(([first, rest]) => `${first}12::${rest}`)],
    ['fe80::/10', fc.array(group, { minLength: 7, maxLength: 7 }).map((rest) => ['fe80', ...rest].join(':'))],
    ['IPv4-mapped', fc.tuple(octet, octet, octet, octet).map((all) => `::ffff:${all.join('.')}`)],
    ['IPv4-mapped in hexadecimal', fc.tuple(group, group).map((all) => `::ffff:${all.join(':')}`)],
  ];
  for (const [range, hosts] of inside) {
    it(range, () => fc.assert(fc.property(hosts, (host) => isRestrictedHost(host) && isRestrictedHost(`[${host}]`))));
  }
});

describe('every other spelling of an address is rejected', () => {
  const written: readonly ((octet: number) => string)[] = [
    (octet) => `0${octet.toString(8)}`,
    (octet) => `0x${octet.toString(16)}`,
    (octet) => `0X${octet.toString(16).toUpperCase()}`,
    (octet) => String(octet).padStart(4, '0'),
    (octet) => [...String(octet)].map((digit) => String.fromCodePoint(0xff10 + Number(digit))).join(''),
    (octet) => [...String(octet)].map((digit) => `%3${digit}`).join(''),
    (octet) => ` ${octet}`,
  ];
  const octets = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 1, maxLength: 4 });

  it('when any of its numbers is octal, hexadecimal or missing', () => {
    fc.assert(
      fc.property(octets, fc.nat(), fc.constantFrom(...written), (numbers, at, write) => {
        const host = numbers.map((octet, index) => (index === at % numbers.length ? write(octet) : octet)).join('.');
        return isRestrictedHost(host);
      }),
    );
  });

  it('as one number', () => {
    fc.assert(fc.property(fc.nat({ max: 0xffffffff }), (value) => isRestrictedHost(String(value))));
  });

  it('without an exception', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (host) => typeof isRestrictedHost(host) === 'boolean'));
  });
});

describe('a permission', () => {
  it('allows exactly its address and port', () => {
    permit('127.0.0.1:4711');
    expect(isRestrictedHost('127.0.0.1', 4711)).toBe(false);
    expect(isRestrictedHost('127.0.0.1', 4712)).toBe(true);
    expect(isRestrictedHost('127.0.0.2', 4711)).toBe(true);
    expect(isRestrictedHost('127.1', 4711)).toBe(true);
    expect(isRestrictedHost('localhost', 4711)).toBe(true);
  });
});
