import { beforeAll, describe, expect, inject, test } from 'vitest';
import {
  type SocialProviderName,
  socialProviderNames,
  socialProviders,
} from '../../../shared/projects/social/providers.ts';
import { Browser, target } from '../../support/clients/browser.ts';
import { call } from '../../support/clients/client.ts';
import {
  consent,
  exchange,
  landingOf,
  newSocialProject,
  refresh,
  signInWith,
  site,
  startUrl,
} from '../../support/clients/social.ts';
import type { TestProject } from '../../support/fixtures/project.ts';
import { claimsOf } from '../../support/fixtures/users.ts';

const base = (): string => inject('stack').baseUrl;
const me = (project: TestProject, token: string) =>
  call<{ data: Record<string, unknown> }>(base(), 'GET', '/api/userAuth/me', { key: project.publishableKey, token });

let project: TestProject;
beforeAll(async () => {
  project = await newSocialProject();
});

const grace = 'grace@example.com';

/** A person at each fake provider, and the user they become. */
const accounts: Readonly<Record<SocialProviderName, readonly [who: string, user: Record<string, unknown>]>> = {
  github: ['octocat', { email: 'octocat@example.com', username: 'octocat', name: 'Octo Cat', emailVerified: true }],
  google: [grace, { email: grace, name: 'Grace Hopper', emailVerified: true }],
  microsoft: [grace, { name: 'Grace Hopper', emailVerified: false }],
  apple: [grace, { email: grace, name: 'Grace Hopper', emailVerified: true }],
  gitlab: [grace, { email: grace, name: 'Grace Hopper', username: 'grace', emailVerified: true }],
  discord: [grace, { email: grace, name: 'Grace Hopper', username: 'grace', emailVerified: true }],
  facebook: [grace, { name: 'Grace Hopper', emailVerified: false }],
  linkedin: [grace, { email: grace, name: 'Grace Hopper', emailVerified: true }],
  twitch: [grace, { email: grace, username: 'grace', emailVerified: true }],
  spotify: [grace, { name: 'Grace Hopper', emailVerified: false }],
  slack: [grace, { email: grace, name: 'Grace Hopper', emailVerified: true }],
};
const people = socialProviderNames.map((provider) => [provider, ...accounts[provider]] as const);

describe('start', () => {
  test.each(people)(
    '302 to the consent page of %s with a state for this browser, and PKCE or a nonce if supported',
    async (provider) => {
      const { hasPkce, urls, parameters } = socialProviders[provider];
      const page = await new Browser().open(startUrl(project, provider));
      const query = target(page).searchParams;
      expect(Object.fromEntries(query)).toMatchObject({
        response_type: 'code',
        client_id: 'test-client',
        redirect_uri: `${inject('stack').env.PUBLIC_URL}/api/userAuth/social/${provider}/callback`,
        ...(hasPkce && { code_challenge_method: 'S256', code_challenge: expect.stringMatching(/^[\w-]{43}$/) }),
        ...(urls.keys !== undefined && { nonce: expect.stringMatching(/^[\w-]{43}$/) }),
        ...parameters,
        state: expect.stringMatching(new RegExp(`^${project.id}\\.[\\w-]{43}$`)),
      });
      expect(page.headers.get('referrer-policy')).toBe('no-referrer');
      expect(page.headers.get('cache-control')).toBe('no-store');
      expect(page.headers.getSetCookie()).toEqual([
        expect.stringMatching(
          /^social_[0-9a-f]{16}=[\w-]{43}; HttpOnly; Path=\/api\/userAuth\/social; Max-Age=600; SameSite=Lax$/,
        ),
      ]);
      expect(target(page).href).not.toContain(project.publishableKey);
    },
  );

  test('302 with the key as `key`, as the published client sends it, and in the header', async () => {
    const path = `${base()}/api/userAuth/social/github/start`;
    expect((await new Browser().open(`${path}?key=${project.publishableKey}`)).status).toBe(302);
    const byHeader = await fetch(path, { redirect: 'manual', headers: { 'x-api-key': project.publishableKey } });
    expect(byHeader.status).toBe(302);
  });

  test.each<[number, string, () => string]>([
    [401, 'API_KEY_MISSING', () => '/api/userAuth/social/github/start'],
    [401, 'API_KEY_INVALID', () => '/api/userAuth/social/github/start?key=pk_live_x'],
    [403, 'PUBLISHABLE_KEY_REQUIRED', () => `/api/userAuth/social/github/start?x-api-key=${project.secretKey}`],
    [404, 'UNKNOWN_PROVIDER', () => `/api/userAuth/social/myspace/start?key=${project.publishableKey}`],
    [404, 'UNKNOWN_PROVIDER', () => `/api/userAuth/social/GitHub/start?key=${project.publishableKey}`],
    [404, 'UNKNOWN_PROVIDER', () => `/api/userAuth/social/__proto__/start?key=${project.publishableKey}`],
    [404, 'UNKNOWN_PROVIDER', () => '/api/userAuth/social/constructor/callback?state=x&code=y'],
    [400, 'SOCIAL_SIGN_IN_FAILED', () => '/api/userAuth/social/github/callback'],
    [400, 'SOCIAL_SIGN_IN_FAILED', () => '/api/userAuth/social/github/callback?state=x&code=y'],
    [
      400,
      'SOCIAL_SIGN_IN_FAILED',
      () => `/api/userAuth/social/github/callback?state=${'f'.repeat(24)}.${'a'.repeat(43)}`,
    ],
    [400, 'INVALID_QUERY', () => `/api/userAuth/social/github/callback?state=${'a'.repeat(4097)}`],
  ])('%i %s when the project is unknown: case %#', async (status, code, path) => {
    expect(await call(base(), 'GET', path())).toMatchObject({ status, body: { success: false, code } });
  });
});

describe('callback', () => {
  test.each(people)('302 of a new user of %s to the site, signed in', async (provider, who, profile) => {
    const project = await newSocialProject();
    const browser = new Browser();
    const callback = await consent(browser, startUrl(project, provider), who);
    const page = await browser.open(callback.href);
    const landing = landingOf(target(page));
    expect(landing.url.origin + landing.url.pathname).toBe(`${site}/auth/callback`);
    expect([...landing.url.searchParams.keys()]).toEqual([
      'rtCode',
      'provider',
      'projectId',
      'userId',
      'isNewUser',
      'linkedByEmail',
    ]);
    expect(Object.fromEntries(landing.url.searchParams)).toMatchObject({
      provider,
      projectId: project.id,
      isNewUser: 'true',
      linkedByEmail: 'false',
    });
    expect(landing.url.search).not.toContain(landing.token);
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(browser.cookieNames(base())).toEqual([]);

    const answer = await me(project, landing.token);
    expect(answer).toMatchObject({ status: 200, body: { data: { _id: landing.userId, ...profile } } });
    expect(claimsOf(landing.token).amr).toEqual([provider]);
    expect(Object.keys(answer.body.data).sort()).toEqual(
      ['_id', 'createdAt', 'updatedAt', ...Object.keys(profile)].sort(),
    );

    const exchanged = await exchange(project, { token: landing.token, rtCode: landing.rtCode });
    expect(exchanged).toMatchObject({
      status: 200,
      body: { success: true, message: 'Refresh token exchanged successfully' },
    });
    expect(await refresh(project, exchanged.body.data?.refreshToken ?? '')).toMatchObject({ status: 200 });
  });

  test.each(people)('302 of a known user of %s to the same account', async (provider, who) => {
    const fresh = await newSocialProject();
    const first = await signInWith(fresh, provider, who);
    const second = await signInWith(fresh, provider, who);
    expect(first).toMatchObject({ error: null, isNewUser: 'true', linkedByEmail: 'false' });
    expect(second).toMatchObject({ error: null, isNewUser: 'false', linkedByEmail: 'false', userId: first.userId });
  });

  test('302 of one person at both providers to one account', async () => {
    const fresh = await newSocialProject();
    const first = await signInWith(fresh, 'github', 'ada');
    const second = await signInWith(fresh, 'google', 'ada@example.com');
    expect(second).toMatchObject({ error: null, isNewUser: 'false', linkedByEmail: 'true', userId: first.userId });
    expect(await signInWith(fresh, 'google', 'ada@example.com')).toMatchObject({ linkedByEmail: 'false' });
    expect(await signInWith(fresh, 'github', 'ada')).toMatchObject({ linkedByEmail: 'false', userId: first.userId });
  });

  test('302 to the same account for one person in two concurrent browsers', async () => {
    const fresh = await newSocialProject();
    const landings = await Promise.all(Array.from({ length: 10 }, () => signInWith(fresh, 'github', 'ada')));
    expect(new Set(landings.map(({ userId }) => userId)).size).toBe(1);
    expect(landings.filter(({ error }) => error !== null)).toEqual([]);
    expect(landings.filter(({ isNewUser }) => isNewUser === 'true')).toHaveLength(1);
  });
});
