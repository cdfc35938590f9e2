import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type OpenPage, obstacles, openChromium, signIn } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newDeveloper, newProject, type TestProject } from '../support/worlds/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;

beforeAll(async () => {
  browser = await openChromium();
});

afterAll(() => browser.close());

describe('the first minutes with the console', () => {
  test('lead from the sign-in to a first document, which appears on the page by itself', async () => {
    const { page, problems } = await openAs(browser, await newDeveloper(), '/');
    await page.getByRole('button', { name: 'New project' }).click();
    await page.getByLabel('Name').fill('Garden');
    await page.getByRole('button', { name: 'Create' }).click();
    const secretKey = await page.getByLabel('Secret key').textContent();
    expect(secretKey).toMatch(/^sk_live_\w{32}$/);
    await page.getByRole('button', { name: 'Open the project' }).click();
    await page.getByRole('heading', { name: 'Garden', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Waiting for the first document').waitFor();
    const sent = await fetch(`${inject('stack').baseUrl}/api/data/notes`, {
      method: 'POST',
      headers: { 'x-api-key': secretKey ?? '' },
      body: JSON.stringify({ title: 'From a terminal' }),
    });
    expect(sent.status).toBe(201);
    await page.getByText('From a terminal').waitFor();
    expect(problems).toEqual([]);
  });

  test('401 says that address or password are wrong, and the sign-in goes on to where one wanted to be', async () => {
    const developer = await newDeveloper();
    const { page, problems } = await openAs(browser, { ...developer, password: 'not the password' }, '/account');
    await page.getByRole('alert').getByText('Invalid email or password').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await signIn(page, developer);
    await page.getByRole('heading', { name: 'Account' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/account');
    await page.reload();
    await page.getByText(developer.email).waitFor();
    expect(problems).toEqual([]);
  });

  test('404 for a project of somebody else says that there is none, in the service’s words', async () => {
    const { id } = await newProject();
    const { page } = await openAs(browser, await newDeveloper(), `/projects/${id}`);
    await page.getByRole('alert').getByText('PROJECT_NOT_FOUND').waitFor();
  });
});

describe('documents in the console', () => {
  let project: TestProject;
  let opened: OpenPage;
  const hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script>';

  beforeAll(async () => {
    project = await newProject([
      {
        name: 'posts',
        schema: [
          { key: 'title', type: 'String' },
          { key: 'views', type: 'Number' },
        ],
      },
    ]);
    const titles = ['Hello', hostile, '\u202egnp.exe', 'x'.repeat(10_000)];
    for (const [views, title] of titles.entries())
      await project.api('POST', '/api/data/posts', { body: { title, views } });
    opened = await openAs(browser, project.developer, `/projects/${project.id}/documents/posts`);
    await opened.page.getByRole('link', { name: 'Hello' }).waitFor();
  });

  test('are shown as text, whatever they hold', async () => {
    const { page, problems } = opened;
    expect(await page.getByRole('link', { name: hostile }).count()).toBe(1);
    expect(await page.title()).toBe('posts · Basalt');
    expect(problems).toEqual([]);
  });

  test('are filtered by a condition that stands in the address', async () => {
    const { page } = opened;
    await page.getByRole('button', { name: '+ filter' }).click();
    await page.getByLabel('Field').selectOption('views');
    await page.getByLabel('Operator').selectOption('lt');
    await page.getByLabel('Value').fill('1');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('1–1 of 1').waitFor();
    expect(new URL(page.url()).search).toBe('?views_lt=1');
    await page.reload();
    await page.getByText('1–1 of 1').waitFor();
  });

  test('are changed by an explicit act, moved to the trash, and back by Undo', async () => {
    const { page, problems } = opened;
    await page.getByRole('link', { name: 'Hello' }).click();
    await page.getByRole('button', { name: 'Edit' }).click();
    const text = page.getByLabel('Document, as JSON');
    await text.fill((await text.inputValue()).replace('"Hello"', '"Good morning"'));
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'Good morning' }).waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No document fits the filter.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('link', { name: 'Good morning' }).waitFor();
    const { body } = await project.api<{ data: { items: { title: string }[] } }>('GET', '/api/data/posts?views=0');
    expect(body.data.items).toMatchObject([{ title: 'Good morning' }]);
    expect(problems).toEqual([]);
  });

  test('400 VALIDATION_FAILED stands in the dialog, which keeps what was typed', async () => {
    const { page } = opened;
    await page.getByRole('button', { name: 'Insert' }).click();
    await page.getByLabel('Document, as JSON').fill('{"title": 5}');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Insert' }).click();
    await dialog.getByText('title must be a String').waitFor();
    expect(await page.getByLabel('Document, as JSON').inputValue()).toBe('{"title": 5}');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });
});
