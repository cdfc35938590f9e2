import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type OpenPage, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newUsersProject, type UsersProject } from '../support/fixtures/users.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: UsersProject;
let opened: OpenPage;

beforeAll(async () => {
  [browser, project] = await Promise.all([openChromium(), newUsersProject()]);
  opened = await openAs(browser, project.developer, '/');
  await opened.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
});

afterAll(() => browser.close());

const copied = () => opened.page.evaluate<string>('navigator.clipboard.readText()');

test('base URL, project id, publishable key and user id can be copied', async () => {
  const { page, problems } = opened;
  const base = `${inject('stack').dashboardUrl}/projects/${project.id}`;
  await page.goto(`${base}/settings/keys`);
  for (const text of [inject('stack').baseUrl, project.id, project.publishableKey]) {
    await page.locator('.snippet').filter({ hasText: text }).getByRole('button').click();
    await expect.poll(copied).toBe(text);
  }
  const { userId } = await project.newUser();
  await page.goto(`${base}/users?open=${userId}`);
  await page.getByRole('button', { name: 'Copy the id' }).click();
  await expect.poll(copied).toBe(userId);
  expect(problems).toEqual([]);
});

test('page shows a message when the browser blocks copying', async () => {
  const { page, problems } = opened;
  await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
  await page.getByRole('button', { name: 'Copy the id' }).click();
  await page.getByRole('status').getByText('Your browser blocks copying.').waitFor();
  expect(problems).toEqual([]);
});
