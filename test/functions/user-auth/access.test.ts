import { createLocalJWKSet, jwtVerify, SignJWT } from 'jose';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { issueAccessToken } from '../../../shared/accounts/tokens.ts';
import { call } from '../../support/clients/client.ts';
import { publicCases } from '../../support/data/route-cases.ts';
import { newDeveloper } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';
import { claimsOf, newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject({
    settings: { signIn: { emailCode: true, anonymous: true, passkey: true, secondFactor: 'optional' } },
  });
});

const accounts = publicCases.filter(({ route }) => route.path.startsWith('/api/userAuth/'));
const keyed = accounts.filter(({ route }) => route.access === 'publishableKey' || route.access === 'user');
const signedIn = accounts.filter(({ route }) => route.access === 'user');
const parameters = { username: 'ann', id: 'f'.repeat(24), projectId: 'f'.repeat(24), provider: 'github' };
const open = new Set(['sign-out', 'start-sign-in']);

const send = ({ method, pathWith }: (typeof accounts)[number], options: Parameters<typeof call>[3] = {}) =>
  call(inject('stack').baseUrl, method, pathWith(parameters), {
    ...(method === 'GET' ? {} : { body: {} }),
    ...options,
  });

describe('every route of user accounts', () => {
  test.each(keyed)('403 with the secret key: $method $route.path', async (row) => {
    const answer = await send(row, { key: project.secretKey });
    expect(answer).toMatchObject({ status: 403, body: { code: 'PUBLISHABLE_KEY_REQUIRED' } });
  });

  test.each(signedIn)('401 without a token, before the body is checked: $method $route.path', async (row) => {
    const answer = await send(row, { key: project.publishableKey, ...(row.method === 'GET' ? {} : { body: '{' }) });
    expect(answer).toMatchObject({ status: 401, body: { code: 'TOKEN_MISSING' } });
  });

  test.each(keyed.filter(({ id }) => !open.has(id)))(
    '403 while authentication is off, before token and body are checked: $method $route.path',
    async (row) => {
      const off = await newUsersProject({ owner: await newDeveloper(), settings: { authEnabled: false } });
      const answer = await send(row, { key: off.publishableKey, ...(row.method === 'GET' ? {} : { body: '{' }) });
      expect(answer).toMatchObject({ status: 403, body: { code: 'AUTH_DISABLED' } });
    },
  );
});

describe('an access token', () => {
  const me = (token: string) => project.auth('GET', 'me', { token });

  test('has the documented claims', async () => {
    const { token, userId } = await project.newUser();
    const [header = ''] = token.split('.');
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({
      alg: 'EdDSA',
      typ: 'at+jwt',
      kid: expect.any(String),
    });
    const claims = claimsOf(token);
    expect(claims).toEqual({
      sub: userId,
      userId,
      projectId: project.id,
      aud: project.id,
      iss: inject('stack').env.PUBLIC_URL,
      amr: ['pwd'],
      sid: expect.stringMatching(/^[0-9a-f]{24}$/),
      jti: expect.any(String),
      iat: expect.any(Number),
      exp: Number(claims.iat) + 900,
    });
  });

  test('401 TOKEN_INVALID for a foreign, expired or other project’s token', async () => {
    const { token, userId } = await project.newUser();
    const [header = '', payload = '', signature = ''] = token.split('.');
    const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = claimsOf(token);
    const jwks = await project.auth<{ keys: { x: string }[] }>('GET', `jwks/${project.id}`);
    const publicKey = Buffer.from(jwks.body.keys[0]?.x ?? '', 'base64url');
    const domain = await domainProject(project);
    const other = await newUsersProject({ owner: project.developer });
    const foreign = await issueAccessToken(await domainProject(other), { userId, sessionId: String(claims.sid) });
    const kid = domain.signingKeys[0]?.kid ?? '';
    const bad = [
      `${encode({ alg: 'none', typ: 'at+jwt' })}.${payload}.`,
      `${encode({ alg: 'none', typ: 'at+jwt' })}.${payload}.${signature}`,
      await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid }).sign(publicKey),
      `${header}.${encode({ ...claims, sub: 'f'.repeat(24) })}.${signature}`,
      `${encode({ alg: 'EdDSA', typ: 'JWT', kid })}.${payload}.${signature}`,
      `${header}.${payload}.${signature.slice(0, -4)}AAAA`,
      foreign.accessToken,
      `${token}.${'x'.repeat(5000)}`,
      project.developer.token,
    ];
    for (const one of bad) {
      expect(await me(one)).toMatchObject({ status: 401, body: { code: 'TOKEN_INVALID' } });
    }
    expect(await me(token)).toMatchObject({ status: 200 });
  });
});

describe('the public keys of a project', () => {
  const jwks = (id: string) =>
    call<{ keys: Record<string, unknown>[] }>(inject('stack').baseUrl, 'GET', `/api/userAuth/jwks/${id}`);

  test('200 for anyone, without private parts, and they verify the project’s tokens', async () => {
    const answer = await jwks(project.id);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      keys: [{ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid: expect.any(String), x: expect.any(String) }],
    });
    const { token, userId } = await project.newUser();
    const set = createLocalJWKSet(answer.body as unknown as Parameters<typeof createLocalJWKSet>[0]);
    const { payload } = await jwtVerify(token, set, { audience: project.id });
    expect(payload.sub).toBe(userId);
  });

  test.each(['f'.repeat(24), 'x', '$ne', 'F'.repeat(24), '%00', '{"$ne":null}'])('404 for %s', async (id) => {
    const answer = await jwks(encodeURIComponent(id));
    expect(answer).toMatchObject({ status: 404, body: { code: 'PROJECT_NOT_FOUND' } });
  });

  test('404 for a deleted project', async () => {
    const gone = await newUsersProject({ owner: project.developer });
    await gone.developer.dashboard('DELETE', `/api/projects/${gone.id}`);
    expect(await jwks(gone.id)).toMatchObject({ status: 404 });
  });
});
