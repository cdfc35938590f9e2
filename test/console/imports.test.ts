import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenPage, obstacles, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;
let opened: OpenPage;

beforeAll(async () => {
  browser = await openChromium();
  project = await newProject([{ name: 'notes' }]);
  opened = await openAs(browser, project.developer, `/projects/${project.id}/documents/notes/transfers`);
});

afterAll(() => browser.close());

test('import keeps the ids in a file and replaces the documents that have them', async () => {
  const { page, problems } = opened;
  const made = await project.api<{ _id: string }>('POST', '/api/data/notes', { body: { text: 'before' } });
  const { _id } = made.body;
  const buffer = Buffer.from(`${JSON.stringify({ _id, text: 'after' })}\n{"text":"new"}\n[]`);
  await page.getByRole('button', { name: 'Import' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('File').setInputFiles([{ name: 'notes.ndjson', mimeType: '', buffer }]);
  await dialog.getByLabel('Ids').selectOption('replace');
  expect(await obstacles(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Import' }).click();
  await page.getByText('2 imported · 1 rejected').waitFor();
  const documents = await page.getByRole('link', { name: '2 imported' }).getAttribute('href');
  expect(page.url()).toContain(`${documents}/transfers`);
  await page.getByText('Import · notes.ndjson').waitFor();
  const { body } = await project.api('GET', `/api/data/notes/${_id}`);
  expect(body).toMatchObject({ text: 'after' });
  expect(problems).toEqual([]);
});

test('import fails and shows the reason in a dialog when it stores nothing', async () => {
  const { page, problems } = opened;
  const importFile = async (name: string, text: string) => {
    await page.getByRole('button', { name: 'Import' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('File').setInputFiles([{ name, mimeType: '', buffer: Buffer.from(text) }]);
    await dialog.getByRole('button', { name: 'Import' }).click();
    return dialog;
  };
  const empty = await importFile('empty.csv', '');
  await empty.getByText('The file is empty.').waitFor();
  await empty.getByRole('button', { name: 'Cancel' }).click();
  await importFile('wrong.tsv', 'a\tb\n1\n');
  const row = page.getByRole('row').filter({ hasText: 'Import · wrong.tsv' });
  await row.getByText('Failed').waitFor();
  await row.getByRole('button', { name: 'Why' }).click();
  await page.getByRole('dialog').getByText('Nothing was imported: its only line was rejected.').waitFor();
  expect(problems).toEqual([]);
});

test('import of a CSV file adds the columns with numbers that the schema lacks, and reads their decimal commas', async () => {
  const { page, problems } = opened;
  await page.reload();
  await page.getByRole('button', { name: 'Import' }).click();
  const dialog = page.getByRole('dialog');
  const buffer = Buffer.from('text;hours\nPaint;1,25\n');
  await dialog.getByLabel('File').setInputFiles([{ name: 'hours.csv', mimeType: '', buffer }]);
  await dialog.getByRole('checkbox', { name: 'Add to the schema: hours (Number)' }).waitFor();
  await dialog.getByRole('button', { name: 'Import' }).click();
  await page.getByRole('row').filter({ hasText: 'Import · hours.csv' }).getByText('1 imported').waitFor();
  const { body } = await project.api<{ data: { items: unknown } }>('GET', '/api/data/notes?text=Paint');
  expect(body.data.items).toMatchObject([{ text: 'Paint', hours: 1.25 }]);
  expect(problems).toEqual([]);
});
