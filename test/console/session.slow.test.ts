import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { openChromium, signIn } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { notes } from '../support/fixtures/collections.ts';
import { newDeveloper, newProject, type TestProject } from '../support/fixtures/project.ts';
import { users } from '../support/fixtures/users.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;

beforeAll(async () => {
  [browser, project] = await Promise.all([openChromium(), newProject([users, notes])]);
});

afterAll(() => browser.close());

const urlOf = (path: string): string => `${inject('stack').dashboardUrl}${path}`;
const pathOf = (url: string): string => new URL(url).pathname;
const screen = (path: string): string => `/projects/${project.id}${path}`;

/** Opens a window in which the owner of the project is signed in. */
const openAt = async (path: string) => {
  const opened = await openAs(browser, project.developer, path);
  return { ...opened, context: opened.page.context() };
};

const goTo = (page: Page, area: string) => page.getByRole('link', { name: area, exact: true }).click();
const usageIsThere = (page: Page) => page.getByText('Emails this month').waitFor();

describe('a session in the console', () => {
  /** Records the access tokens in use; `end` makes them invalid, as expired tokens are. */
  const tokensOf = async (context: BrowserContext) => {
    const seen = new Set<string>();
    const ended = new Set<string>();
    let renewals = 0;
    await context.route('**/api/**', (route) => {
      const { authorization, ...headers } = route.request().headers();
      if (pathOf(route.request().url()) === '/api/auth/refresh') renewals += 1;
      if (authorization === undefined) return route.continue();
      seen.add(authorization);
      return route.continue({
        headers: { ...headers, authorization: ended.has(authorization) ? `${authorization}x` : authorization },
      });
    });
    return {
      end: () => {
        for (const token of seen) ended.add(token);
        renewals = 0;
      },
      renewals: () => renewals,
    };
  };

  test('renews its access token once for all requests of a screen and stays on the page', async () => {
    const { page, context, problems } = await openAt(screen('/users'));
    const tokens = await tokensOf(context);
    await goTo(page, 'Files');
    await page.getByText('No files yet').waitFor();
    tokens.end();
    await goTo(page, 'Usage');
    await usageIsThere(page);
    await page.getByText('No slow query').waitFor();
    expect(tokens.renewals()).toBe(1);
    expect(pathOf(page.url())).toBe(screen('/usage'));
    expect(problems).toEqual([]);
  });

  test('continues when two tabs repeatedly renew it at the same moment', async () => {
    const { page: first, context } = await openAt(screen('/users'));
    const tokens = await tokensOf(context);
    const second = await context.newPage();
    await second.goto(urlOf(screen('/users')));
    const both = [first, second];
    for (const area of ['Files', 'Usage', 'Mail', 'Users'] as const) {
      await Promise.all(both.map((page) => page.getByRole('heading', { level: 1 }).waitFor()));
      tokens.end();
      await Promise.all(both.map((page) => goTo(page, area)));
      await Promise.all(both.map((page) => page.getByRole('heading', { name: area, level: 1 }).waitFor()));
      await Promise.all(both.map((page) => page.waitForLoadState('networkidle')));
      expect(both.map((page) => pathOf(page.url()))).toEqual([
        expect.stringContaining(area.toLowerCase()),
        expect.stringContaining(area.toLowerCase()),
      ]);
    }
  });

  test('continues when the page is left during a renewal', async () => {
    const { page } = await openAt(screen('/usage'));
    await usageIsThere(page);
    for (let left = 0; left < 6; left += 1) {
      const renewing = page.waitForRequest((request) => pathOf(request.url()) === '/api/auth/refresh');
      await Promise.all([renewing, page.goto(urlOf(screen('/usage')), { waitUntil: 'commit' })]);
    }
    await usageIsThere(page);
    expect(pathOf(page.url())).toBe(screen('/usage'));
  });

  test('continues when the response to a renewal is lost, on the same page and on the next', async () => {
    const { page, context } = await openAt(screen('/users'));
    const tokens = await tokensOf(context);
    await goTo(page, 'Files');
    await page.getByText('No files yet').waitFor();
    let lost = 0;
    const loseNext = () =>
      context.route(
        '**/api/auth/refresh',
        async (route) => {
          const headers = await route.request().allHeaders();
          const answer = await fetch(route.request().url(), { method: 'POST', headers });
          if (answer.ok) lost += 1;
          await route.abort('connectionreset');
        },
        { times: 1 },
      );
    await loseNext();
    tokens.end();
    await goTo(page, 'Usage');
    await usageIsThere(page);
    expect(lost).toBe(1);
    await loseNext();
    const failed = page.waitForEvent('requestfailed', (request) => pathOf(request.url()) === '/api/auth/refresh');
    await Promise.all([failed, page.reload()]);
    await page.reload();
    await usageIsThere(page);
    expect(lost).toBe(2);
  });

  test('401 of the renewal opens a sign-in over the page, which then continues', async () => {
    const { page, context } = await openAt(screen('/users'));
    const tokens = await tokensOf(context);
    await goTo(page, 'Files');
    await page.getByText('No files yet').waitFor();
    await context.clearCookies();
    tokens.end();
    await goTo(page, 'Usage');
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    await signIn(page, project.developer);
    await usageIsThere(page);
    expect(pathOf(page.url())).toBe(screen('/usage'));
  });

  test('401 of the renewal offers the sign-in page, which leads back to the same address', async () => {
    const { page, context } = await openAt(screen('/users'));
    const tokens = await tokensOf(context);
    await goTo(page, 'Files');
    await page.getByText('No files yet').waitFor();
    await context.clearCookies();
    tokens.end();
    await goTo(page, 'Usage');
    await page.getByRole('button', { name: 'Sign in another way' }).click();
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    await signIn(page, project.developer);
    await usageIsThere(page);
    expect(pathOf(page.url())).toBe(screen('/usage'));
  });

  describe('with an unsaved document', () => {
    const typed = 'typed before the session ended';

    /** Opens a document and changes its title without saving. */
    const editing = async () => {
      const { body } = await project.api('POST', '/api/data/notes', { body: { title: 'first' } });
      const opened = await openAt(screen(`/documents/notes?open=${String(body._id)}`));
      const tokens = await tokensOf(opened.context);
      await opened.page.reload();
      await opened.page.getByRole('button', { name: 'Edit', exact: true }).click();
      await opened.page.getByRole('textbox', { name: 'title', exact: true }).fill(typed);
      const stored = async () => (await project.api('GET', `/api/data/notes/${String(body._id)}`)).body;
      return { ...opened, tokens, stored };
    };

    test('keeps the draft when it ends, and saves it after a sign-in on the page', async () => {
      const { page, context, tokens, stored } = await editing();
      await context.clearCookies();
      tokens.end();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
      await dialog.waitFor();
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      await dialog.waitFor();
      await signIn(page, project.developer);
      await page.getByText('Saved').waitFor();
      expect(await stored()).toMatchObject({ title: typed });
    });

    test('hides the draft when another developer signs in over the page', async () => {
      const { page, context, tokens, stored } = await editing();
      await context.clearCookies();
      tokens.end();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
      await signIn(page, await newDeveloper());
      await page.getByText('A project holds one app').waitFor();
      expect(await page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.includes('draft')))).toEqual([]);
      expect(await stored()).toMatchObject({ title: 'first' });
    });

    test('offers the draft after a reload until it is saved', async () => {
      const { page, stored } = await editing();
      page.on('dialog', (dialog) => void dialog.accept());
      await page.reload();
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      expect(await page.getByRole('textbox', { name: 'title', exact: true }).inputValue()).toBe('first');
      await page.getByRole('button', { name: 'Restore what you typed' }).click();
      expect(await page.getByRole('textbox', { name: 'title', exact: true }).inputValue()).toBe(typed);
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('Saved').waitFor();
      expect(await stored()).toMatchObject({ title: typed });
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      await page.getByRole('textbox', { name: 'title', exact: true }).waitFor();
      expect(await page.getByText('You typed changes here').count()).toBe(0);
    });

    test('deletes the draft at sign-out', async () => {
      const { page } = await editing();
      expect(
        await page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.includes('draft'))),
      ).toHaveLength(1);
      await page.getByTitle('Account').click();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
      expect(await page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.includes('draft')))).toEqual([]);
    });
  });

  test('ends and starts in all tabs immediately', async () => {
    const { page: first, context } = await openAt(screen('/users'));
    await first.getByRole('heading', { name: 'Users', level: 1 }).waitFor();
    const second = await context.newPage();
    await second.goto(urlOf(screen('/usage')));
    await usageIsThere(second);
    await first.getByTitle('Account').click();
    await first.getByRole('button', { name: 'Sign out' }).click();
    await second.getByRole('heading', { name: 'Sign in' }).waitFor();
    await signIn(first, project.developer);
    await usageIsThere(second);
    expect(pathOf(second.url())).toBe(screen('/usage'));
  });

  test('401 for a wrong current password does not send the request again', async () => {
    const { page, context } = await openAt('/account');
    const sent: string[] = [];
    context.on('request', (request) => sent.push(`${request.method()} ${pathOf(request.url())}`));
    await page.getByLabel('Current password').fill('not the password');
    await page.getByLabel('New password').fill('a password that is long enough');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('The current password is incorrect.').waitFor();
    expect(sent.filter((one) => !one.startsWith('GET'))).toEqual(['PUT /api/auth/change-password']);
  });

  test('shows no data of the developer who was signed in before', async () => {
    const { page } = await openAt('/');
    await page.getByRole('link', { name: 'test project' }).waitFor();
    await page.getByTitle('Account').click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signIn(page, await newDeveloper());
    await page.getByText('A project holds one app').waitFor();
  });
});
