import type { BrowserContext, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newMember } from '../support/fixtures/members.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';
import { users } from '../support/fixtures/users.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;

beforeAll(async () => {
  [browser, project] = await Promise.all([openChromium(), newProject([{ name: 'posts' }, users])]);
});

afterAll(() => browser.close());

const urlOf = (path: string): string => `${inject('stack').dashboardUrl}${path}`;
const pathOf = (url: string): string => new URL(url).pathname;
const screen = (path = ''): string => `/projects/${project.id}${path}`;

const goTo = (page: Page, area: string) => page.getByRole('link', { name: area, exact: true }).click();
const usageIsThere = (page: Page) => page.getByText('Emails this month').waitFor();
const line = (page: Page) => page.getByText("Can't reach Basalt. Reconnecting");

describe('console with a failing service', () => {
  let page: Page;
  let context: BrowserContext;
  let problems: string[];

  beforeAll(async () => {
    ({ page, problems } = await openAs(browser, project.developer, screen('/users')));
    context = page.context();
  });

  beforeEach(async () => {
    await page.goto(urlOf(screen('/users')));
    await page.getByText('No users yet').waitFor();
  });

  /** Makes matching requests fail until the returned function is called. */
  const meet = async (which: RegExp, fault: (route: Route) => Promise<void>): Promise<() => Promise<void>> => {
    const isMet = (url: URL): boolean => which.test(url.pathname);
    await context.route(isMet, fault);
    return () => context.unroute(isMet, fault);
  };
  const refuse = (route: Route) => route.abort('connectionrefused');

  test.each([
    ['the service is unreachable', refuse],
    ['its proxy returns 502', (route: Route) => route.fulfill({ status: 502, body: '<h1>Bad Gateway</h1>' })],
  ])('shows a line at the top when %s and reconnects automatically', async (_, fault) => {
    const heal = await meet(/^\/api\//, fault);
    await goTo(page, 'Usage');
    await line(page).waitFor();
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
    await heal();
    await usageIsThere(page);
    await line(page).waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  test('keeps typed text when the service is unreachable and hides the line when it is back', async () => {
    await page.getByRole('button', { name: 'New user' }).click();
    await page.getByLabel('Email address').fill('ann@example.com');
    await page.getByLabel('Password').fill('long enough for all');
    const heal = await meet(/^\/api\//, refuse);
    await page.getByRole('button', { name: 'Create' }).click();
    await line(page).waitFor();
    await heal();
    await line(page).waitFor({ state: 'detached' });
    expect(await page.getByLabel('Email address').inputValue()).toBe('ann@example.com');
    await page.keyboard.press('Escape');
  });

  test.each([
    ['console.json', /^\/console\.json$/],
    ['the session', /^\/api\//],
  ])('starts when the service is back after it failed for %s', async (_, which) => {
    const heal = await meet(which, refuse);
    await page.goto(urlOf(screen('/usage')));
    await line(page).waitFor();
    await heal();
    await usageIsThere(page);
  });

  test('opens the requested page when its script becomes available', async () => {
    const heal = await meet(/^\/assets\/usage-/, refuse);
    await goTo(page, 'Usage');
    await line(page).waitFor();
    await heal();
    await usageIsThere(page);
    expect(pathOf(page.url())).toBe(screen('/usage'));
  });

  test.each([
    ['the overview', '', /\/collections$/],
    ['documents', '/documents/posts', /\/collections\/posts$/],
    ['imports and exports', '/documents/posts/transfers', /^\/api\/.*\/transfers$/],
    ['requests', '/usage', /\/usage\/requests$/],
    ['missing indexes', '/usage', /\/missing-indexes$/],
    ['rejected requests', '/requests', /\/refusals$/],
    ['requests by hour', '/requests', /\/usage\/requests$/],
    ['the project of the requests', '/requests', /^\/api\/projects\/[^/]+$/],
    ['the API', '/api', /^\/api\/projects\/[^/]+$/],
    ['files', '/files', /^\/api\/projects\/[^/]+$/],
  ])('500 for a part of a page shows an error that can be retried: %s', async (_, path, which) => {
    const heal = await meet(which, (route) =>
      route.fulfill({ status: 500, json: { success: false, code: 'SAID_BY_TEST', message: 'It broke.' } }),
    );
    await page.goto(urlOf(screen(path)));
    const note = page.getByRole('main').getByRole('alert').filter({ hasText: 'It broke.' });
    await note.waitFor();
    await heal();
    await note.getByRole('button', { name: 'Retry' }).click();
    await note.waitFor({ state: 'detached' });
    await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
  });

  test.each([429, 503])('%i shows the requested waiting time and is retried automatically after it', async (status) => {
    const asked: number[] = [];
    const heal = await meet(/^\/api\/.*\/usage$/, (route) => {
      asked.push(Date.now());
      const body = JSON.stringify({ success: false, code: 'SAID_BY_TEST', message: 'Not now, please.' });
      return asked.length < 3 ? route.fulfill({ status, body, headers: { 'retry-after': '2' } }) : route.fallback();
    });
    const note = page.getByRole('alert').filter({ hasText: 'Not now, please.' });
    // The text is visible for two seconds, which can end before the page has loaded.
    const wait = note.getByText(/^Retrying in [012] s\.$/).waitFor();
    await Promise.all([wait, page.goto(urlOf(screen('/usage')))]);
    await usageIsThere(page);
    await note.waitFor({ state: 'detached' });
    await heal();
    expect(asked.map((at, place) => at - (asked[place - 1] ?? 0) >= 2000)).toEqual([true, true, true]);
  });

  test('429 for an action shows the waiting time and is not retried automatically', async () => {
    await page.getByRole('button', { name: 'New user' }).click();
    await page.getByLabel('Email address').fill('ben@example.com');
    await page.getByLabel('Password').fill('long enough for all');
    let asked = 0;
    const heal = await meet(/^\/api\/.*\/users$/, (route) => {
      asked += 1;
      const body = JSON.stringify({ success: false, code: 'ACCOUNT_LOCKED', message: 'Locked.' });
      return route.fulfill({ status: 429, body, headers: { 'retry-after': '900' } });
    });
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').getByText('Retry in 15 min.').waitFor();
    await heal();
    expect(asked).toBe(1);
    await page.keyboard.press('Escape');
  });

  test('403 shows the required role and says to ask an admin or the owner', async () => {
    const viewer = await newMember(project, 'viewer');
    const opened = await openAs(browser, viewer, screen('/settings/general'));
    await opened.page.getByLabel('Name').fill('Mine');
    await opened.page.getByRole('button', { name: 'Save' }).click();
    const note = opened.page.getByRole('alert');
    await note.getByText('This needs the role admin in the project; yours is viewer.').waitFor();
    await note.getByText('Ask an admin or the owner.').waitFor();
  });

  test.each([
    ['a project', `/projects/${'0'.repeat(24)}/usage`, 'PROJECT_NOT_FOUND', 'Projects', '/'],
    ['a collection', '/documents/nowhere', 'COLLECTION_NOT_FOUND', 'Overview', ''],
    ['a document', `/documents/posts?open=${'0'.repeat(24)}`, 'DOCUMENT_NOT_FOUND', 'posts', '/documents/posts'],
    ['a user', `/users?open=${'0'.repeat(24)}`, 'USER_NOT_FOUND', 'Users', '/users'],
    ['a template', `/mail/templates?open=${'0'.repeat(24)}`, 'TEMPLATE_NOT_FOUND', 'Templates', '/mail/templates'],
    ['a webhook', `/settings/webhooks?open=${'0'.repeat(24)}`, 'WEBHOOK_NOT_FOUND', 'Webhooks', '/settings/webhooks'],
  ])('404 for %s shows its code and a link to the parent page', async (_, at, code, label, up) => {
    const inProject = !at.startsWith('/projects');
    await page.goto(urlOf(inProject ? screen(at) : at));
    const note = page.getByRole('alert').filter({ hasText: code }).first();
    await note.getByRole('link', { name: label }).click();
    await page.waitForURL(urlOf(inProject ? screen(up) : up));
  });

  test('404 for a project does not leave its name loading', async () => {
    await page.goto(urlOf(`/projects/${'0'.repeat(24)}`));
    await page.getByRole('alert').filter({ hasText: 'PROJECT_NOT_FOUND' }).waitFor();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.getByTitle('Projects').getByText('Projects').waitFor();
    await expect.poll(() => page.title()).toContain('Overview');
  });

  test.each([
    ['settings', '/settings/general', 'App URL'],
    ['a schema', '/documents/posts/schema', 'Add a field'],
  ])('shows that %s are loading until the service responds', async (_, at, there) => {
    const { promise: held, resolve: answer } = Promise.withResolvers<void>();
    const heal = await meet(/^\/api\/projects\//, async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(urlOf(screen(at)));
    const waits = page.getByRole('status').filter({ hasText: 'Loading' });
    await waits.waitFor();
    answer();
    await page.getByText(there).waitFor();
    expect(await waits.count()).toBe(0);
    await heal();
  });

  test('shows an error and keeps its navigation when the address is invalid', async () => {
    await page.goto(urlOf(`${screen('/users')}/%E0%A4%A`));
    await page.getByRole('main').getByRole('alert').or(page.getByText('Page not found.')).waitFor();
    await goTo(page, 'Usage');
    await usageIsThere(page);
  });
});
