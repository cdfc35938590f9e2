import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenPage, obstacles, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;
let opened: OpenPage;

beforeAll(async () => {
  const posts = { name: 'posts', schema: [{ key: 'author', type: 'String' }] };
  [browser, project] = await Promise.all([openChromium(), newProject([posts])]);
  opened = await openAs(browser, project.developer, `/projects/${project.id}/documents/posts/schema`);
});

afterAll(() => browser.close());

const saved = async () => {
  const path = `/api/projects/${project.id}/collections/posts`;
  return (await project.developer.dashboard<{ data: { rls: object } }>('GET', path)).body.data.rls;
};

test('rules are written, refused with their path, saved with a hint, and tried as a user', async () => {
  const { page } = opened;
  const form = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Row security' }) });
  await form.getByLabel('Users of the app write their own documents').check();
  await form.getByLabel('Who reads').selectOption('rules');
  const editor = form.getByRole('textbox', { name: 'Rules' });
  const save = () => form.getByRole('button', { name: 'Save', exact: true }).click();
  await editor.fill('{"read": {"colour": {"$user": "_id"}}}');
  await save();
  await form.getByText('rules.read.colour', { exact: false }).first().waitFor();
  await editor.fill('no object');
  await save();
  await form.getByText('This must be a JSON object').first().waitFor();
  await editor.fill('{"read": {"author": {"$user": "_id"}}, "create": {"author": {"$user": "_id"}}}');
  await save();
  await page.getByText('Saved. It takes effect').first().waitFor();
  expect(await saved()).toMatchObject({
    mode: 'rules',
    ownerField: null,
    rules: { read: { author: { $user: '_id' } }, create: { author: { $user: '_id' } } },
  });

  const tried = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Try access' }) });
  await tried.getByLabel('Document', { exact: true }).fill(`{"author": "${'a'.repeat(24)}"}`);
  await tried.getByRole('button', { name: 'Try', exact: true }).click();
  await tried.getByText('The answer is 401 TOKEN_MISSING.').waitFor();
  await tried.getByLabel('Id of the user').fill('a'.repeat(24));
  await tried.getByRole('button', { name: 'Try', exact: true }).click();
  await tried.getByText('The answer is 200.').waitFor();
  await tried.getByRole('cell', { name: 'rules.read.author' }).waitFor();
  await tried.getByLabel('Request').selectOption('update');
  await tried.getByLabel('Changes').fill('{"author": "x"}');
  await tried.getByRole('button', { name: 'Try', exact: true }).click();
  await tried.getByText('The answer is 403 RULE_DENIED.').waitFor();
  expect(await obstacles(page)).toEqual([]);
});
