import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenPage, obstacles, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;
let opened: OpenPage;
let page: Page;
let author: string;
let path: string;

beforeAll(async () => {
  [browser, project] = await Promise.all([
    openChromium(),
    newProject([
      {
        name: 'people',
        schema: [
          { key: 'city', type: 'String' },
          { key: 'name', type: 'String' },
        ],
      },
      {
        name: 'posts',
        schema: [
          { key: 'title', type: 'String' },
          { key: 'author', type: 'Ref', ref: 'people' },
          { key: 'readers', type: 'Array', items: { type: 'Ref', ref: 'people' } },
        ],
      },
    ]),
  ]);
  const made = await project.api<{ _id: string }>('POST', '/api/data/people', {
    body: { city: 'London', name: 'Ada' },
  });
  author = made.body._id;
  for (const title of ['one', 'two'])
    await project.api('POST', '/api/data/posts', { body: { title, author, readers: [author] } });
  path = `/projects/${project.id}/documents/posts`;
  opened = await openAs(browser, project.developer, path);
  page = opened.page;
});

afterAll(() => browser.close());

const heads = async (): Promise<readonly string[]> =>
  (await page.locator('thead .sort').allTextContents()).map((text) => text.trim());

test('references show the title of their document, in one request a page, and its fields under the pointer', async () => {
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/collections/people/documents?')) asked.push(request.url());
  });
  await page.reload();
  const link = page.getByRole('link', { name: 'Ada' }).first();
  await link.waitFor();
  expect(await page.getByRole('link', { name: 'Ada' }).count()).toBe(2);
  expect(asked).toHaveLength(1);
  await link.hover();
  await page.getByRole('tooltip').getByText('London').waitFor();
  expect(await obstacles(page)).toEqual([]);
  await page.mouse.move(0, 0);
  await page.getByRole('tooltip').waitFor({ state: 'detached' });
  expect(opened.problems).toEqual([]);
});

test('a document lists how many refer to it, by field, as links to their lists', async () => {
  await page.goto(new URL(`/projects/${project.id}/documents/people?open=${author}`, page.url()).href);
  const list = page.getByRole('region', { name: 'Documents that refer to this' });
  await expect
    .poll(() => list.getByRole('listitem').allTextContents())
    .toEqual(['posts · author 2', 'posts · readers 2']);
  expect(await obstacles(page)).toEqual([]);
  await list.getByRole('link', { name: 'posts · readers' }).click();
  await page.getByRole('link', { name: 'two' }).waitFor();
  await page.getByText('1–2 of 2').waitFor();
});

test('a pasted id finds its document with any filter, and other words show a hint', async () => {
  const { body } = await project.api<{ data: { items: { _id: string }[] } }>('GET', '/api/data/posts?title=one');
  await page.goto(new URL(`${path}?title=two`, page.url()).href);
  await page.getByRole('link', { name: 'two' }).waitFor();
  const box = page.getByRole('searchbox', { name: 'Find by id' });
  await box.fill('one');
  await page.keyboard.press('Enter');
  await page.getByText('No field is searchable.').waitFor();
  await box.fill(body.data.items[0]?._id ?? '');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'one' }).waitFor();
  await page.getByText('1–1 of 1').waitFor();
});

test('columns are moved and resized by key and by pointer, the first one is frozen, and all of it is kept', async () => {
  await page.goto(new URL(path, page.url()).href);
  await page.getByRole('link', { name: 'one' }).waitFor();
  expect(await heads()).toEqual(['title', 'author', 'readers', 'createdAt']);
  await page.getByRole('button', { name: 'author' }).focus();
  await page.keyboard.press('Alt+ArrowRight');
  await expect.poll(heads).toEqual(['title', 'readers', 'author', 'createdAt']);
  await expect.poll(() => page.locator(':focus').textContent()).toContain('author');
  await page.getByRole('button', { name: 'createdAt' }).dragTo(page.getByRole('button', { name: 'readers' }));
  await expect.poll(heads).toEqual(['title', 'createdAt', 'readers', 'author']);
  const width = async (name: string) => (await page.getByRole('columnheader', { name }).boundingBox())?.width ?? 0;
  const before = Math.round(await width('title'));
  await page.getByRole('button', { name: 'title' }).focus();
  await page.keyboard.press('Shift+ArrowRight');
  await expect.poll(async () => Math.round(await width('title'))).toBeGreaterThanOrEqual(before + 16);
  const edge = await page.getByRole('columnheader', { name: 'readers' }).boundingBox();
  if (!edge) throw new Error('There is no column.');
  await page.mouse.move(edge.x + edge.width - 3, edge.y + edge.height / 2);
  await page.mouse.down();
  await page.mouse.move(edge.x + 300, edge.y + edge.height / 2, { steps: 4 });
  await page.mouse.up();
  await expect.poll(async () => Math.round(await width('readers'))).toBeGreaterThan(280);
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('checkbox', { name: 'Freeze the first column' }).check();
  await page.keyboard.press('Escape');
  await page.reload();
  await page.getByRole('link', { name: 'one' }).waitFor();
  expect(await heads()).toEqual(['title', 'createdAt', 'readers', 'author']);
  expect(Math.round(await width('readers'))).toBeGreaterThan(280);
  expect(await page.locator('.table-box.frozen').count()).toBe(1);
  expect(await obstacles(page)).toEqual([]);
});

test('the panel is as wide as its line was moved, also after a reload', async () => {
  await page.getByRole('link', { name: 'one' }).click();
  const line = page.getByRole('separator', { name: 'Width of the document' });
  await line.focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => line.getAttribute('aria-valuenow')).toBe('40');
  await page.reload();
  await expect.poll(() => line.getAttribute('aria-valuenow')).toBe('40');
  expect(await obstacles(page)).toEqual([]);
  expect(opened.problems).toEqual([]);
});
