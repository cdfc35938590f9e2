import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { listen } from '../../../infra/local/ports.ts';
import { openChromium } from '../../support/clients/chromium.ts';
import { call } from '../../support/clients/client.ts';
import { exchange, landingOf, newSocialProject, startUrl } from '../../support/clients/social.ts';
import type { TestProject } from '../../support/fixtures/project.ts';

const { env, baseUrl } = inject('stack');
const callback = `${env.PUBLIC_URL}/api/userAuth/social/apple/callback`;
const asked = new URL(baseUrl).hostname;

/** The same host under another name, which is another site to a browser. */
const asOtherSite = (address: string): string => {
  const url = new URL(address);
  url.hostname = asked === 'localhost' ? '127.0.0.1' : 'localhost';
  return url.href;
};

let server: Server;
let site: string;
let project: TestProject;
let browser: Awaited<ReturnType<typeof openChromium>>;
/** The page of a foreign site, which posts a form immediately. */
let foreignPage = '';

beforeAll(async () => {
  server = createServer(({ url }, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(
      `<!doctype html><link rel="icon" href="data:,"><title>Site</title>${url === '/foreign' ? foreignPage : ''}`,
    );
  });
  site = `http://${asked}:${await listen(server, 0)}`;
  [project, browser] = await Promise.all([newSocialProject({ settings: { siteUrl: site } }), openChromium()]);
});

afterAll(async () => {
  await browser.close();
  await new Promise((done) => server.close(done));
});

/** A browser at Apple's page, which is another site, during a sign-in. */
const atApple = async () => {
  const { page } = await browser.newPage();
  await page.goto(startUrl(project, 'apple', env.PUBLIC_URL));
  const state = new URL(page.url()).searchParams.get('state') ?? '';
  await page.goto(asOtherSite(page.url()));
  return { page, state };
};

/** The browser's request to our callback, and the page that it is redirected to. */
const onTheWay = async ({ page }: Awaited<ReturnType<typeof atApple>>, go: () => Promise<unknown>) => {
  const sent: { readonly method: string; readonly site: string; readonly cookies: string[] }[] = [];
  const heard: Promise<void>[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(callback)) return;
    const note = async () => {
      const { cookie = '', 'sec-fetch-site': from = '' } = await request.allHeaders();
      const cookies = cookie.split('; ').flatMap((pair) => pair.split('=')[0] || []);
      sent.push({ method: request.method(), site: from, cookies });
    };
    heard.push(note());
  });
  await go();
  await page.waitForURL((url) => url.origin === site && url.search !== '');
  await Promise.all(heard);
  const landing = landingOf(new URL(page.url()));
  return { landing, sent: sent.sort((a, b) => b.method.localeCompare(a.method)) };
};

describe('a form that Apple’s page makes a browser post', () => {
  test('arrives without our cookie, is redirected and signs in once', async () => {
    const way = await atApple();
    const { landing, sent } = await onTheWay(way, () => way.page.getByRole('button', { name: /grace@/ }).click());
    expect(sent).toEqual([
      { method: 'POST', site: 'cross-site', cookies: [] },
      { method: 'GET', site: 'cross-site', cookies: [expect.stringMatching(/^social_[0-9a-f]{16}$/)] },
    ]);
    expect(landing).toMatchObject({ error: null, isNewUser: 'true' });
    const path = '/api/userAuth/me';
    const me = await call(baseUrl, 'GET', path, { key: project.publishableKey, token: landing.token });
    expect(me).toMatchObject({ status: 200, body: { data: { email: 'grace@example.com', name: 'Grace Hopper' } } });
    expect((await exchange(project, landing)).status).toBe(200);
    expect(await way.page.context().cookies(callback)).toEqual([]);
  });

  test('signs no one in when another site posts it with its own state and code', async () => {
    const [attacker, victim] = [await atApple(), await atApple()];
    let stolen = '';
    await attacker.page.route(callback, async (route) => {
      stolen = route.request().postData() ?? '';
      await route.abort();
    });
    const posted = attacker.page.waitForRequest(callback);
    await attacker.page.getByRole('button', { name: /grace@/ }).click();
    await posted;
    await expect.poll(() => stolen).toContain(attacker.state);
    const fields = [...new URLSearchParams(stolen)].map(
      ([name, value]) => `<input name="${name}" value='${value.replaceAll("'", '&#39;')}'>`,
    );
    foreignPage = `<form method="post" action="${callback}">${fields.join('')}</form><script>document.forms[0].submit()</script>`;
    const { landing, sent } = await onTheWay(victim, () => victim.page.goto(asOtherSite(`${site}/foreign`)));
    expect(sent[0]).toEqual({ method: 'POST', site: 'cross-site', cookies: [] });
    expect(sent[1]?.cookies).toHaveLength(1);
    expect(landing).toMatchObject({ error: expect.stringMatching(/^This sign-in has expired/), token: '' });
  });
});
