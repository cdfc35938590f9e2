import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { askProvider } from '../../../../shared/accounts/social/ask-provider.ts';
import { nonceOf, verifyIdToken } from '../../../../shared/accounts/social/oauth-client.ts';
import { clock } from '../../../../shared/core/clock.ts';

interface Key {
  readonly kid: string;
  readonly publicKey: CryptoKey;
  readonly privateKey: CryptoKey;
}

const newKey = async (kid: string, alg = 'RS256'): Promise<Key> => ({
  kid,
  ...(await generateKeyPair(alg, { extractable: true })),
});

/** Keys at a path, and the number of requests. */
const shown = new Map<string, { keys: readonly Key[]; asked: number }>();
let server: Server;
let origin: string;
let known: Key;
let other: Key;

beforeAll(async () => {
  [known, other] = await Promise.all([newKey('one'), newKey('two')]);
  server = createServer(async (request, response) => {
    const entry = shown.get(request.url ?? '');
    if (!entry) return void response.writeHead(404).end();
    entry.asked += 1;
    const keys = await Promise.all(
      entry.keys.map(async ({ kid, publicKey }) => ({ ...(await exportJWK(publicKey)), kid, alg: 'RS256' })),
    );
    response.end(JSON.stringify({ keys }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

let places = 0;
const issuer = 'https://issuer.example';
const nonce = nonceOf('v'.repeat(43));
const clientId = 'this-client';

/** A provider with these keys. */
const providerWith = (...keys: readonly Key[]) => {
  places += 1;
  const path = `/keys-${places}`;
  const entry = { keys, asked: 0 };
  shown.set(path, entry);
  const urls = { authorization: '', token: '', keys: origin + path, issuer };
  return {
    urls,
    entry,
    verify: (token: string) => verifyIdToken({ urls, ask: askProvider }, token, { clientId, nonce }),
  };
};

const seconds = (): number => Math.floor(clock.now() / 1000);

const tokenWith = (
  change: Readonly<Record<string, unknown>> = {},
  { kid, privateKey }: Pick<Key, 'kid' | 'privateKey'> = known,
  alg = 'RS256',
): Promise<string> =>
  new SignJWT({ iss: issuer, aud: clientId, sub: 'ada', nonce, iat: seconds(), exp: seconds() + 600, ...change })
    .setProtectedHeader({ alg, kid })
    .sign(privateKey);

const parts = (header: object, payload: object): string =>
  [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');

describe('an ID token', () => {
  test('is accepted from its issuer, for this client and sign-in', async () => {
    const { verify } = providerWith(known);
    expect(await verify(await tokenWith())).toMatchObject({ sub: 'ada' });
    expect(await verify(await tokenWith({ aud: [clientId] }))).toMatchObject({ sub: 'ada' });
    expect(await verify(await tokenWith({ aud: [clientId, 'other'], azp: clientId }))).toMatchObject({ sub: 'ada' });
  });

  test.each<[string, () => Promise<string>]>([
    ['another issuer', () => tokenWith({ iss: 'https://evil.example' })],
    ['an issuer that begins alike', () => tokenWith({ iss: `${issuer}/` })],
    ['no issuer', () => tokenWith({ iss: undefined })],
    ['another audience', () => tokenWith({ aud: 'other' })],
    ['no audience', () => tokenWith({ aud: undefined })],
    ['two audiences and no azp', () => tokenWith({ aud: [clientId, 'other'] })],
    ['the azp of another', () => tokenWith({ aud: [clientId, 'other'], azp: 'other' })],
    ['one audience and the azp of another', () => tokenWith({ azp: 'other' })],
    ['the nonce of another sign-in', () => tokenWith({ nonce: nonceOf('w'.repeat(43)) })],
    ['no nonce', () => tokenWith({ nonce: undefined })],
    ['a nonce that is an object', () => tokenWith({ nonce: { $ne: null } })],
    ['an end over a minute ago', () => tokenWith({ exp: seconds() - 61 })],
    ['no end', () => tokenWith({ exp: undefined })],
    ['a beginning over a minute from now', () => tokenWith({ iat: seconds() + 90 })],
    ['a beginning over eleven minutes ago', () => tokenWith({ iat: seconds() - 661 })],
    ['no beginning', () => tokenWith({ iat: undefined })],
    ['a time before which it does not count', () => tokenWith({ nbf: seconds() + 90 })],
    ['no subject', () => tokenWith({ sub: undefined })],
    ['the key of another, under the name of the issuer’s', () => tokenWith({}, { ...other, kid: 'one' })],
    ['a key that the issuer does not show', () => tokenWith({}, other)],
    ['one byte changed', async () => (await tokenWith()).replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A'))],
    [
      'no signature',
      async () => `${parts({ alg: 'none' }, { iss: issuer, aud: clientId, sub: 'a', nonce, iat: seconds() })}.`,
    ],
    [
      'a shared secret, which would be the public key',
      async () => {
        const secret = Buffer.from(JSON.stringify(await exportJWK(known.publicKey)));
        return new SignJWT({ iss: issuer, aud: clientId, sub: 'a', nonce, iat: seconds(), exp: seconds() + 60 })
          .setProtectedHeader({ alg: 'HS256', kid: 'one' })
          .sign(secret);
      },
    ],
    ['no token', async () => ''],
    ['what is no token', async () => 'a.b.c'],
  ])('is rejected with %s', async (_, make) => {
    await expect(providerWith(known).verify(await make())).rejects.toThrow();
  });

  test('is accepted up to a minute after its expiry, because clocks differ', async () => {
    vi.spyOn(clock, 'now').mockReturnValue(Math.floor(Date.now() / 1000) * 1000);
    const { verify } = providerWith(known);
    expect(await verify(await tokenWith({ exp: seconds() - 59 }))).toMatchObject({ sub: 'ada' });
    await expect(verify(await tokenWith({ exp: seconds() - 60 }))).rejects.toThrow();
  });

  test('is rejected when two keys have its id', async () => {
    const { verify } = providerWith(known, { ...other, kid: 'one' });
    await expect(verify(await tokenWith())).rejects.toThrow(/multiple matching keys/);
  });
});

describe('the keys of an issuer', () => {
  test('are loaded once, and again for an unknown key at most once in 30 s', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const provider = providerWith(known);
    await Promise.all(Array.from({ length: 20 }, async () => provider.verify(await tokenWith())));
    expect(provider.entry.asked).toBe(1);

    provider.entry.keys = [known, other];
    for (let tries = 0; tries < 3; tries += 1) {
      await expect(provider.verify(await tokenWith({}, other))).rejects.toThrow();
    }
    expect(provider.entry.asked).toBe(1);
    vi.setSystemTime(Date.now() + 31_000);
    expect(await provider.verify(await tokenWith({}, other))).toMatchObject({ sub: 'ada' });
    expect(provider.entry.asked).toBe(2);
  });

  test('expire after ten minutes, so that a withdrawn one becomes invalid', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const provider = providerWith(known);
    await provider.verify(await tokenWith());
    provider.entry.keys = [other];
    vi.setSystemTime(Date.now() + 601_000);
    await expect(provider.verify(await tokenWith())).rejects.toThrow();
  });
});
