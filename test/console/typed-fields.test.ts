import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenPage, obstacles, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { uploadFile } from '../support/fixtures/files.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;
let opened: OpenPage;

beforeAll(async () => {
  const schema = [
    { key: 'title', type: 'String', unique: true },
    { key: 'at', type: 'Date' },
    { key: 'tags', type: 'Array', items: { type: 'String' } },
    { key: 'photo', type: 'String' },
  ];
  [browser, project] = await Promise.all([openChromium(), newProject([{ name: 'events', schema }])]);
  await project.api('POST', '/api/data/events', {
    body: { title: 'Fair', at: '2026-07-01T10:00:00.250Z', tags: ['a'] },
  });
  opened = await openAs(browser, project.developer, `/projects/${project.id}/documents/events`, {
    timezoneId: 'Asia/Kolkata',
  });
});

afterAll(() => browser.close());

const stored = async () =>
  (await project.api<{ data: { items: readonly Record<string, unknown>[] } }>('GET', '/api/data/events')).body.data
    .items;

test('a date is chosen in the time zone of the reader, which is named, and stored in UTC', async () => {
  const { page, problems } = opened;
  await page.getByRole('link', { name: 'Fair' }).click();
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const at = page.locator('form').getByLabel('at', { exact: true });
  await expect.poll(() => at.inputValue()).toBe('2026-07-01T15:30:00.25');
  await page.getByText('String · unique', { exact: true }).waitFor();
  await page.getByText(/time in Asia\/(Kolkata|Calcutta)/).waitFor();
  expect(await obstacles(page)).toEqual([]);
  await at.fill('2026-07-02T08:00');
  await page.keyboard.press('Control+s');
  await page.getByText('Saved', { exact: true }).waitFor();
  expect(await stored()).toMatchObject([{ at: '2026-07-02T02:30:00.000Z' }]);
  expect(problems).toEqual([]);
});

test('tags are added by Enter and comma, removed by their button and by Backspace', async () => {
  const { page, problems } = opened;
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const tags = page.locator('form').getByLabel('tags', { exact: true });
  await tags.fill('new one');
  await page.keyboard.press('Enter');
  await tags.pressSequentially('b,c,d');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Backspace');
  await page.getByRole('button', { name: 'Remove a from tags' }).click();
  // Tab adds one, too, and the focus moves to the next control.
  await tags.fill('by tab');
  await page.keyboard.press('Tab');
  await page.getByText('by tab').first().waitFor();
  await expect.poll(() => page.locator('form :focus').count()).toBe(1);
  await page.getByRole('button', { name: 'Remove by tab from tags' }).click();
  expect(await obstacles(page)).toEqual([]);
  await page.keyboard.press('Control+s');
  await page.getByText('Saved', { exact: true }).last().waitFor();
  await expect.poll(stored).toMatchObject([{ tags: ['new one', 'b', 'c'] }]);
  expect(problems).toEqual([]);
});

test('a file is chosen by a part of its name, and its path becomes the value', async () => {
  const { page, problems } = opened;
  const { path } = await uploadFile(project, 'Notes of the fair', 'text/plain', { filename: 'Fair notes.txt' });
  await uploadFile(project, 'Another', 'text/plain', { filename: 'terms.txt' });
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const photo = page.locator('form').getByLabel('photo', { exact: true });
  await page.getByRole('button', { name: 'Choose', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Choose a file' });
  await dialog.getByRole('option').nth(1).waitFor();
  await dialog.getByRole('combobox').fill('NOTES');
  await dialog.getByRole('option', { name: 'terms.txt' }).waitFor({ state: 'detached' });
  await dialog.getByRole('option', { name: 'Fair notes.txt 17 B' }).waitFor();
  expect(await obstacles(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(() => photo.inputValue()).toBe(path);
  await page.keyboard.press('Control+s');
  await expect.poll(stored).toMatchObject([{ photo: path }]);
  // The path of a file offers another choice.
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await page.getByRole('button', { name: 'Choose', exact: true }).click();
  await dialog.getByRole('combobox').fill('no such file');
  await dialog.getByText('No matches').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(await photo.inputValue()).toBe(path);
  expect(problems).toEqual([]);
});
