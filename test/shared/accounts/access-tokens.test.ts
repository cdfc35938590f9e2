import { createPrivateKey, generateKeyPairSync, type JsonWebKey, type KeyObject, sign } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  getJwks,
  issueAccessToken,
  issueDashboardToken,
  sealedTo,
  verifyAccessToken,
} from '../../../shared/accounts/tokens.ts';
import { clock } from '../../../shared/core/clock.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { open } from '../../../shared/projects/sealed.ts';
import { projectWithKey } from './project.ts';

process.env.ENCRYPTION_KEY = Buffer.alloc(32, 1).toString('base64');

const bearer = { userId: 'a'.repeat(24), sessionId: 'b'.repeat(24) };
const issuer = 'http://127.0.0.1:4000';

let project: Project;
let other: Project;
let token: string;

beforeAll(async () => {
  project = await projectWithKey('1'.repeat(24));
  other = await projectWithKey('2'.repeat(24));
  token = (await issueAccessToken(project, bearer)).accessToken;
});

afterEach(() => {
  vi.restoreAllMocks();
});

const signingKeyOf = ({ signingKeys: [key] }: Project) => {
  if (!key) throw new Error('no key');
  return key;
};

const privateKeyOf = async (of: Project): Promise<KeyObject> => {
  const { kid, encryptedPrivateKey } = signingKeyOf(of);
  const key = JSON.parse(await open(encryptedPrivateKey, sealedTo(of.id, kid))) as JsonWebKey;
  return createPrivateKey({ key, format: 'jwk' });
};

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

interface Forgery {
  readonly header?: Record<string, unknown>;
  readonly claims?: Record<string, unknown>;
  readonly by?: Project;
}

/** A token signed with a project's real key, with changes. */
const forge = async ({ header, claims, by = project }: Forgery): Promise<string> => {
  const iat = Math.floor(clock.now() / 1000);
  const { userId, sessionId: sid } = bearer;
  const signed = [
    { alg: 'EdDSA', typ: 'at+jwt', kid: signingKeyOf(project).kid, ...header },
    { projectId: project.id, userId, sid, sub: userId, iss: issuer, aud: project.id, iat, exp: iat + 900, ...claims },
  ]
    .map(encode)
    .join('.');
  return `${signed}.${sign(null, Buffer.from(signed), await privateKeyOf(by)).toString('base64url')}`;
};

/** The token's claims under another header, signed by an attacker with nothing or the public key. */
const resign = async (header: Record<string, unknown>, secret?: Uint8Array): Promise<string> => {
  const claims = decodeJwt(token);
  if (!secret) return `${encode(header)}.${encode(claims)}.`;
  return new SignJWT(claims).setProtectedHeader({ alg: 'HS256', ...header }).sign(secret);
};

const publicKeyBytes = (): Buffer => Buffer.from(signingKeyOf(project).publicKey.x ?? '', 'base64url');

const strangersToken = async (): Promise<string> => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const header = { alg: 'EdDSA', typ: 'at+jwt', kid: signingKeyOf(project).kid };
  return new SignJWT(decodeJwt(token)).setProtectedHeader(header).sign(privateKey);
};

const withPart = (index: number, change: (part: string) => string): string =>
  token
    .split('.')
    .map((part, at) => (at === index ? change(part) : part))
    .join('.');

const kid = () => signingKeyOf(project).kid;
const now = () => Math.floor(clock.now() / 1000);

const refused: readonly (readonly [string, () => string | Promise<string>])[] = [
  ['an empty string', () => ''],
  ['garbage', () => 'a.b.c'],
  ['a token of two parts', () => token.split('.').slice(0, 2).join('.')],
  ['a token that goes on', () => `${token}.x`],
  ['alg none', () => resign({ alg: 'none', typ: 'at+jwt', kid: kid() })],
  ['alg NONE', () => resign({ alg: 'NONE', typ: 'at+jwt', kid: kid() })],
  ['HS256 with the public key', () => resign({ alg: 'HS256', typ: 'at+jwt', kid: kid() }, publicKeyBytes())],
  [
    'HS256 with the public key as JSON',
    () => resign({ typ: 'at+jwt', kid: kid() }, Buffer.from(JSON.stringify(getJwks(project).keys[0]))),
  ],
  ['the signature of another key pair', strangersToken],
  ['a signature changed by one character', () => withPart(2, (part) => (part[0] === 'A' ? 'B' : 'A') + part.slice(1))],
  ['no signature', () => withPart(2, () => '')],
  ['claims changed after signing', () => withPart(1, () => encode({ ...decodeJwt(token), sub: 'c'.repeat(24) }))],
  ['another project as audience', () => forge({ claims: { aud: other.id } })],
  ['a list of audiences', () => forge({ claims: { aud: [project.id, other.id] } })],
  ['no audience', () => forge({ claims: { aud: undefined } })],
  ['another project in projectId', () => forge({ claims: { projectId: other.id } })],
  ['another issuer', () => forge({ claims: { iss: 'https://elsewhere.example' } })],
  ['no issuer', () => forge({ claims: { iss: undefined } })],
  ['type JWT', () => forge({ header: { typ: 'JWT' } })],
  ['no type', () => forge({ header: { typ: undefined } })],
  ['the type of a dashboard token', () => forge({ header: { typ: 'dashboard+jwt' } })],
  ['an unknown kid', () => forge({ header: { kid: 'unknown' } })],
  ['no kid', () => forge({ header: { kid: undefined } })],
  ['a kid named __proto__', () => forge({ header: { kid: '__proto__' } })],
  ["the other project's kid", () => forge({ header: { kid: signingKeyOf(other).kid } })],
  ["the other project's key under its own kid", () => forge({ header: { kid: signingKeyOf(other).kid }, by: other })],
  ["the other project's key under our kid", () => forge({ by: other })],
  ["the other project's token", async () => (await issueAccessToken(other, bearer)).accessToken],
  ['a dashboard token', async () => (await issueDashboardToken({ userId: 'a', sessionId: 'b' })).accessToken],
  ['an expiry in the past', () => forge({ claims: { exp: now() - 1 } })],
  ['an expiry right now', () => forge({ claims: { exp: now() } })],
  ['no expiry', () => forge({ claims: { exp: undefined } })],
  ['a start in the future', () => forge({ claims: { nbf: now() + 60 } })],
  ['no subject', () => forge({ claims: { sub: undefined } })],
  ['no session', () => forge({ claims: { sid: undefined } })],
  ['a session that is no string', () => forge({ claims: { sid: 1 } })],
  ['a critical header we do not know', () => forge({ header: { crit: ['x'], x: 1 } })],
  ['more than 4 KiB', () => forge({ claims: { more: 'x'.repeat(4096) } })],
  ['a megabyte', () => 'x'.repeat(1024 * 1024)],
];

describe('verifyAccessToken', () => {
  test.each(refused)('TOKEN_INVALID for %s', async (_name, make) => {
    await expect(verifyAccessToken(project, await make())).rejects.toMatchObject({ code: 'TOKEN_INVALID' });
  });

  test('accepts an unchanged token, so that the table above tests what it says', async () => {
    expect(await verifyAccessToken(project, await forge({}))).toEqual(bearer);
  });

  test('returns the sign-in methods, also of a cached token', async () => {
    const whose = { ...bearer, amr: ['pwd', 'totp', 'mfa'] };
    const { accessToken } = await issueAccessToken(project, whose);
    expect(await verifyAccessToken(project, accessToken)).toEqual(whose);
    expect(await verifyAccessToken(project, accessToken)).toEqual(whose);
  });

  test('TOKEN_INVALID for a token that another project has just accepted', async () => {
    expect(await verifyAccessToken(project, token)).toEqual(bearer);
    await expect(verifyAccessToken(other, token)).rejects.toMatchObject({ code: 'TOKEN_INVALID' });
  });

  test('TOKEN_INVALID 15 minutes after issue, also for a cached token', async () => {
    const { accessToken } = await issueAccessToken(project, bearer);
    expect(await verifyAccessToken(project, accessToken)).toEqual(bearer);
    const later = clock.now() + 900_000;
    vi.spyOn(clock, 'now').mockReturnValue(later);
    await expect(verifyAccessToken(project, accessToken)).rejects.toMatchObject({ code: 'TOKEN_INVALID' });
  });

  test('accepts until the last second', async () => {
    const issued = clock.now();
    const stopped = vi.spyOn(clock, 'now').mockReturnValue(issued);
    const { accessToken } = await issueAccessToken(project, bearer);
    stopped.mockReturnValue(issued + 898_000);
    expect(await verifyAccessToken(project, accessToken)).toEqual(bearer);
  });

  test('TOKEN_INVALID after the key was removed, also for a cached token', async () => {
    expect(await verifyAccessToken(project, token)).toEqual(bearer);
    const rotated = { ...project, signingKeys: other.signingKeys };
    await expect(verifyAccessToken(rotated, token)).rejects.toMatchObject({ code: 'TOKEN_INVALID' });
  });

  test('accepts tokens of an older key of the project', async () => {
    const grown = { ...project, signingKeys: [...project.signingKeys, ...other.signingKeys] };
    expect(await verifyAccessToken(grown, token)).toEqual(bearer);
  });
});

describe('issueAccessToken', () => {
  test('returns the documented claims', async () => {
    const first = await issueAccessToken(project, bearer);
    const second = await issueAccessToken(project, bearer);
    expect(first.expiresIn).toBe('15m');
    expect(decodeProtectedHeader(first.accessToken)).toEqual({ alg: 'EdDSA', typ: 'at+jwt', kid: kid() });
    const { iat, exp, jti, ...claims } = decodeJwt(first.accessToken);
    expect(claims).toEqual({
      sub: bearer.userId,
      userId: bearer.userId,
      sid: bearer.sessionId,
      projectId: project.id,
      iss: issuer,
      aud: project.id,
    });
    expect(Number(exp) - Number(iat)).toBe(900);
    const methods = await issueAccessToken(project, { ...bearer, amr: ['pwd', 'totp', 'mfa'] });
    expect(decodeJwt(methods.accessToken).amr).toEqual(['pwd', 'totp', 'mfa']);
    expect(jti).not.toBe(decodeJwt(second.accessToken).jti);
  });
});

describe('getJwks', () => {
  test('returns only public keys', () => {
    const { keys } = getJwks(project);
    expect(keys).toEqual([{ kty: 'OKP', crv: 'Ed25519', x: expect.any(String), kid: kid(), alg: 'EdDSA', use: 'sig' }]);
  });
});
