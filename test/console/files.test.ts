import type { Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OpenPage, obstacles, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { confirm, pixel, request, uploaded } from '../support/fixtures/files.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;
let opened: OpenPage;

beforeAll(async () => {
  browser = await openChromium();
  project = await newProject();
  opened = await openAs(browser, project.developer, `/projects/${project.id}/files`, {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
});

afterAll(() => browser.close());

const fileOf = (name: string, mimeType: string, content: string | Buffer) => ({
  name,
  mimeType,
  buffer: Buffer.from(content),
});

/** Returns a page script that drops a file as a browser does. */
const dropped = (name: string, content: string): string => `(() => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([${JSON.stringify(content)}], ${JSON.stringify(name)}, { type: 'text/plain' }));
  document.querySelector('.drop-zone').dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
})()`;

describe('files in the console', () => {
  test('are private from the start when this is chosen before the upload', async () => {
    const own = await newProject();
    const { page, problems } = await openAs(browser, own.developer, `/projects/${own.id}/files`);
    await page.getByLabel('Who can open them').selectOption('Private: only by a signed link');
    await page.locator('input[type=file]').setInputFiles([fileOf('secret.txt', 'text/plain', 'for few')]);
    await page.getByRole('link', { name: 'secret.txt' }).click();
    await page.getByRole('region', { name: 'secret.txt' }).getByText('Private Only a signed link opens it').waitFor();
    await page.getByRole('button', { name: 'Copy private link' }).waitFor();
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('are uploaded together when several are chosen, and rejected files show why', async () => {
    const { page, problems } = opened;
    await page.getByText('No files yet.').waitFor();
    await page
      .locator('input[type=file]')
      .setInputFiles([
        fileOf('dot.png', 'image/png', pixel),
        fileOf('<b>note.txt', 'text/plain', 'It stands <b>here</b>'),
        fileOf('table.csv', 'text/csv', 'name,price\nfern,25'),
        fileOf('page.html', 'text/html', '<script>top.document.title = "run"</script>'),
        fileOf('empty.txt', 'text/plain', ''),
        fileOf('large.bin', '', Buffer.alloc(10 * 1024 * 1024 + 1)),
      ]);
    await page.getByRole('alert').getByText('must be at least 1').waitFor();
    await page.getByRole('alert').getByText('A file can have at most 10 MiB').waitFor();
    for (const name of ['dot.png', '<b>note.txt', 'table.csv', 'page.html'])
      await page.getByRole('link', { name }).waitFor();
    await page.getByRole('status').getByText('4 files uploaded').waitFor();
    expect(await page.getByRole('list', { name: 'Uploads' }).getByRole('listitem').count()).toBe(2);
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('are uploaded when they are dropped on the page', async () => {
    const { page, problems } = opened;
    await page.evaluate(dropped('dropped.txt', 'Dropped'));
    await page.getByRole('link', { name: 'dropped.txt' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('show a preview of images and text, and no preview of HTML pages', async () => {
    const { page, problems } = opened;
    await page.getByRole('link', { name: 'dot.png' }).click();
    const picture = page.getByRole('img', { name: 'dot.png' });
    await picture.waitFor();
    await page.getByText('Anyone who has its address can open it.').waitFor();
    await expect.poll(() => page.evaluate('document.querySelector("img.picture").naturalWidth')).toBe(1);
    const asked = await page.evaluate('[...document.querySelectorAll("img")].map(({ src }) => new URL(src).search)');
    expect(asked).toEqual(['?w=320&h=256', '?w=640']);
    await page.getByRole('button', { name: 'Copy a size' }).click();
    const last = await page.getByRole('button', { name: '1,280 px wide' }).boundingBox();
    expect(last && last.y + last.height).toBeLessThanOrEqual(900);
    await page.getByRole('button', { name: '320 px wide' }).click();
    await page.getByText('Link copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/_dot\.png\?w=320$/);
    for (const [name, text] of [
      ['<b>note.txt', 'It stands <b>here</b>'],
      ['table.csv', 'name,price\nfern,25'],
    ] as const) {
      await page.getByRole('link', { name }).click();
      await expect.poll(() => page.getByRole('region', { name: `What is in ${name}` }).textContent()).toBe(text);
    }
    await page.getByRole('link', { name: 'page.html' }).click();
    await page.getByText('No preview').waitFor();
    expect(await page.title()).toBe('Files · Basalt');
    expect(problems).toEqual([]);
  });

  test('are deleted when their name is typed', async () => {
    const { page, problems } = opened;
    await page.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Type its name').fill('page.html');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('link', { name: 'page.html' }).waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  test('show that they are private and open by a signed link', async () => {
    const { page, problems } = opened;
    const { filePath } = await uploaded(project, 'for few');
    expect((await confirm(project, filePath, 7)).status).toBe(200);
    await project.api('PATCH', '/api/storage/file', { body: { path: filePath, visibility: 'private' } });
    await page.reload();
    await page.getByRole('button', { name: 'List' }).click();
    await page.getByRole('row').filter({ hasText: 'Public' }).first().waitFor();
    await page.getByRole('row').filter({ hasText: 'Private' }).getByRole('link', { name: 'notes.txt' }).click();
    await page.getByRole('region', { name: 'notes.txt' }).getByText('Private Only a signed link opens it').waitFor();
    const shown = page.getByRole('region', { name: 'What is in notes.txt' });
    await expect.poll(() => shown.textContent()).toBe('for few');
    await page.getByRole('button', { name: 'Copy private link' }).click();
    await page.getByRole('button', { name: 'Valid for 1 day' }).click();
    await page.getByText('Link copied').waitFor();
    const link = String(await page.evaluate('navigator.clipboard.readText()'));
    expect(await (await fetch(link)).text()).toBe('for few');
    await page.getByRole('button', { name: 'Make public' }).click();
    await page.getByRole('button', { name: 'Copy the address' }).waitFor();
    await page.getByText('Public Anyone who has its address can open it.').waitFor();
    expect(problems).toEqual([]);
  });

  test('show the error when no signed link can be created', async () => {
    const { page } = opened;
    const { filePath } = await uploaded(project, 'for few');
    expect((await confirm(project, filePath, 7)).status).toBe(200);
    await project.api('PATCH', '/api/storage/file', { body: { path: filePath, visibility: 'private' } });
    const isSign = (url: URL): boolean => url.pathname.endsWith('/storage/sign');
    const refuse = (route: Route) => route.fulfill({ status: 500, json: { message: 'No link could be made.' } });
    await page.route(isSign, refuse);
    await page.goto(page.url().replace(/\?.*/, ''));
    await page.getByRole('row').filter({ hasText: 'private' }).getByRole('link', { name: 'notes.txt' }).click();
    await page.getByRole('status').getByText('No link could be made.').first().waitFor();
    await page.unroute(isSign, refuse);
  });

  test('that are not confirmed are listed with their path, and their upload can be ended', async () => {
    const { page, problems } = opened;
    const before = problems.length;
    const { filePath } = (await request(project, 5, 'Öffentlich.txt')).body;
    await page.goto(page.url().replace(/\?.*/, ''));
    const row = page.getByRole('row').filter({ hasText: 'Öffentlich.txt' });
    await row.getByText('Secret key or console').waitFor();
    await row.getByText(filePath).waitFor();
    expect(await obstacles(page)).toEqual([]);
    await row.getByRole('button', { name: 'End the upload of Öffentlich.txt' }).click();
    await row.waitFor({ state: 'detached' });
    expect((await confirm(project, filePath, 5)).status).toBe(404);
    expect(problems.slice(before)).toEqual([]);
  });

  test('show an error when the storage is unreachable and are uploaded by a retry', async () => {
    const { page } = opened;
    let refuses = true;
    await page.route(
      (url) => url.search.includes('X-Amz-Signature'),
      (route) => (refuses ? route.abort() : route.continue()),
    );
    await page.locator('input[type=file]').setInputFiles([fileOf('late.txt', 'text/plain', 'late')]);
    await page.getByRole('alert').getByText('The storage is unreachable.').waitFor();
    refuses = false;
    await page.getByRole('listitem').filter({ hasText: 'late.txt' }).getByRole('button', { name: 'Retry' }).click();
    await page.getByRole('link', { name: 'late.txt' }).waitFor();
  });
});
