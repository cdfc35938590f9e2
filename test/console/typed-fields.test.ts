import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenPage, obstacles, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;
let opened: OpenPage;

beforeAll(async () => {
  const schema = [
    { key: 'title', type: 'String' },
    { key: 'at', type: 'Date' },
    { key: 'tags', type: 'Array', items: { type: 'String' } },
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
  expect(await obstacles(page)).toEqual([]);
  await page.keyboard.press('Control+s');
  await page.getByText('Saved', { exact: true }).last().waitFor();
  await expect.poll(stored).toMatchObject([{ tags: ['new one', 'b', 'c'] }]);
  expect(problems).toEqual([]);
});
