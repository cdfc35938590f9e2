import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { parseDatabaseUri, redactedHost, UnsupportedUri } from '../../../shared/customer-database/uri.ts';
import { RestrictedHost } from '../../../shared/outbound/restricted-addresses.ts';
import { seed as fuzzSeed } from '../../support/data/fuzz-values.ts';

fc.configureGlobal({ seed: fuzzSeed });

const seed = (host: string, port = 27_017) => ({ host, port });

describe('a URI is accepted', () => {
  const plain = { srv: false, seeds: [seed('db.example.com')], database: 'test', authDatabase: 'admin', options: {} };
  const cases: readonly (readonly [uri: string, expected: object])[] = [
    ['mongodb://db.example.com', plain],
    ['mongodb://DB.Example.com/', plain],
    ['mongodb://db.example.com:27018/shop', { seeds: [seed('db.example.com', 27_018)], database: 'shop' }],
    ['mongodb://db.example.com/shop', { database: 'shop', authDatabase: 'shop' }],
    ['mongodb://db.example.com/my%C3%A9shop', { database: 'myéshop' }],
    ['mongodb://db.example.com/admin?authSource=admin', { database: 'test', authDatabase: 'admin' }],
    [
      'mongodb://a.example.com,b.example.com:1,8.8.8.8/x',
      { seeds: [seed('a.example.com'), seed('b.example.com', 1), seed('8.8.8.8')] },
    ],
    ['mongodb://[2606:4700::1111]:99/x', { seeds: [seed('2606:4700::1111', 99)] }],
    ['mongodb+srv://cluster0.ab1cd.mongodb.net/shop', { srv: true, seeds: [seed('cluster0.ab1cd.mongodb.net')] }],
    ['mongodb://ann:s3cret@db.example.com', { credentials: { username: 'ann', password: 's3cret' } }],
    [
      'mongodb://a%40b:%3A%2F%3F%23%5B%5D%40%25@db.example.com',
      { credentials: { username: 'a@b', password: ':/?#[]@%' } },
    ],
    ['mongodb://ann:@db.example.com', { credentials: { username: 'ann', password: '' } }],
    ['mongodb://db.example.com/?replicaSet=rs0&tls=true', { options: { replicaSet: 'rs0', tls: true } }],
    ['mongodb://db.example.com?SSL=false', { options: { tls: false } }],
    ['mongodb://db.example.com?ssl=true&tls=true', { options: { tls: true } }],
    [
      'mongodb://db.example.com/?AUTHSOURCE=other&authMechanism=SCRAM-SHA-256',
      { options: { authSource: 'other', authMechanism: 'SCRAM-SHA-256' } },
    ],
    [
      'mongodb://db.example.com/?retryWrites=true&w=majority&journal=false',
      { options: { retryWrites: true, w: 'majority', journal: false } },
    ],
    ['mongodb://db.example.com/?w=2&retryReads=false', { options: { w: 2, retryReads: false } }],
    [
      'mongodb://db.example.com/?readPreference=secondaryPreferred&maxStalenessSeconds=120',
      { options: { readPreference: 'secondaryPreferred', maxStalenessSeconds: 120 } },
    ],
    [
      'mongodb://db.example.com/?readConcernLevel=majority&appName=My%20App',
      { options: { readConcernLevel: 'majority', appName: 'My App' } },
    ],
    ['mongodb://db.example.com/?directConnection=true', { options: { directConnection: true } }],
    ['mongodb://db.example.com/?compressors=zlib&connectTimeoutMS=1&serverSelectionTimeoutMS=600000', { options: {} }],
    ['mongodb://db.example.com/?maxPoolSize=1000&minPoolSize=5&MAXIDLETIMEMS=1&maxConnecting=9', { options: {} }],
    [
      'mongodb://db.example.com/?waitQueueTimeoutMS=0&wtimeoutMS=0&socketTimeoutMS=0&heartbeatFrequencyMS=500',
      { options: {} },
    ],
    ['mongodb+srv://a.example.com/?localThresholdMS=1&zlibCompressionLevel=9&srvMaxHosts=2', { options: {} }],
  ];
  test.each(cases)('%s', (uri, expected) => expect(parseDatabaseUri(uri)).toMatchObject(expected));
});

describe('a URI is rejected as unsupported', () => {
  const uris = [
    '',
    'db.example.com',
    'http://db.example.com/x',
    'mongodb:db.example.com',
    'mongodb:/db.example.com',
    'mongodb://',
    'mongodb:///x',
    'mongodb+srv+tcp://db.example.com',
    'MONGODB://db.example.com',
    ' mongodb://db.example.com',
    'mongodb://db.example.com ',
    'mongodb://db.example.com\n',
    'mongodb://db.exa\tmple.com',
    'mongodb://db.example.com\0',
    `mongodb://db.example.com/${'x'.repeat(4000)}`,
    'mongodb://db.example.com:0',
    'mongodb://db.example.com:65536',
    'mongodb://db.example.com:-1',
    'mongodb://db.example.com:0x10',
    'mongodb://db.example.com:',
    'mongodb://db.example.com:1:2',
    'mongodb://a.example.com,,b.example.com',
    'mongodb://a.example.com,',
    `mongodb://${Array.from({ length: 51 }, (_, n) => `h${n}.example.com`).join(',')}`,
    'mongodb://ann:p@ss@db.example.com',
    'mongodb://ann:p/ss@db.example.com',
    'mongodb://ann:p:ss@db.example.com',
    'mongodb://@db.example.com',
    'mongodb://:secret@db.example.com',
    'mongodb://a%zz:b@db.example.com',
    'mongodb://db.example.com/a/b',
    'mongodb://db.example.com/a.b',
    'mongodb://db.example.com/a$b',
    'mongodb://db.example.com/a%00b',
    'mongodb://db.example.com/local',
    'mongodb://db.example.com/config',
    `mongodb://db.example.com/${'d'.repeat(64)}`,
    'mongodb://db.example.com/x#y',
    'mongodb+srv://a.example.com,b.example.com/x',
    'mongodb+srv://a.example.com:27017/x',
    'mongodb+srv://a.example.com/?directConnection=true',
    'mongodb://a.example.com,b.example.com/?directConnection=true',
  ];
  for (const uri of uris) {
    it(JSON.stringify(uri.slice(0, 60)), () => expect(() => parseDatabaseUri(uri)).toThrow(UnsupportedUri));
  }
});

describe('an option is rejected as unsupported', () => {
  const options = [
    'authMechanism=MONGODB-X509',
    'authMechanism=MONGODB-AWS',
    'authMechanism=GSSAPI',
    'authMechanism=PLAIN',
    'authMechanism=MONGODB-OIDC',
    'authSource=$external',
    'authSource=%24external',
    'authMechanismProperties=SERVICE_NAME:x',
    'gssapiServiceName=x',
    'proxyHost=127.0.0.1',
    'proxyPort=1080',
    'proxyUsername=a',
    'tlsCAFile=/etc/passwd',
    'tlsCertificateKeyFile=/etc/passwd',
    'tlsAllowInvalidCertificates=true',
    'tlsAllowInvalidHostnames=true',
    'tlsInsecure=true',
    'tlsDisableOCSPEndpointCheck=true',
    'sslCA=x',
    'loadBalanced=true',
    'srvServiceName=x',
    'timeoutMS=1',
    'readPreferenceTags=a:b',
    'serverMonitoringMode=stream',
    'autoEncryption=x',
    'pkFactory=x',
    'lookup=x',
    'host=/tmp/a.sock',
    '__proto__=x',
    'constructor=x',
    'tls=yes',
    'tls=',
    'tls',
    'tls=true&ssl=false',
    'tls=true&tls=false',
    'replicaSet=a&replicaSet=b',
    'w=0',
    'w=-1',
    'w=myTag',
    'journal=1',
    'readPreference=primary1',
    'readConcernLevel=all',
    'maxStalenessSeconds=x',
    'directConnection=maybe',
    'retryWrites=TRUE',
    'appName=%00',
    `appName=${'a'.repeat(129)}`,
    'appName=%zz',
    'unknown=1',
    '=1',
    '$where=1',
  ];
  for (const option of options) {
    it(option.slice(0, 60), () => {
      expect(() => parseDatabaseUri(`mongodb://db.example.com/?${option}`)).toThrow(UnsupportedUri);
    });
  }
});

describe('a host is rejected as restricted', () => {
  const hosts = [
    ...['localhost', 'LOCALHOST:1', '127.0.0.1', '127.0.0.1:27017', '127.1', '2130706433', '0x7f000001', '0177.0.0.1'],
    ...['0.0.0.0', '0', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1', '169.254.169.254', '100.64.0.1'],
    ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:a9fe:a9fe]', '[fe80::1]', '[fd00::1]', '[64:ff9b::7f00:1]'],
    ...['[::1]:27017', '[fe80::1%25eth0]', '[fe80::1%eth0]', 'metadata.google.internal', 'metadata', 'db.local'],
    ...['localhost.', '127.0.0.1.', '%6cocalhost', '127.0.0.%31', '%2Ftmp%2Fmongodb-27017.sock', '１２７.0.0.1'],
    ...[
      '127。0。0。1',
      'ｌocalhost',
      'a.localhost',
      'ip-10-0-0-1.ec2.internal',
      '224.0.0.1',
      '255.255.255.255',
      '*',
      '..',
    ],
    ...['db.example.com,127.0.0.1', 'db.example.com,localhost:1', '8.8.8.8,[::1]', '8.8.8.8,10.0.0.1,8.8.4.4'],
  ];
  for (const host of hosts) {
    it(host, () => expect(() => parseDatabaseUri(`mongodb://${host}/x`)).toThrow(RestrictedHost));
    it(`${host}, with an account`, () => {
      expect(() => parseDatabaseUri(`mongodb://ann:s3cret@${host}/x?tls=true`)).toThrow(RestrictedHost);
    });
  }
  it('localhost, by SRV', () => expect(() => parseDatabaseUri('mongodb+srv://localhost/x')).toThrow(RestrictedHost));
});

test('random texts cause no other error', () => {
  const outcome = (text: string): boolean => {
    try {
      return parseDatabaseUri(text).seeds.length > 0;
    } catch (error) {
      return error instanceof UnsupportedUri || error instanceof RestrictedHost;
    }
  };
  const texts = fc.string({ unit: 'binary' });
  fc.assert(fc.property(texts, outcome));
  fc.assert(fc.property(texts, (text) => outcome(`mongodb://${text}`)));
  fc.assert(fc.property(texts, (text) => outcome(`mongodb://db.example.com/?${text}`)));
});

describe('redactedHost shows only hosts', () => {
  test.each([
    ['mongodb://ann:s3cret@a.example.com,b.example.com:1/x?replicaSet=r', 'a.example.com:27017,b.example.com:1'],
    ['mongodb+srv://ann:s3cret@c.ab1cd.mongodb.net/x', 'c.ab1cd.mongodb.net'],
    ['mongodb://[2606:4700::1111]/x', '[2606:4700::1111]:27017'],
  ])('%s', (uri, host) => expect(redactedHost(parseDatabaseUri(uri))).toBe(host));
});
