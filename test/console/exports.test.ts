import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenPage, obstacles, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;
let opened: OpenPage;

const base = () => `/projects/${project.id}/documents/posts`;

beforeAll(async () => {
  [browser, project] = await Promise.all([
    openChromium(),
    newProject([
      {
        name: 'posts',
        schema: [
          { key: 'title', type: 'String', searchable: true },
          { key: 'views', type: 'Number' },
          { key: 'meta', type: 'Object', fields: [{ key: 'source', type: 'String' }] },
        ],
      },
    ]),
  ]);
  const documents = Array.from({ length: 60 }, (_, views) => ({
    title: `=post ${views}`,
    views,
    meta: { source: 'x' },
  }));
  await project.api('POST', '/api/data/posts/bulk', { body: documents });
  const where = encodeURIComponent('{"views":{"$gte":5}}');
  opened = await openAs(browser, project.developer, `${base()}?where=${where}&columns=views,title&sort=-views`);
});

afterAll(() => browser.close());

test('what the filter shows is exported with the chosen columns, past the page', async () => {
  const { page, problems } = opened;
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Export' });
  await dialog.getByText('55 documents that match the filter, in the order of the list.').waitFor();
  expect(await obstacles(page)).toEqual([]);
  await dialog.getByRole('checkbox', { name: 'meta.source', exact: true }).check();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Export', exact: true }).click(),
  ]);
  const path = await download.path();
  expect((await readFile(path)).subarray(0, 3)).toEqual(Buffer.from('\ufeff'));
  const lines = (await text(await download.createReadStream())).trimEnd().split('\n');
  expect(lines).toHaveLength(56);
  expect(lines.slice(0, 2)).toEqual(['views,title,meta.source', "59,'=post 59,x"]);
  await page.getByText('55 documents exported').waitFor();
  await dialog.waitFor({ state: 'detached' });
  expect(problems).toEqual([]);
});

test('all fields are exported as NDJSON', async () => {
  const { page, problems } = opened;
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Export' });
  await dialog.getByLabel('Format').selectOption('ndjson');
  await dialog.getByRole('checkbox', { name: 'All fields' }).check();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Export', exact: true }).click(),
  ]);
  const [first = ''] = (await text(await download.createReadStream())).split('\n');
  expect(JSON.parse(first)).toMatchObject({ title: '=post 59', views: 59, meta: { source: 'x' } });
  await dialog.waitFor({ state: 'detached' });
  expect(problems).toEqual([]);
});

test('search words are rejected with advice', async () => {
  const { page } = opened;
  await page.goto(new URL(`${base()}?search=post`, page.url()).href);
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Export' });
  await dialog.getByText('Search words cannot be exported.').waitFor();
  expect(await dialog.getByRole('button', { name: 'Export', exact: true }).isDisabled()).toBe(true);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
});
