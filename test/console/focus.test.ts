import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { type OpenPage, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newUsersProject, type UsersProject } from '../support/fixtures/users.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: UsersProject;
let opened: OpenPage;
let id: string;

const schema = [
  { key: 'title', type: 'String', required: true, unique: true },
  ...Array.from({ length: 20 }, (_, at) => ({ key: `text${at}`, type: 'String' })),
  { key: 'views', type: 'Number' },
];

beforeAll(async () => {
  [browser, project] = await Promise.all([openChromium(), newUsersProject()]);
  await project.addCollection({ name: 'posts', schema });
  const { body } = await project.api<{ _id: string }>('POST', '/api/data/posts', { body: { title: 'Hello' } });
  id = body._id;
  opened = await openAs(browser, project.developer, '/');
});

afterAll(() => browser.close());

const open = async (path: string) => {
  await opened.page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}${path}`);
  await opened.page.locator('main tbody a').first().waitFor();
};

beforeEach(() => open('/documents/posts'));

/** Waits until the element has the focus. */
const isFocused = (role: Parameters<OpenPage['page']['getByRole']>[0], name: string) =>
  expect
    .poll(() =>
      opened.page
        .getByRole(role, { name, exact: true })
        .evaluateAll((found) => found.some((one) => one.matches(':focus'))),
    )
    .toBe(true);

test('focus moves to the first field of a new document, and back on Escape', async () => {
  const { page } = opened;
  for (const key of ['j', 'n']) await page.keyboard.press(key);
  await isFocused('textbox', 'title');
  await page.keyboard.press('Escape');
  await isFocused('link', 'Hello');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Edit', exact: true }).waitFor();
  await page.keyboard.press('e');
  await isFocused('textbox', 'title');
  await page.getByRole('button', { name: 'Cancel' }).press('Enter');
  await isFocused('region', 'Hello');
  await page.keyboard.press('Escape');
  await page.getByRole('region', { name: 'Hello' }).waitFor({ state: 'detached' });
  await isFocused('link', 'Hello');
});

test('400 VALIDATION_FAILED moves the focus to the first wrong field, and other errors are visible', async () => {
  const { page } = opened;
  await page.keyboard.press('n');
  await page.getByRole('textbox', { name: 'title' }).fill('Another');
  await page.getByRole('textbox', { name: 'views' }).fill('many');
  await page.getByRole('region').getByRole('button', { name: 'Insert' }).press('Enter');
  await isFocused('textbox', 'views');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('3');
  const docUrl = 'https://console.example.com/docs/reference/errors#internal_error';
  const json = { success: false, message: 'Not now', code: 'INTERNAL_ERROR', requestId: 'r', docUrl };
  const refused = { status: 500, json };
  await page.route('**/documents', (route) =>
    route.request().method() === 'POST' ? route.fulfill(refused) : route.continue(),
  );
  await page.getByRole('textbox', { name: 'title' }).press('ControlOrMeta+s');
  const refusal = page.getByRole('alert').filter({ hasText: 'INTERNAL_ERROR' });
  await refusal.waitFor();
  expect(await refusal.getByRole('link', { name: 'Read more' }).getAttribute('href')).toBe(docUrl);
  const { y = 0, height = 0 } = (await refusal.boundingBox()) ?? {};
  expect(y).toBeGreaterThan(0);
  expect(y + height).toBeLessThan(900);
  await page.unroute('**/documents');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Discard changes' }).click();
});

test('412 REVISION_MISMATCH moves the focus to the first choice', async () => {
  const { page } = opened;
  for (const key of ['j', 'Enter']) await page.keyboard.press(key);
  await page.getByRole('button', { name: 'Edit', exact: true }).press('Enter');
  await page.getByRole('textbox', { name: 'text1', exact: true }).fill('mine');
  await project.api('PATCH', `/api/data/posts/${id}`, { body: { text1: 'theirs' } });
  await page.keyboard.press('ControlOrMeta+s');
  await isFocused('radio', 'Mine mine');
  await page.getByRole('radio', { name: 'Mine mine' }).check();
  await page.keyboard.press('ControlOrMeta+s');
  await isFocused('region', 'Hello');
});

test('focus stays on the user when a session is ended, and returns to the row on Escape', async () => {
  const { page, problems } = opened;
  const { email } = await project.newUser();
  await open('/users');
  for (const key of ['j', 'Enter']) await page.keyboard.press(key);
  await page.getByRole('button', { name: 'End', exact: true }).press('Enter');
  await page.getByText('Not signed in anywhere.').waitFor();
  await isFocused('region', email);
  await page.keyboard.press('Escape');
  await isFocused('link', email);
  expect(problems).toEqual([]);
});
