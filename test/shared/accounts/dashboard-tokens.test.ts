import { hkdfSync } from 'node:crypto';
import { decodeJwt, SignJWT } from 'jose';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  issueAccessToken,
  issueDashboardToken,
  type TokenKind,
  verifyDashboardToken,
  verifyToken,
} from '../../../shared/accounts/tokens.ts';
import { clock } from '../../../shared/core/clock.ts';
import { derivedKey } from '../../../shared/projects/sealed.ts';
import { projectWithKey } from './project.ts';

const master = Buffer.alloc(32, 1);
process.env.ENCRYPTION_KEY = master.toString('base64');

const bearer = { userId: 'a'.repeat(24), sessionId: 'b'.repeat(24) };
let token: string;

beforeAll(async () => {
  token = (await issueDashboardToken(bearer)).accessToken;
});

afterEach(() => {
  vi.restoreAllMocks();
});

interface Forgery {
  readonly header?: Record<string, unknown>;
  readonly claims?: Record<string, unknown>;
  readonly key?: Uint8Array;
}

const forge = async ({ header, claims, key }: Forgery): Promise<string> =>
  new SignJWT({ ...decodeJwt(token), ...claims })
    .setProtectedHeader({ alg: 'HS256', typ: 'dashboard+jwt', ...header })
    .sign(key ?? (await derivedKey('dashboard tokens')));

const now = () => Math.floor(clock.now() / 1000);

const refused: readonly (readonly [string, () => string | Promise<string>])[] = [
  ['garbage', () => 'a.b.c'],
  ['alg none', () => `${Buffer.from('{"alg":"none"}').toString('base64url')}.${token.split('.')[1]}.`],
  ['the master key itself', () => forge({ key: master })],
  ['the key of another purpose', async () => forge({ key: await derivedKey('sealed v1') })],
  ['another algorithm with our key', () => forge({ header: { alg: 'HS512' } })],
  ['another type', () => forge({ header: { typ: 'at+jwt' } })],
  ['another audience', () => forge({ claims: { aud: 'elsewhere' } })],
  ['another issuer', () => forge({ claims: { iss: 'https://elsewhere.example' } })],
  ['an expiry in the past', () => forge({ claims: { exp: now() - 1 } })],
  ['no expiry', () => forge({ claims: { exp: undefined } })],
  ['a start in the future', () => forge({ claims: { nbf: now() + 60 } })],
  ['no subject', () => forge({ claims: { sub: undefined } })],
  ['no session', () => forge({ claims: { sid: undefined } })],
  ['more than 2 KiB', () => forge({ claims: { more: 'x'.repeat(2048) } })],
  [
    "a project's access token",
    async () => {
      const project = await projectWithKey('1'.repeat(24));
      return (await issueAccessToken(project, { userId: 'a'.repeat(24), sessionId: 'b'.repeat(24) })).accessToken;
    },
  ],
];

describe('verifyDashboardToken', () => {
  test.each(refused)('TOKEN_INVALID for %s', async (_name, make) => {
    await expect(verifyDashboardToken(await make())).rejects.toMatchObject({ code: 'TOKEN_INVALID' });
  });

  test('accepts an issued token', async () => {
    expect(await verifyDashboardToken(token)).toEqual(bearer);
    expect(await verifyDashboardToken(await forge({}))).toEqual(bearer);
  });

  test('TOKEN_INVALID 15 minutes after issue, also for a cached token', async () => {
    const { accessToken, expiresIn } = await issueDashboardToken(bearer);
    expect(expiresIn).toBe('15m');
    expect(await verifyDashboardToken(accessToken)).toEqual(bearer);
    const later = clock.now() + 900_000;
    vi.spyOn(clock, 'now').mockReturnValue(later);
    await expect(verifyDashboardToken(accessToken)).rejects.toMatchObject({ code: 'TOKEN_INVALID' });
  });
});

test('each purpose has its own key, which is not the master key', async () => {
  const keys = [await derivedKey('dashboard tokens'), await derivedKey('sealed v1'), master];
  expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(3);
  expect(keys[1]).toEqual(Buffer.from(hkdfSync('sha256', master, '', 'basalt sealed v1', 32)));
});

test('a verified token stays cached with any number of concurrent forged ones', async () => {
  const kind: TokenKind = { alg: 'HS256', typ: 'dashboard+jwt', audience: 'dashboard', advice: '' };
  const keyFor = vi.fn(() => derivedKey('dashboard tokens'));
  await verifyToken(kind, keyFor, token);
  const forged = Array.from({ length: 3000 }, (_, turn) => verifyToken(kind, keyFor, `${token}${turn}`));
  const outcomes = await Promise.allSettled(forged);
  expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
  keyFor.mockClear();
  await verifyToken(kind, keyFor, token);
  expect(keyFor).not.toHaveBeenCalled();
});
