import { beforeAll, describe, expect, test, vi } from 'vitest';
import { publishedClient } from '../../support/clients/published-client.ts';
import { newCredentials, newUsersProject, site, type UsersProject } from '../../support/fixtures/users.ts';

const page = 'https://page.example';

let plain: UsersProject;
let named: UsersProject;

beforeAll(async () => {
  plain = await newUsersProject({ settings: { siteUrl: null } });
  named = await newUsersProject({
    owner: plain.developer,
    settings: { allowedDomains: ['*', page, 'bare.example', '*.sub.example'] },
  });
});

type Headers = Readonly<Record<string, string>>;

const acts: readonly (readonly [string, (of: UsersProject, headers: Headers) => ReturnType<UsersProject['logIn']>])[] =
  [
    ['sign-up', (of, headers) => of.signUp(newCredentials(), headers)],
    ['sign-in', async (of, headers) => of.logIn(await of.newUser(), headers)],
  ];

describe.each(acts)('hints of a %s', (_name, act) => {
  test.each([page, 'null', 'https://evil.example'])(
    'name the origin %s, which gets no refresh cookie, and the setting to change',
    async (origin) => {
      const { cookies, body } = await act(plain, { origin });
      expect(cookies).toEqual([]);
      const { hints } = body as { hints?: readonly string[] };
      expect(hints).toHaveLength(1);
      for (const part of [origin, 'siteUrl', 'allowedDomains', 'x-refresh-token-mode: header']) {
        expect(hints?.[0]).toContain(part);
      }
      expect(body).toMatchObject({ success: true, accessToken: expect.any(String), userId: expect.any(String) });
      expect(body).not.toHaveProperty('data');
    },
  );

  test('are absent when the project allows the origin and there is a cookie', async () => {
    for (const origin of [site, page, 'https://bare.example:8443']) {
      const { cookies, body } = await act(named, { origin });
      expect(cookies).toHaveLength(1);
      expect(body).not.toHaveProperty('hints');
    }
    expect((await act(named, { origin: 'https://x.sub.example' })).body).toHaveProperty('hints');
  });

  test.each<[string, Headers]>([
    ['no origin', {}],
    ['no origin, though from elsewhere', { 'sec-fetch-site': 'cross-site' }],
    ['a client that keeps its refresh token itself', { origin: page, 'x-refresh-token-mode': 'header' }],
  ])('are absent with %s', async (_what, headers) => {
    expect((await act(plain, headers)).body).not.toHaveProperty('hints');
  });

  test('do not grow with the origin’s length, nor reveal the project’s site', async () => {
    const { body } = await act(named, { origin: `https://${'x'.repeat(5000)}.example` });
    const { hints } = body as { hints?: readonly string[] };
    expect(hints?.[0]?.length).toBeLessThan(500);
    expect(JSON.stringify(hints)).not.toContain(site);
  });
});

test('the published client on another site keeps its refresh token itself, as before', async () => {
  const send = globalThis.fetch;
  vi.stubGlobal('fetch', (url: string, options: RequestInit = {}) =>
    send(url, { ...options, headers: { ...options.headers, origin: page } }),
  );
  const client = publishedClient(plain.publishableKey);
  const answer = await client.auth.signUp({ ...newCredentials() });
  vi.unstubAllGlobals();
  expect(answer).not.toHaveProperty('hints');
  expect(client.auth.getRefreshToken()).toBe(answer.refreshToken);
  expect(client.auth.getToken()).toBe(answer.accessToken);
});
