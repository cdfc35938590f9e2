import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkedEndpoint } from '../../../shared/files/connect-storage.ts';
import { laterRefusalOf } from '../../support/data/refusal.ts';

const scripted = Symbol.for('basalt.resolver');
const permission = Symbol.for('basalt.permitted-addresses');

/** Host → addresses in the DNS. */
const names: Readonly<Record<string, readonly string[]>> = {
  's3.example.com': ['93.184.216.34', '2606:2800:220:1::1'],
  'inside.example.com': ['10.1.2.3'],
  'mixed.example.com': ['93.184.216.34', '127.0.0.1'],
  'metadata.example.com': ['169.254.169.254'],
  'inside6.example.com': ['fd00::1'],
};

beforeEach(() => {
  Reflect.set(globalThis, scripted, {
    addresses: async (host: string) => {
      const found = names[host];
      if (!found) throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' });
      return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    },
  });
});

afterEach(() => {
  Reflect.deleteProperty(globalThis, scripted);
  Reflect.deleteProperty(globalThis, permission);
});

describe('the endpoint of a storage', () => {
  test.each([
    ['https://s3.example.com', 'https://s3.example.com'],
    ['https://s3.example.com/', 'https://s3.example.com'],
    ['https://S3.Example.COM:443/', 'https://s3.example.com'],
    ['https://s3.example.com:9000', 'https://s3.example.com:9000'],
    ['https://s3.example.com/storage/v1/s3/', 'https://s3.example.com/storage/v1/s3'],
    ['https://93.184.216.34', 'https://93.184.216.34'],
  ])('%s is normalized to %s', async (given, kept) => {
    expect(await checkedEndpoint(given)).toBe(kept);
  });

  test.each([
    ['http://s3.example.com', 'must begin with https://'],
    ['http://127.0.0.1:9000', 'must begin with https://'],
    ['ftp://s3.example.com', 'must begin with https://'],
    ['https://key@s3.example.com', 'no user name'],
    ['https://key:secret@s3.example.com', 'no user name'],
    ['https://s3.example.com?', 'query or fragment'],
    ['https://s3.example.com/#a', 'query or fragment'],
    ['https://inside.example.com', 'private or reserved'],
    ['https://mixed.example.com', 'private or reserved'],
    ['https://metadata.example.com', 'private or reserved'],
    ['https://inside6.example.com', 'private or reserved'],
    ['https://127.0.0.1', 'private or reserved'],
    ['https://0x7f.1', 'private or reserved'],
    ['https://%31%32%37.0.0.1', 'private or reserved'],
    ['https://[::ffff:10.0.0.1]', 'private or reserved'],
    ['https://localhost', 'private or reserved'],
    ['https://none.example.com', 'has no address'],
  ])('INVALID_STORAGE for %s: %s', async (given, message) => {
    const refusal = await laterRefusalOf(checkedEndpoint(given));
    expect(refusal.code).toBe('INVALID_STORAGE');
    expect(refusal.message).toContain(message);
    expect(refusal.message).not.toContain('ENOTFOUND');
    expect(refusal.errors).toEqual([{ field: 'endpoint', message: refusal.message }]);
  });

  test('on loopback is accepted when a test allows it, at that port only', async () => {
    Reflect.set(globalThis, permission, new Set(['127.0.0.1:9000']));
    expect(await checkedEndpoint('http://127.0.0.1:9000')).toBe('http://127.0.0.1:9000');
    expect((await laterRefusalOf(checkedEndpoint('http://127.0.0.1:9001'))).code).toBe('INVALID_STORAGE');
    expect((await laterRefusalOf(checkedEndpoint('https://127.0.0.1'))).code).toBe('INVALID_STORAGE');
  });
});
