import { beforeAll, describe, expect, test } from 'vitest';
import { parseRefreshToken, type RefreshToken, refreshKey, sessionKey } from '../../../shared/accounts/sessions.ts';
import { refresh } from '../../../shared/accounts/sign-in.ts';
import { userSignIns } from '../../../shared/accounts/users/users.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { type Answer, cookieOf, inParallel, tally } from '../../support/clients/client.ts';
import { expire } from '../../support/fixtures/items.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';
import {
  claimsOf,
  newCredentials,
  newUsersProject,
  type SignIn,
  site,
  type UsersProject,
} from '../../support/fixtures/users.ts';

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject();
});

const missing = { status: 401, body: { code: 'REFRESH_TOKEN_MISSING', message: 'Refresh token missing' } };
const invalid = { status: 401, body: { code: 'REFRESH_TOKEN_INVALID' } };
const client = { ip: '192.0.2.1', userAgent: 'test' };

const refreshWith = (headers: Record<string, string>, of = project) =>
  of.auth<SignIn>('POST', 'refresh-token', { headers });

const newCookie = async (of = project): Promise<string> => cookieOf(await of.signUp(newCredentials()));

describe('refresh by cookie', () => {
  test('200 with new tokens and a new cookie; the old one is used', async () => {
    const signedUp = await project.signUp(newCredentials());
    const cookie = cookieOf(signedUp);
    const answer = await refreshWith({ cookie });
    expect(answer).toMatchObject({ status: 200, headers: expect.anything() });
    const { accessToken, token, ...rest } = answer.body;
    expect(rest).toEqual({
      success: true,
      message: 'Session refreshed',
      expiresIn: '15m',
      userId: signedUp.body.userId,
    });
    expect(token).toBe(accessToken);
    expect(claimsOf(token).sid).toBe(claimsOf(signedUp.body.token).sid);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(cookieOf(answer)).not.toBe(cookie);
    expect(await project.auth('GET', 'me', { token })).toMatchObject({ status: 200 });
    expect(await refreshWith({ cookie })).toMatchObject(invalid);
    expect(await refreshWith({ cookie: cookieOf(answer) })).toMatchObject({ status: 200 });
  });

  test('200 for exactly one of 50 concurrent refreshes', async () => {
    const cookie = await newCookie();
    const answers = await inParallel(50, () => refreshWith({ cookie }));
    expect(tally(answers)).toEqual({ 200: 1, 401: 49 });
    const winner = answers.find(({ status }) => status === 200) as Answer<SignIn>;
    expect(await refreshWith({ cookie: cookieOf(winner) })).toMatchObject({ status: 200 });
  });

  test('fails and leaves the token valid when no access token can be signed', async () => {
    const { refreshToken } = await project.newUser();
    const domain = await domainProject(project);
    await expect(refresh(userSignIns({ ...domain, signingKeys: [] }), refreshToken, client)).rejects.toThrow(
      'no signing key',
    );
    expect(await project.refresh(refreshToken)).toMatchObject({ status: 200 });
  });

  test('200 with any bearer token', async () => {
    const headers = { cookie: await newCookie(), authorization: 'Bearer garbage' };
    expect(await refreshWith(headers)).toMatchObject({ status: 200 });
  });

  test.each([
    ['no cookie', {}],
    ['an empty cookie', { cookie: 'refresh_ID=' }],
    ['another project’s name', { cookie: `refresh_${'0'.repeat(24)}=${'A'.repeat(75)}` }],
    ['a name that only ends so', { cookie: `x-refresh_ID=${'A'.repeat(75)}` }],
    ['an empty header', { 'x-refresh-token': '' }],
  ])('401 REFRESH_TOKEN_MISSING with %s', async (_name, headers) => {
    const named = Object.fromEntries(Object.entries(headers).map(([k, v]) => [k, v.replace('ID', project.id)]));
    expect(await refreshWith(named)).toMatchObject(missing);
  });

  test.each(['x', 'A'.repeat(75), '%00', '{"$ne":null}', 'x'.repeat(5000)])('401 for the token %s', async (token) => {
    expect(await refreshWith({ cookie: `refresh_${project.id}=${token}` })).toMatchObject(invalid);
    expect(await project.refresh(token)).toMatchObject(invalid);
  });

  test('401 for a token of another project', async () => {
    const other = await newUsersProject({ owner: project.developer });
    const { refreshToken } = await other.newUser();
    expect(await project.refresh(refreshToken)).toMatchObject(invalid);
    expect(await other.refresh(refreshToken)).toMatchObject({ status: 200 });
  });

  test('401 for an expired token, and for one of an expired session, even if the table still has them', async () => {
    const scope = projectScope(project.id);
    for (const keyOf of [
      ({ hash }: RefreshToken) => refreshKey(scope, hash),
      ({ userId, sessionId }: RefreshToken) => sessionKey(scope, userId, sessionId),
    ]) {
      const { refreshToken } = await project.newUser();
      const token = parseRefreshToken(refreshToken);
      if (!token) throw new Error('The refresh token is malformed');
      await expire(keyOf(token));
      expect(await project.refresh(refreshToken)).toMatchObject(invalid);
    }
  });

  test('401 for a forged token with the ids of a session, which stays open', async () => {
    const { refreshToken } = await project.newUser();
    expect(await project.refresh(`${refreshToken.slice(0, -20)}${'A'.repeat(20)}`)).toMatchObject(invalid);
    expect(await project.refresh(refreshToken)).toMatchObject({ status: 200 });
  });
});

describe('refresh by header', () => {
  test('200 with the next token in body and cookie, with or without the mode', async () => {
    const { refreshToken } = await project.newUser();
    const second = await refreshWith({ 'x-refresh-token': refreshToken });
    expect(second).toMatchObject({ status: 200, body: { refreshToken: expect.stringMatching(/^[\w-]{79}$/) } });
    expect(cookieOf(second)).toBe(`refresh_${project.id}=${second.body.refreshToken}`);
    expect(await project.refresh(second.body.refreshToken)).toMatchObject({
      status: 200,
      body: { refreshToken: expect.any(String) },
    });
  });

  test('200 with the token in the body for a cookie when the mode is set', async () => {
    const answer = await refreshWith({ cookie: await newCookie(), 'x-refresh-token-mode': 'header' });
    expect(answer).toMatchObject({ status: 200, body: { refreshToken: expect.any(String) } });
  });

  test('401 for an invalid header despite a valid cookie, because the header wins', async () => {
    const cookie = await newCookie();
    expect(await refreshWith({ cookie, 'x-refresh-token': 'x' })).toMatchObject(invalid);
    expect(await refreshWith({ cookie })).toMatchObject({ status: 200 });
  });

  test('200 from any origin, because browsers never add this header themselves', async () => {
    const { refreshToken } = await project.newUser();
    const headers = { 'x-refresh-token': refreshToken, origin: 'https://elsewhere.example' };
    expect(await refreshWith(headers)).toMatchObject({ status: 200 });
  });
});

describe('a refresh with an Idempotency-Key whose response was lost', () => {
  const key = { 'idempotency-key': 'one-renewal' };

  test('200 with the same cookie for the token that the browser still has', async () => {
    const cookie = await newCookie();
    const [lost, answer] = [await refreshWith({ cookie, ...key }), await refreshWith({ cookie, ...key })];
    expect(answer).toMatchObject({ status: 200, body: { accessToken: expect.any(String) } });
    expect(answer.body.accessToken).not.toBe(lost.body.accessToken);
    expect(cookieOf(answer)).toBe(cookieOf(lost));
    expect(answer.headers.has('idempotent-replayed')).toBe(false);
    expect(await refreshWith({ cookie: cookieOf(answer), ...key })).toMatchObject({ status: 200 });
  });

  test('200 with the same token in the body for 50 concurrent requests; it is valid once', async () => {
    const { refreshToken } = await project.newUser();
    const answers = await inParallel(50, () => refreshWith({ 'x-refresh-token': refreshToken, ...key }));
    expect(tally(answers)).toEqual({ 200: 50 });
    const [next = '', ...others] = new Set(answers.map(({ body }) => body.refreshToken));
    expect(others).toEqual([]);
    expect(tally(await inParallel(10, () => refreshWith({ 'x-refresh-token': next })))).toEqual({ 200: 1, 401: 9 });
  });

  test('401 without the key or with another one, so that a stolen token is useless', async () => {
    const { refreshToken } = await project.newUser();
    const sent = { 'x-refresh-token': refreshToken };
    expect(await refreshWith({ ...sent, ...key })).toMatchObject({ status: 200 });
    expect(await refreshWith(sent)).toMatchObject(invalid);
    expect(await refreshWith({ ...sent, 'idempotency-key': 'another' })).toMatchObject(invalid);
  });

  test.each(['', 'two words', 'ü', 'x'.repeat(256)])('400 for the key %j; the token stays valid', async (bad) => {
    const { refreshToken } = await project.newUser();
    const headers = { 'x-refresh-token': refreshToken, 'idempotency-key': bad };
    expect(await refreshWith(headers)).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED', errors: [{ field: 'Idempotency-Key' }] },
    });
    expect(await project.refresh(refreshToken)).toMatchObject({ status: 200 });
  });
});

describe('the cookie', () => {
  const own = ['https://exact.example', 'bare.example', '*.wild.example', '*'];
  let listed: UsersProject;

  beforeAll(async () => {
    listed = await newUsersProject({ settings: { allowedDomains: own, siteUrl: `${site}/some/path` } });
  });

  test.each<[string, Record<string, string>]>([
    ['no origin', {}],
    ['no origin, from a page of the same site', { 'sec-fetch-site': 'same-site' }],
    ['no origin, typed into the browser', { 'sec-fetch-site': 'none' }],
    ['the site URL', { origin: site, 'sec-fetch-site': 'cross-site' }],
    ['an exact origin of the project', { origin: 'https://exact.example', 'sec-fetch-site': 'cross-site' }],
    ['a host of the project', { origin: 'https://bare.example' }],
  ])('200 with %s', async (_name, headers) => {
    expect(await refreshWith({ ...headers, cookie: await newCookie(listed) }, listed)).toMatchObject({ status: 200 });
  });

  test.each<[string, Record<string, string>]>([
    ['another origin', { origin: 'https://elsewhere.example' }],
    ['another scheme', { origin: 'http://exact.example' }],
    ['another port', { origin: 'https://exact.example:8443' }],
    ['a sub-domain of a pattern', { origin: 'https://app.wild.example' }],
    ['a sub-domain of the site', { origin: 'https://evil.app.example.com' }],
    ['the site as part of a name', { origin: 'https://app.example.com.evil.example' }],
    ['the origin null', { origin: 'null' }],
    ['an empty origin', { origin: '' }],
    ['no origin, from another site', { 'sec-fetch-site': 'cross-site' }],
  ])('401 REFRESH_TOKEN_MISSING with %s; the session stays open', async (_name, headers) => {
    const cookie = await newCookie(listed);
    const answer = await refreshWith({ ...headers, cookie }, listed);
    expect(answer).toMatchObject({ ...missing, cookies: [] });
    expect(await refreshWith({ cookie }, listed)).toMatchObject({ status: 200 });
  });

  test('401 REFRESH_TOKEN_MISSING with any origin when the project names none', async () => {
    const open = await newUsersProject({ settings: { siteUrl: null } });
    const cookie = await newCookie(open);
    expect(await refreshWith({ cookie, origin: site }, open)).toMatchObject(missing);
    expect(await refreshWith({ cookie }, open)).toMatchObject({ status: 200 });
  });

  test('403 ORIGIN_NOT_ALLOWED before anything else when the whitelist is on', async () => {
    const closed = await newUsersProject({ settings: { allowedDomains: [site] } });
    const answer = await refreshWith({ origin: 'https://elsewhere.example' }, closed);
    expect(answer).toMatchObject({ status: 403, body: { code: 'ORIGIN_NOT_ALLOWED' } });
  });
});

describe('sign-out', () => {
  const logOut = (headers: Record<string, string>) => project.auth('POST', 'logout', { headers });
  const cleared = () => [`refresh_${project.id}=; HttpOnly; Path=/api/userAuth; Max-Age=0; SameSite=Lax`];

  test('200 without data; the cookie is removed and its session cannot refresh; other sessions can', async () => {
    const credentials = newCredentials();
    const here = cookieOf(await project.signUp(credentials));
    const there = cookieOf(await project.logIn(credentials));
    const answer = await logOut({ cookie: here });
    expect(answer).toMatchObject({ status: 200, cookies: cleared() });
    expect(answer.body).toEqual({ success: true, message: 'Logged out' });
    expect(await refreshWith({ cookie: here })).toMatchObject(invalid);
    expect(await refreshWith({ cookie: there })).toMatchObject({ status: 200 });
  });

  test('200 with the token in the header', async () => {
    const { refreshToken } = await project.newUser();
    expect(await logOut({ 'x-refresh-token': refreshToken })).toMatchObject({ status: 200, cookies: cleared() });
    expect(await project.refresh(refreshToken)).toMatchObject(invalid);
  });

  test('200 with an older token of the session, which ends', async () => {
    const { refreshToken } = await project.newUser();
    const { body } = await project.refresh(refreshToken);
    expect(await logOut({ 'x-refresh-token': refreshToken })).toMatchObject({ status: 200 });
    expect(await project.refresh(body.refreshToken)).toMatchObject(invalid);
  });

  test.each<[string, Record<string, string>]>([
    ['nothing', {}],
    ['a garbled token', { 'x-refresh-token': 'x' }],
    ['an unknown token', { 'x-refresh-token': 'A'.repeat(75) }],
    ['an expired bearer', { authorization: 'Bearer garbage' }],
  ])('200 with %s', async (_name, headers) => {
    expect(await logOut(headers)).toMatchObject({ status: 200, body: { success: true }, cookies: cleared() });
  });

  test('200 and nothing happens when a page of another site sends the cookie', async () => {
    const cookie = await newCookie();
    const answer = await logOut({ cookie, origin: 'https://elsewhere.example' });
    expect(answer).toMatchObject({ status: 200, cookies: [] });
    expect(await refreshWith({ cookie })).toMatchObject({ status: 200 });
  });

  test('200 for one project keeps the cookie of another', async () => {
    const other = await newUsersProject({ owner: project.developer });
    const cookie = await newCookie(other);
    expect(await logOut({ cookie })).toMatchObject({ status: 200 });
    expect(await refreshWith({ cookie }, other)).toMatchObject({ status: 200 });
  });
});
