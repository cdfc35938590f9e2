import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { type OpenPage, openChromium } from '../support/clients/chromium.ts';
import { confirmAct, openAs, withAssistant } from '../support/clients/console-page.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;
let opened: OpenPage;
let page: Page;

beforeAll(async () => {
  [browser, project] = await Promise.all([openChromium(), newProject([{ name: 'posts' }])]);
  opened = await openAs(browser, project.developer, '/');
  page = opened.page;
});

afterAll(() => browser.close());

beforeEach(() => {
  opened.problems.length = 0;
});

const urlOf = (path: string) => `${inject('stack').dashboardUrl}/projects/${project.id}${path}`;
const open = (path: string) => page.goto(urlOf(path));
const button = (name: string, within: Pick<Page, 'getByRole'> = page) =>
  within.getByRole('button', { name, exact: true });
const dialog = () => page.getByRole('dialog');
const row = (text: string) => page.getByRole('row').filter({ hasText: text });

describe('actions on a collection', () => {
  test('index is built and deleted, and a field is added to the schema', async () => {
    await open('/documents/posts/indexes');
    await page.getByLabel('Fields').fill('views');
    await button('Build').click();
    await row('views').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No custom indexes.').waitFor();
    await open('/documents/posts/schema');
    await button('Add a field').click();
    await page.getByLabel('Name of field 1').fill('title');
    await button('Save').first().click();
    await page.getByText('Schema saved.').waitFor();
    expect(opened.problems).toEqual([]);
  });

  test('changes feed is switched on and off', async () => {
    const feed = page.getByRole('checkbox', { name: 'Record changes for syncing' });
    const since = () => project.api('GET', '/api/data/posts/changes');
    for (const [changes, text] of [
      [true, 'Apps can list every change'],
      [false, 'Apps must list the documents again'],
    ] as const) {
      await open('/documents/posts/schema');
      await feed.setChecked(changes);
      await page.getByText(text).waitFor();
      await button('Save').first().click();
      await page.getByText('Schema saved.').waitFor();
      await page.reload();
      await feed.waitFor();
      await page.getByText(text).waitFor();
      await expect.poll(() => feed.isChecked()).toBe(changes);
      await expect.poll(async () => (await since()).status).toBe(changes ? 200 : 409);
    }
    expect(opened.problems).toEqual([]);
  });

  test('documents are deleted permanently, one of them alone and then all', async () => {
    for (const title of ['one', 'two']) {
      const { body } = await project.api<{ _id: string }>('POST', '/api/data/posts', { body: { title } });
      await project.api('DELETE', `/api/data/posts/${body._id}`);
    }
    await open('/documents/posts/trash');
    expect(await row('one').getByRole('cell').first().textContent()).toBe('one');
    const one = await row('one').getByRole('cell').nth(1).textContent();
    await row('one').getByRole('button', { name: 'Delete permanently' }).click();
    await dialog().getByRole('textbox').fill('two');
    await button('Delete permanently', dialog()).click();
    await dialog().getByRole('alert').getByText('That is not the name.').waitFor();
    await confirmAct(page, 'Delete permanently', one ?? '');
    await row('one').waitFor({ state: 'detached' });
    await button('Empty the trash').click();
    await dialog()
      .getByLabel(/^Type the (?:collection|project) name/)
      .fill('posts');
    await button('Empty the trash', dialog()).click();
    await page.getByText('The trash is empty.').waitFor();
    await button('Empty the trash').waitFor({ state: 'detached' });
    expect(opened.problems).toEqual([]);
  });

  test('schema is suggested, then the collection and the project are deleted', async () => {
    await withAssistant(page);
    await open('/new-collection');
    await page.getByLabel('What is it for?').fill('A shop');
    const proposed = page.waitForResponse((answer) => answer.url().endsWith('/schema-assistant'));
    await button('Suggest').click();
    await proposed;
    await open('/documents/posts/schema');
    await button('Delete the collection').click();
    await dialog()
      .getByLabel(/^Type the (?:collection|project) name/)
      .fill('posts');
    await button('Delete', dialog()).click();
    await page.waitForURL(urlOf(''));
    await open('/settings/general');
    await button('Delete the project').click();
    await dialog()
      .getByLabel(/^Type the (?:collection|project) name/)
      .fill('test project');
    await button('Delete the project', dialog()).click();
    await page.getByText('A project holds one app').waitFor();
    expect(opened.problems).toEqual([]);
  });
});
