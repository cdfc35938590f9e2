import { createPublicKey, type KeyObject } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { type LinkKey, linkKeyOf, publicPem } from '../../../shared/files/link-keys.ts';
import { isSigned, signedAddress } from '../../../shared/files/signed-links.ts';

const address = 'https://files.example.com/private/a/b.png';
const now = 1_800_000_000_000;
const expires = 1_800_000_060;

let key: LinkKey;
let keys: ReadonlyMap<string, KeyObject>;

beforeAll(async () => {
  process.env.ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64');
  key = { id: 'one', privateKey: await linkKeyOf('one') };
  const other = createPublicKey(publicPem(await linkKeyOf('two')));
  keys = new Map([
    ['one', createPublicKey(publicPem(key.privateKey))],
    ['two', other],
  ]);
});

const opens = (url: string, at = now): boolean => isSigned(url, keys, at);

test('the key of a period is the same in every process and different from other periods’', async () => {
  expect(publicPem(await linkKeyOf('one'))).toBe(publicPem(key.privateKey));
  expect(publicPem(await linkKeyOf('one '))).not.toBe(publicPem(key.privateKey));
  expect(publicPem(key.privateKey)).toMatch(/^-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE/);
});

describe('a signed address', () => {
  test('opens until it expires, with the signed query', () => {
    for (const signed of [address, `${address}?w=64`]) {
      const url = signedAddress(signed, expires, key);
      expect([opens(url), opens(url, expires * 1000 - 1), opens(url, expires * 1000)]).toEqual([true, true, false]);
    }
  });

  test('has what CloudFront requires, in its spelling', () => {
    const { searchParams } = new URL(signedAddress(address, expires, key));
    expect([...searchParams.keys()]).toEqual(['Expires', 'Signature', 'Key-Pair-Id', 'Hash-Algorithm']);
    expect(searchParams.get('Signature')).toMatch(/^[A-Za-z0-9~_-]+$/);
    expect(searchParams.get('Hash-Algorithm')).toBe('SHA256');
  });

  test('does not open with any changed character', () => {
    const url = signedAddress(`${address}?w=64`, expires, key);
    const start = 'https://files.example.com'.length;
    const changed = Array.from({ length: url.length - start }, (_, at) => {
      const place = at + start;
      return `${url.slice(0, place)}${url[place] === 'x' ? 'y' : 'x'}${url.slice(place + 1)}`;
    });
    expect(changed.filter((one) => opens(one))).toEqual([]);
  });

  test('does not open with another spelling of the same signature or time, or with a part that is repeated', () => {
    const url = signedAddress(address, expires, key);
    const [, signature = ''] = /Signature=([^&]+)/.exec(url) ?? [];
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-~_';
    const spellings = [...alphabet].flatMap((last) => [signature.slice(0, -1) + last, signature + last]);
    const others = [
      ...spellings.filter((other) => other !== signature).map((other) => url.replace(signature, other)),
      url.replace('Expires=', 'Expires=0'),
      url.replace('Expires=', 'Expires=%20'),
      `${url}&Expires=${expires}`,
    ];
    expect(others.filter((other) => opens(other))).toEqual([]);
  });
});
