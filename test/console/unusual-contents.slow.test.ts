import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type OpenPage, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { uploadFile } from '../support/fixtures/files.ts';
import { newUsersProject, type UsersProject, users } from '../support/fixtures/users.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: UsersProject;
let opened: OpenPage;

const longName = `p${'osts_'.repeat(12)}`.slice(0, 60);
const longAddress = `ada@${'sub.'.repeat(40)}example.com`;
const arabic = 'مرحبا بالعالم';
/** The ids of the documents, in their order. */
const ids: string[] = [];

beforeAll(async () => {
  [browser, project] = await Promise.all([
    openChromium(),
    newUsersProject({ collection: users, settings: { authEnabled: true, signIn: { anonymous: true } } }),
  ]);
  await project.addCollection({ name: 'posts', schema: [{ key: 'title', type: 'String' }] });
  await project.addCollection({ name: longName });
  for (const title of ['', ' \u200b', arabic]) {
    const { body } = await project.api('POST', '/api/data/posts', { body: { title } });
    ids.push(String(body._id));
  }
  await project.auth('POST', 'anonymous', { body: {} });
  await project.api('POST', '/api/mail/send', { body: { to: longAddress, subject: 'S'.repeat(200), text: 'x' } });
  await uploadFile(project, 'text', 'text/plain');
  opened = await openAs(browser, project.developer, '/', {
    viewport: { width: 390, height: 844 },
    colorScheme: 'dark',
  });
});

afterAll(() => browser.close());

const open = async (path: string): Promise<Page> => {
  await opened.page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}${path}`);
  return opened.page;
};

/** Returns how many pixels of the page and its panel are hidden at the side. */
const hiddenAside = (page: Page) =>
  page.evaluate<number>(`Math.max(0, ...[document.documentElement, ...document.querySelectorAll('section.card, dialog')]
    .map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth))`);

const styleOf = (place: Locator, property: string): Promise<string> =>
  place.evaluate(
    (element, name) => element.ownerDocument.defaultView?.getComputedStyle(element).getPropertyValue(name) ?? '',
    property,
  );

describe('unusual content', () => {
  test('document opens by its id when its text is empty or blank', async () => {
    const page = await open('/documents/posts');
    for (const name of ids.slice(0, 2)) await page.getByRole('link', { name, exact: true }).waitFor();
    await page.getByRole('link', { name: ids[0] ?? '', exact: true }).click();
    await page.locator('dd').getByText('""', { exact: true }).waitFor();
  });

  test('right-to-left text is shown and typed from the right', async () => {
    const page = await open('/documents/posts');
    const cell = page.getByRole('gridcell', { name: arabic });
    expect(await styleOf(cell, 'direction')).toBe('rtl');
    await cell.getByRole('link').click();
    await page.getByRole('button', { name: 'Edit' }).click();
    expect(await styleOf(page.getByRole('textbox', { name: 'title' }), 'direction')).toBe('rtl');
  });

  test('page behind the end shows a message and a way back to the last page', async () => {
    const page = await open('/documents/posts?page=9');
    await page.getByText('No more results.').waitFor();
    await page.getByText('None of 3').waitFor();
    await page.getByRole('button', { name: 'Previous page' }).click();
    await page.getByText('1–3 of 3').waitFor();
    await open('/users?page=9');
    await page.getByText('No more results.').waitFor();
  });

  test('404 for a deleted collection leaves no rows loading', async () => {
    const page = await open('/documents/gone');
    await page.getByText('COLLECTION_NOT_FOUND').waitFor();
    await expect.poll(() => page.locator('.waiting').count()).toBe(0);
  });

  test('user without an email address is shown, edited and deleted by id', async () => {
    const page = await open('/users');
    await page.getByRole('cell', { name: 'Anonymous' }).click();
    await page.waitForURL(/[?&]open=/);
    const id = new URL(page.url()).searchParams.get('open') ?? '';
    await page.getByRole('heading', { name: id }).waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill(id);
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No users yet').waitFor();
    expect(opened.problems).toEqual([]);
  });

  test('longest names and addresses fit a phone screen', async () => {
    const page = await open(`/documents/${longName}`);
    await page.getByText('No documents yet.').waitFor();
    expect(await hiddenAside(page)).toBe(0);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill(longName);
    await page.getByRole('option').first().waitFor();
    expect(await hiddenAside(page)).toBe(0);
    await open('/mail/logs');
    await page.getByRole('link', { name: /^S+$/ }).click();
    await page.getByRole('region', { name: /^S+$/ }).getByText(longAddress).first().waitFor();
    expect(await hiddenAside(page)).toBe(0);
    const shut = await page.getByRole('button', { name: 'Close' }).boundingBox();
    expect(shut?.x).toBeGreaterThan(390 / 2);
  });

  test('text file has the colors of the page in the dark theme', async () => {
    const page = await open('/files');
    await page.getByRole('link', { name: 'notes.txt' }).click();
    const text = page.getByRole('region', { name: 'What is in notes.txt' });
    expect(await styleOf(text, 'color')).toBe(await styleOf(page.getByRole('main'), 'color'));
  });
});
