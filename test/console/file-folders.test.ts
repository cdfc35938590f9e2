import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OpenPage, obstacles, openChromium } from '../support/clients/chromium.ts';
import { confirmAct, openAs } from '../support/clients/console-page.ts';
import { pixel, put, type Requested } from '../support/fixtures/files.ts';
import { newUsersProject, type UsersProject } from '../support/fixtures/users.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: UsersProject;
let opened: OpenPage;
let postId: string;
let user: Awaited<ReturnType<UsersProject['newUser']>>;

/** Uploads a file. */
const upload = async (filename: string, options: { readonly token?: string; readonly of?: object } = {}) => {
  const { token, ...of } = options;
  const caller = token ? { key: project.publishableKey, token } : {};
  const contentType = filename.endsWith('.png') ? 'image/png' : 'text/plain';
  const bytes = contentType === 'image/png' ? pixel : Buffer.from('hello');
  const { body } = await project.api<Requested>('POST', '/api/storage/upload-request', {
    ...caller,
    body: { filename, contentType, size: bytes.length, ...of },
  });
  expect(await put(body.signedUrl, new Uint8Array(bytes), contentType)).toBe(200);
  const confirmed = await project.api('POST', '/api/storage/upload-confirm', {
    ...caller,
    body: { filePath: body.filePath, size: bytes.length },
  });
  expect(confirmed.status).toBe(200);
};

beforeAll(async () => {
  [browser, project] = await Promise.all([
    openChromium(),
    newUsersProject({ settings: { uploads: { users: true, types: ['text/plain', 'image/*'] } } }),
  ]);
  await project.addCollection({ name: 'posts' });
  user = await project.newUser();
  postId = (await project.api<{ _id: string }>('POST', '/api/data/posts', { body: { title: 'Ferns' } })).body._id;
  await upload('logo.png');
  await upload('terms.txt');
  await upload('mine.png', { token: user.accessToken });
  await upload('attached.txt', { of: { collection: 'posts', id: postId } });
  opened = await openAs(browser, project.developer, `/projects/${project.id}/files`);
});

afterAll(() => browser.close());

const names = () => opened.page.getByRole('list', { name: 'Files' }).getByRole('link').allTextContents();

describe('folders of files in the console', () => {
  test('lead to the files of a user and of a document, and to both', async () => {
    const { page, problems } = opened;
    await page.getByRole('link', { name: 'logo.png' }).waitFor();
    expect(await names()).toEqual(['terms.txt', 'logo.png']);
    const folders = page.getByRole('list', { name: 'Users and documents' });
    await folders.getByRole('listitem').filter({ hasText: 'posts' }).getByText('1 file · 5 B').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await folders.getByRole('link', { name: 'users' }).click();
    await folders.getByRole('link', { name: String(user.user._id) }).click();
    await page.getByRole('link', { name: 'mine.png' }).waitFor();
    // The picture is private, so that its thumbnail needs a signed link.
    await expect.poll(() => page.evaluate('document.querySelector(".tile-image img")?.naturalWidth')).toBe(1);
    expect(await names()).toEqual(['mine.png']);
    expect(new URL(page.url()).searchParams.get('folder')).toBe(`users/${user.user._id}`);
    await page.getByRole('link', { name: `Open the user ${user.email}` }).waitFor();
    await page.getByRole('link', { name: 'All files' }).click();
    await folders.getByRole('link', { name: 'posts' }).click();
    await folders.getByRole('link', { name: postId }).click();
    await page.getByRole('link', { name: 'attached.txt' }).waitFor();
    await page.getByRole('link', { name: 'Open the document' }).click();
    await page.getByRole('region', { name: 'Ferns' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('are searched with their files by name and kind, and the browser keeps the view', async () => {
    const { page, problems } = opened;
    await page.goto(`${new URL(page.url()).origin}/projects/${project.id}/files`);
    await page.getByRole('searchbox', { name: 'Name contains' }).fill('.TXT');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'attached.txt' }).waitFor();
    expect(await names()).toEqual(['attached.txt', 'terms.txt']);
    await page.getByRole('searchbox').fill('');
    await page.keyboard.press('Enter');
    await page.getByLabel('Kind of file').selectOption('Images');
    await page.getByRole('link', { name: 'mine.png' }).waitFor();
    expect(await names()).toEqual(['mine.png', 'logo.png']);
    await page.getByLabel('Kind of file').selectOption('Other');
    await page.getByText('No files match.').waitFor();
    await page.getByLabel('Kind of file').selectOption('All kinds');
    await page.getByRole('button', { name: 'List' }).click();
    await page.reload();
    await page.getByRole('row').getByRole('link', { name: 'terms.txt' }).waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('button', { name: 'Grid' }).click();
    expect(await page.getByRole('table').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test('are used by keyboard and on a phone', async () => {
    const { page, problems } = opened;
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('link', { name: 'terms.txt' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'logo.png' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    expect(await obstacles(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'terms.txt' }).waitFor();
    await page.setViewportSize({ width: 1440, height: 900 });
    expect(problems).toEqual([]);
  });

  test('lose the selected files together when their number is typed', async () => {
    const { page, problems } = opened;
    await page.getByRole('checkbox', { name: /terms\.txt/ }).check();
    await page.getByRole('checkbox', { name: /logo\.png/ }).check();
    await page.getByText('2 selected').waitFor();
    await page.getByRole('button', { name: 'Delete 2 files' }).click();
    await confirmAct(page, 'Delete 2 files', '2 files');
    await page.getByRole('link', { name: 'terms.txt' }).waitFor({ state: 'detached' });
    await page.getByRole('status').getByText('2 files deleted').waitFor();
    expect(await page.getByRole('list', { name: 'Files' }).count()).toBe(0);
    expect(problems).toEqual([]);
  });
});
