import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type OpenPage, obstacles, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;
let opened: OpenPage;
let base: string;
const ids: Record<string, string> = {};

beforeAll(async () => {
  browser = await openChromium();
  project = await newProject([
    { name: 'people', schema: [{ key: 'name', type: 'String' }] },
    {
      name: 'posts',
      schema: [
        { key: 'title', type: 'String' },
        { key: 'author', type: 'Ref', ref: 'people' },
      ],
    },
    {
      name: 'likes',
      schema: [
        { key: 'person', type: 'Ref', ref: 'people' },
        { key: 'stars', type: 'Number' },
      ],
    },
  ]);
  for (const name of ['Ada Lovelace', 'Grace Hopper', 'Ada Byron']) {
    const { body } = await project.api<{ _id: string }>('POST', '/api/data/people', { body: { name } });
    ids[name] = body._id;
  }
  await project.api('POST', '/api/data/posts', { body: { title: 'Engines', author: ids['Ada Lovelace'] } });
  await project.api('POST', '/api/data/likes', { body: { person: ids['Grace Hopper'], stars: 5 } });
  const path = `/projects/${project.id}/documents/posts`;
  base = inject('stack').dashboardUrl + path;
  opened = await openAs(browser, project.developer, path);
});

afterAll(() => browser.close());

describe('references in the console', () => {
  test('are chosen by a search for text in the documents that they can refer to', async () => {
    const { page, problems } = opened;
    await page.getByRole('link', { name: 'Engines' }).click();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('button', { name: 'Choose' }).click();
    const dialog = page.getByRole('dialog', { name: 'Choose from people' });
    await dialog.getByRole('option', { name: 'Grace Hopper' }).waitFor();
    expect(await obstacles(page)).toEqual([]);
    // The dialog focuses its field, and case makes no difference.
    await page.keyboard.type('bYRON');
    await dialog.getByRole('option', { name: 'Grace Hopper' }).waitFor({ state: 'detached' });
    await dialog.getByRole('option', { name: 'Ada Byron' }).waitFor();
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => page.getByRole('textbox', { name: 'author' }).inputValue()).toBe(ids['Ada Byron']);
    await page.getByRole('button', { name: 'Choose' }).click();
    await dialog.getByRole('combobox').fill(ids['Grace Hopper'] ?? '');
    await dialog.getByRole('option', { name: 'Ada Byron' }).waitFor({ state: 'detached' });
    await dialog.getByRole('option', { name: 'Grace Hopper' }).click();
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
    const { body } = await project.api<{ data: { items: readonly object[] } }>('GET', '/api/data/posts');
    await page.getByRole('definition').getByText('Grace Hopper').waitFor();
    expect(body.data.items).toMatchObject([{ title: 'Engines', author: ids['Grace Hopper'] }]);
    expect(problems).toEqual([]);
  });

  test('are links in a list, by title, also when the request populates them', async () => {
    const { page, problems } = opened;
    await page.goto(base);
    await page.getByRole('link', { name: 'Grace Hopper' }).waitFor();
    await page.goto(`${base}?populate=author`);
    await page.getByRole('link', { name: 'Grace Hopper' }).click();
    await page.waitForURL(base.replace(/posts$/, `people?open=${ids['Grace Hopper']}`));
    expect(problems).toEqual([]);
  });

  test('in the first column open their own document, and an arrow opens the other one', async () => {
    const { page, problems } = opened;
    const likes = base.replace(/posts$/, 'likes');
    const grace = base.replace(/posts$/, `people?open=${ids['Grace Hopper']}`);
    await page.goto(likes);
    await page.getByRole('link', { name: 'Grace Hopper' }).click();
    await page.waitForURL(`${likes}?open=*`);
    await page.getByRole('definition').getByText('Grace Hopper').waitFor();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.locator('.field-head').getByText('Grace Hopper').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.goto(`${likes}?as=publishable`);
    await page.getByRole('link', { name: 'Grace Hopper' }).waitFor();
    const arrow = page.getByRole('link', { name: 'Open in people' });
    expect(await arrow.getAttribute('href')).toBe(
      new URL(`${grace}&as=publishable`).href.replace(/^https?:..[^/]+/, ''),
    );
    await page.goto(likes);
    await arrow.click();
    await page.waitForURL(grace);
    expect(problems).toEqual([]);
  });
});
