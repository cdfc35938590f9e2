import { beforeAll, describe, expect, inject, test } from 'vitest';
import { call, inParallel } from '../../support/clients/client.ts';
import { type Begun, goOn, newSocialProject, site, storedUsers } from '../../support/clients/social.ts';
import type { TestProject } from '../../support/fixtures/project.ts';

const base = (): string => inject('stack').baseUrl;

let project: TestProject;
beforeAll(async () => {
  project = await newSocialProject({ settings: { signIn: { anonymous: true } } });
});

const begin = (
  options: { readonly token?: string; readonly headers?: Record<string, string> } = {},
  provider = 'gitlab',
) => call<Begun>(base(), 'POST', `/api/userAuth/social/${provider}/start`, { key: project.publishableKey, ...options });

const enter = async () =>
  (
    await call<{ accessToken: string; userId: string }>(base(), 'POST', '/api/userAuth/anonymous', {
      key: project.publishableKey,
    })
  ).body;

describe('POST /social/:provider/start', () => {
  test('200 with the URL and the cookie for a page of the project', async () => {
    for (const headers of [{}, { origin: site }]) {
      const answer = await begin({ headers });
      expect(answer).toMatchObject({
        status: 200,
        body: { data: { url: expect.stringContaining('code_challenge=') } },
      });
      expect(answer.cookies).toEqual([
        expect.stringMatching(/^social_[0-9a-f]{16}=[\w-]{43}; HttpOnly; .*SameSite=Lax$/),
      ]);
    }
    expect(await goOn(await begin(), 'grace@example.com')).toMatchObject({ error: null, isNewUser: 'true' });
  });

  test.each([{ origin: 'https://evil.example' }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' }])(
    'sets no cookie for a page elsewhere (%j), whose code is rejected then',
    async (headers) => {
      const answer = await begin({ headers });
      expect(answer.cookies).toEqual([]);
      const landing = await goOn(answer, 'grace@example.com');
      expect(landing).toMatchObject({ error: expect.stringMatching(/^This sign-in has expired/), token: '' });
    },
  );

  test('links an anonymous user, who keeps id and session', async () => {
    const { accessToken: token, userId } = await enter();
    expect(await goOn(await begin({ token }), 'ada@example.com')).toMatchObject({
      error: null,
      userId,
      isNewUser: 'false',
    });
    const me = await call<{ data: object }>(base(), 'GET', '/api/userAuth/me', { key: project.publishableKey, token });
    expect(me.body.data).toMatchObject({ _id: userId, email: 'ada@example.com', emailVerified: true });
    expect(me.body.data).not.toHaveProperty('isAnonymous');
  });

  test('links one identity to one of 50 concurrent anonymous users', async () => {
    const own = await newSocialProject({ settings: { signIn: { anonymous: true } } });
    project = own;
    const users = await inParallel(50, enter);
    const landings = await inParallel(50, async (n) =>
      goOn(await begin({ token: users[n]?.accessToken ?? '' }), 'ada@example.com'),
    );
    expect(new Set(landings.map(({ error, userId }) => error ?? userId)).size).toBe(1);
    const holders = (await storedUsers(own)).filter(({ identities }) => identities !== undefined);
    expect(holders.map(({ _id }) => _id.toHexString())).toEqual([landings[0]?.userId]);
  });

  test.each<[number, string, () => Promise<{ status: number; body: Begun }>]>([
    [401, 'TOKEN_INVALID', () => begin({ token: 'x.y.z' })],
    [404, 'UNKNOWN_PROVIDER', () => begin({}, 'myspace')],
    [404, 'UNKNOWN_PROVIDER', () => begin({}, 'oidc:none')],
  ])('%i %s', async (status, code, act) => {
    expect(await act()).toMatchObject({ status, body: { code } });
  });

  test('401 TOKEN_INVALID with a token whose session has ended', async () => {
    const headers = { 'x-refresh-token-mode': 'header' };
    const key = project.publishableKey;
    const { body } = await call<{ accessToken: string; refreshToken: string }>(
      base(),
      'POST',
      '/api/userAuth/anonymous',
      {
        key,
        headers,
      },
    );
    await call(base(), 'POST', '/api/userAuth/logout', { key, headers: { 'x-refresh-token': body.refreshToken } });
    expect(await begin({ token: body.accessToken })).toMatchObject({ status: 401, body: { code: 'TOKEN_INVALID' } });
  });

  test('400 SOCIAL_SIGN_IN_FAILED when the provider is not enabled, SITE_URL_REQUIRED without a site', async () => {
    const socialProviders = { gitlab: { enabled: false } };
    project = await newSocialProject({ settings: { socialProviders } });
    expect(await begin()).toMatchObject({ status: 400, body: { code: 'SOCIAL_SIGN_IN_FAILED' } });
    project = await newSocialProject({ settings: { siteUrl: null } });
    expect(await begin()).toMatchObject({ status: 400, body: { code: 'SITE_URL_REQUIRED' } });
  });
});
