import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newUsersProject, type UsersProject } from '../support/fixtures/users.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: UsersProject;
let page: Page;

beforeAll(async () => {
  [browser, project] = await Promise.all([openChromium(), newUsersProject()]);
  page = (await openAs(browser, project.developer, `/projects/${project.id}/new-collection`)).page;
});

afterAll(() => browser.close());

const option = (label: string, name: string) => page.getByLabel(`${label}, ${name}`, { exact: true });

const addField = async (place: number, key: string) => {
  await page.getByRole('button', { name: 'Add a field', exact: true }).click();
  await page.getByLabel(`Name of field ${place}`, { exact: true }).fill(key);
  await page.getByRole('button', { name: `Options of ${key}` }).click();
};

test('write and read rights of a field are chosen from a list or typed as a rule', async () => {
  await page.getByLabel('Name', { exact: true }).fill('products');
  await addField(1, 'price');
  await option('Who sets it', 'price').selectOption('Only the server');
  await addField(2, 'sku');
  await option('Who sets it', 'sku').selectOption('Users, one time');
  await option('Who sees it', 'sku').selectOption('Only the server');
  await addField(3, 'grade');
  await option('Who sees it', 'grade').selectOption('A rule …');
  await option('Who sees it: Rule, as JSON', 'grade').fill('{"$user":');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('alert').getByText('The rule of grade is not valid JSON').waitFor();
  await option('Who sees it: Rule, as JSON', 'grade').fill('{"$user":{"emailVerified":true}}');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('heading', { name: 'products' }).waitFor();
  const path = `/api/projects/${project.id}/collections/products`;
  const { body } = await project.developer.dashboard<{ data: { schema: unknown } }>('GET', path);
  expect(body.data.schema).toMatchObject([
    { key: 'price', write: 'server' },
    { key: 'sku', write: 'create', read: 'server' },
    { key: 'grade', read: { $user: { emailVerified: true } } },
  ]);
});

test('users schema shows a warning when users can set a role or everyone can read an address', async () => {
  await page.goto(new URL(`/projects/${project.id}/documents/users/schema`, page.url()).href);
  await page.getByText('Users can set "role" themselves.').waitFor();
  await page.getByText('Everyone can see "address" of each user.').waitFor();
});
