import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type OpenPage, obstacles, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newUsersProject, type SignIn, type UsersProject } from '../support/fixtures/users.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: UsersProject;
let mia: SignIn & { readonly email: string };
let opened: OpenPage;

beforeAll(async () => {
  [browser, project] = await Promise.all([openChromium(), newUsersProject()]);
  mia = await project.newUser();
  const schema = [
    { key: 'title', type: 'String' },
    { key: 'cost', type: 'Number', read: 'server' },
  ];
  await project.addCollection({ name: 'notes', schema, rls: { enabled: true, mode: 'private' } });
  await project.addCollection({ name: 'posts', schema, changes: true });
  const documents = [
    { title: 'Hers', cost: 31, userId: mia.userId },
    { title: 'Another', cost: 32, userId: '6743f0c2a91b5d0012ab34cd' },
  ];
  for (const name of ['notes', 'posts'])
    expect((await project.api('POST', `/api/data/${name}/bulk`, { body: documents })).status).toBe(201);
  opened = await openAs(browser, project.developer, `/projects/${project.id}`);
});

afterAll(() => browser.close());

const open = (path: string) => opened.page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}${path}`);

const viewAs = async (choice: string) => {
  await opened.page.getByTitle('View as').first().click();
  await opened.page.getByRole('button', { name: choice }).click();
};

test('the list shows what a user gets, without any way to change it', async () => {
  const { page, problems } = opened;
  await open('/documents/notes');
  await page.getByRole('link', { name: 'Another' }).waitFor();
  await viewAs('A user…');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('combobox').fill(mia.email);
  await dialog.getByRole('option', { name: mia.email }).click();
  await page.getByText(`Viewing as ${mia.email}`).waitFor();
  expect(new URL(page.url()).searchParams.get('as')).toBe(mia.userId);
  await page.getByRole('link', { name: 'Hers' }).waitFor();
  await expect.poll(() => page.getByRole('link', { name: 'Another' }).count()).toBe(0);
  expect(await page.getByText('31', { exact: true }).count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Insert' }).count()).toBe(0);
  expect(await page.getByRole('checkbox').count()).toBe(0);
  await page.getByRole('link', { name: 'Hers' }).click();
  const panel = page.locator('section.card').filter({ hasText: 'createdAt' });
  await panel.waitFor();
  expect(await panel.getByRole('button', { name: 'Edit' }).count()).toBe(0);
  await page.keyboard.press('e');
  expect(await panel.getByRole('textbox').count()).toBe(0);
  expect(await obstacles(page)).toEqual([]);
  expect(await page.getByRole('link', { name: 'Try a write' }).getAttribute('href')).toMatch(
    /\/access\?operation=update&user=[0-9a-f]{24}$/,
  );
  await page.getByRole('link', { name: 'Stop' }).click();
  await page.getByRole('link', { name: 'Another' }).waitFor();
  await page.getByRole('button', { name: 'Insert' }).waitFor();
  expect(problems).toEqual([]);
});

test('401 TOKEN_MISSING is shown when a signed-out visitor may list nothing, and the session stays', async () => {
  const { page, problems } = opened;
  await open('/documents/notes');
  await page.getByRole('link', { name: 'Another' }).waitFor();
  await viewAs('Signed out');
  await page.getByText('Viewing as a signed-out visitor').waitFor();
  await page.getByText('TOKEN_MISSING').waitFor();
  await open('/documents/posts?as=publishable');
  await page.getByRole('link', { name: 'Another' }).waitFor();
  expect(await page.getByText('32', { exact: true }).count()).toBe(0);
  expect(problems).toEqual([]);
});

test('the overview of access lists the most public collections first and leads to their access', async () => {
  const { page, problems } = opened;
  await open('/access');
  const rows = page.locator('main tbody tr');
  await rows.filter({ hasText: 'posts' }).waitFor();
  expect(await rows.locator('td:first-child').allTextContents()).toEqual(['posts', 'notes', 'users']);
  expect(await rows.first().textContent()).toMatch(/⚠ Everyone.*Only your server.*Reads.*On.*Everyone/);
  expect(await rows.nth(1).textContent()).toMatch(
    /The owner.*Signed-in users: insert.*The owner: update, delete.*Nothing/,
  );
  await page.locator('main').getByRole('link', { name: 'notes' }).click();
  await page.getByText('Who may use these documents?').waitFor();
  expect(problems).toEqual([]);
});

test('the API page sends a request as the chosen caller, which the address keeps', async () => {
  const { page, problems } = opened;
  await open('/api?collection=notes&open=list-documents');
  const caller = page.getByLabel('Send with');
  await expect.poll(() => caller.inputValue()).toBe('user');
  await page.getByLabel('Access token of a user').fill(mia.accessToken);
  await page.getByRole('button', { name: 'Send GET' }).click();
  await page.getByRole('region', { name: 'Response' }).getByText('"Hers"').waitFor();
  await caller.selectOption('publishable');
  await expect.poll(() => new URL(page.url()).searchParams.get('as')).toBe('publishable');
  await page.getByRole('button', { name: 'Send GET' }).click();
  await page.getByText('TOKEN_MISSING').waitFor();
  expect(problems).toEqual([]);
});
