import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenPage, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;
let opened: OpenPage;

beforeAll(async () => {
  [browser, project] = await Promise.all([openChromium(), newProject([{ name: 'posts' }])]);
  await project.api('POST', '/api/data/posts', { body: { title: 'Moving' } });
  opened = await openAs(browser, project.developer, `/projects/${project.id}/documents/posts/transfers`);
});

afterAll(() => browser.close());

test('collection is exported and downloaded in the console, and the export is deleted', async () => {
  const { page, problems } = opened;
  await page.getByRole('button', { name: 'Export' }).click();
  const row = page.getByRole('row').filter({ has: page.getByRole('cell', { name: 'Export', exact: true }) });
  await row.getByText('Done').waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    row.getByRole('button', { name: 'Download' }).click(),
  ]);
  expect(JSON.parse(await text(await download.createReadStream()))).toMatchObject({ title: 'Moving' });
  await row.getByRole('button', { name: 'Remove from this list' }).click();
  await page.getByText('No exports or imports in the last two days.').waitFor();
  expect(problems).toEqual([]);
});

test('double click starts one export', async () => {
  const { page, problems } = opened;
  await page.getByRole('button', { name: 'Export' }).dblclick({ delay: 300 });
  const rows = page.getByRole('row').filter({ has: page.getByRole('cell', { name: 'Export', exact: true }) });
  await rows.getByText('Done').first().waitFor();
  await page.reload();
  await rows.first().waitFor();
  expect(await rows.count()).toBe(1);
  await rows.getByRole('button', { name: 'Remove from this list' }).click();
  await page.getByText('No exports or imports in the last two days.').waitFor();
  expect(problems).toEqual([]);
});

test('import is cancelled in the console while it waits for its file', async () => {
  const { page, problems } = opened;
  const path = `/api/projects/${project.id}/collections/posts/imports`;
  await project.developer.dashboard('POST', path, { format: 'ndjson', upload: true, size: 10 });
  await page.reload();
  const row = page.getByRole('row').filter({ has: page.getByRole('cell', { name: 'Import', exact: true }) });
  await row.getByText('Waiting for the file').waitFor();
  await row.getByRole('button', { name: 'Cancel' }).click();
  await row.getByText('Cancelled').waitFor();
  expect(problems).toEqual([]);
});
