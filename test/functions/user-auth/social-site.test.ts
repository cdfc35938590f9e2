import { beforeAll, describe, expect, inject, test } from 'vitest';
import { Browser, target } from '../../support/clients/browser.ts';
import { consent, landingOf, newSocialProject, signInWith, site, startUrl } from '../../support/clients/social.ts';
import type { TestProject } from '../../support/fixtures/project.ts';

let project: TestProject;
beforeAll(async () => {
  project = await newSocialProject();
});

describe('only the project’s own site', () => {
  test.each(['redirect_uri', 'siteUrl', 'site_url', 'next', 'returnTo', 'callback'])(
    'gets the tokens, not ?%s= another site',
    async (parameter) => {
      const browser = new Browser();
      const extra = `&${parameter}=${encodeURIComponent('https://evil.example')}`;
      const callback = await consent(browser, startUrl(project, 'github') + extra, 'octocat');
      expect(callback.origin).toBe(inject('stack').env.PUBLIC_URL);
      const { url, error } = landingOf(target(await browser.open(`${callback.href}${extra}`)));
      expect(error).toBeNull();
      expect(url.origin).toBe(site);
      expect(url.href).not.toContain('evil.example');
    },
  );

  test.each(['javascript:alert(1)', '//evil.example', 'https://user@evil.example', 'data:text/html,x', '/path', ''])(
    'cannot be set as %j',
    async (siteUrl) => {
      const answer = await project.developer.dashboard('PATCH', `/api/projects/${project.id}`, { siteUrl });
      expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
    },
  );

  test.each<[string, Readonly<Record<string, unknown>>, string]>([
    ['accounts are not enabled', { authEnabled: false }, 'User accounts are not enabled'],
    [
      'the provider is not enabled',
      { socialProviders: { github: { enabled: false } } },
      'Signing in with GitHub is not',
    ],
    [
      'the secret is cleared',
      { socialProviders: { github: { enabled: false, clientSecret: null } } },
      'Signing in with GitHub is not',
    ],
  ])('learns at start that %s', async (_, change, message) => {
    const fresh = await newSocialProject();
    expect((await fresh.developer.dashboard('PATCH', `/api/projects/${fresh.id}`, change)).status).toBe(200);
    const { url, error } = landingOf(target(await new Browser().open(startUrl(fresh, 'github'))));
    expect(url.origin + url.pathname).toBe(`${site}/auth/callback`);
    expect([...url.searchParams.keys()]).toEqual(['error']);
    expect(error).toMatch(message);
  });

  test('is redirected to: without a site URL start returns 400', async () => {
    const fresh = await newSocialProject({ settings: { siteUrl: null } });
    const page = await new Browser().open(startUrl(fresh, 'github'));
    expect(page.status).toBe(400);
    expect(JSON.parse(page.text)).toMatchObject({ success: false, code: 'SITE_URL_REQUIRED' });
  });

  test('needs no origin for navigations, which pass the domain whitelist', async () => {
    const fresh = await newSocialProject({ settings: { allowedDomains: [site] } });
    expect((await signInWith(fresh, 'github', 'octocat')).error).toBeNull();
  });
});
