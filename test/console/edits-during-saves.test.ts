import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type OpenPage, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;
let opened: OpenPage;
let page: Page;

const effects = ['first', 'second', 'third'].map((note) => ({ on: 'create', set: { note } }));

beforeAll(async () => {
  const posts = { name: 'posts', schema: ['title', 'note'].map((key) => ({ key, type: 'String' })), effects };
  [browser, project] = await Promise.all([openChromium(), newProject([posts])]);
  opened = await openAs(browser, project.developer, `/projects/${project.id}`);
  page = opened.page;
});

afterAll(() => browser.close());

const open = (path: string) => page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}${path}`);
const button = (name: string) => page.getByRole('button', { name, exact: true }).first();
const saved = async <T>(path = ''): Promise<T> =>
  (await project.developer.dashboard<{ data: T }>('GET', `/api/projects/${project.id}${path}`)).body.data;
const reloads = (path: string) =>
  page.waitForResponse((response) => response.request().method() === 'GET' && response.url().endsWith(path));

/** Clicks *Save*, edits until the service has the request, and lets its response through afterwards. */
const editDuringSave = async (path: string, edit: () => Promise<void>): Promise<void> => {
  const sent = Promise.withResolvers<void>();
  const edited = Promise.withResolvers<void>();
  const hold = async (route: Route) => {
    if (route.request().method() === 'GET') return route.fallback();
    const response = await route.fetch();
    sent.resolve();
    await edited.promise;
    return route.fulfill({ response });
  };
  await page.route(`**${path}`, hold);
  await button('Save').click();
  await sent.promise;
  await edit();
  // The page reads the saved state again after the response.
  const renewed = reloads(path);
  edited.resolve();
  await renewed;
  await page.unroute(`**${path}`, hold);
  await page.locator('form[aria-busy=true]').waitFor({ state: 'detached' });
};

const collection = '/collections/posts';

test('edit of a schema made while it is being saved stays, and can be saved', async () => {
  await open('/documents/posts/schema');
  const name = page.getByLabel('Name of field 1', { exact: true });
  await page.getByLabel('No other fields').check();
  await name.fill('text');
  await editDuringSave(collection, async () => {
    await page.getByLabel('No other fields').uncheck();
    await name.fill('words');
  });
  expect(await name.inputValue()).toBe('words');
  expect(await page.getByLabel('No other fields').isChecked()).toBe(false);
  await page.getByLabel('What changes when you save').getByText('renamed from text').waitFor();
  await page.getByText('documents keep them as “text”').waitFor();
  expect(await saved(collection)).toMatchObject({ closed: true, schema: [{ key: 'text' }, { key: 'note' }] });
  await button('Save').click();
  await page.getByText('No changes yet.').waitFor();
  const { schema, closed } = await saved<{ schema: { key: string }[]; closed?: true }>(collection);
  expect([schema.map(({ key }) => key), closed]).toEqual([['words', 'note'], undefined]);
});

test('edit of access made while it is being saved stays, also when it goes back to the earlier choice', async () => {
  await open('/documents/posts/access');
  const kind = (label: string) => page.getByRole('radio', { name: label });
  await kind('Owner only').check();
  await editDuringSave(collection, () => kind('Signed-in').check());
  expect(await kind('Signed-in').isChecked()).toBe(true);
  expect(await saved(collection)).toMatchObject({ rls: { mode: 'private' } });
  await editDuringSave(collection, () => kind('Owner only').check());
  expect(await kind('Owner only').isChecked()).toBe(true);
  expect(await saved(collection)).toMatchObject({ rls: { mode: 'signed-in' } });
  await button('Save').click();
  await expect.poll(() => saved(collection)).toMatchObject({ rls: { mode: 'private' } });
});

test('edit of effects made while they are being saved stays', async () => {
  await open('/documents/posts/effects');
  await button('Remove: effect 3').click();
  await editDuringSave(collection, () => button('Remove: effect 1').click());
  await expect.poll(() => page.getByRole('listitem', { name: /^Effect \d$/ }).count()).toBe(1);
  expect(await saved(collection)).toMatchObject({ effects: effects.slice(0, 2) });
  await button('Save').click();
  await expect.poll(() => saved(collection)).toMatchObject({ effects: effects.slice(1, 2) });
});

test('setting typed while settings are being saved stays, and the page asks before it is left', async () => {
  await open('/settings');
  const name = page.getByLabel('Name', { exact: true });
  await name.fill('Saved');
  await editDuringSave(`/api/projects/${project.id}`, () => name.fill('Typed later'));
  expect(await name.inputValue()).toBe('Typed later');
  expect(await saved()).toMatchObject({ name: 'Saved' });
  await page.getByRole('link', { name: 'Documents' }).or(page.locator('.side a')).first().click();
  await page
    .getByRole('dialog', { name: 'Leave without saving?' })
    .getByRole('button', { name: 'Keep editing' })
    .click();
  expect(await name.inputValue()).toBe('Typed later');
});

test('form that closes after it is saved accepts no input until then', async () => {
  await open('/mail/templates');
  await button('New template').click();
  const dialog = page.getByRole('dialog');
  const subject = dialog.getByLabel('Subject');
  await dialog.getByLabel('Name', { exact: true }).fill('News');
  await subject.fill('Of today');
  await dialog.getByLabel('Text').fill('Hello');
  const sent = Promise.withResolvers<void>();
  const refused = Promise.withResolvers<void>();
  await page.route('**/mail/templates', async (route) => {
    if (route.request().method() !== 'POST') return route.fallback();
    sent.resolve();
    await refused.promise;
    return route.fulfill({ status: 503, json: { code: 'UNAVAILABLE', message: 'Unavailable' } });
  });
  await subject.press('Enter');
  await sent.promise;
  await page.keyboard.type('lost');
  expect(await subject.inputValue()).toBe('Of today');
  refused.resolve();
  await dialog.getByRole('alert').waitFor();
  await page.keyboard.type('!');
  expect(await subject.inputValue()).toContain('!');
});
