import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type OpenPage, obstacles, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';
import { users } from '../support/fixtures/users.ts';

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

const postId = async (): Promise<string> => {
  const { body } = await project.api<{ data: { items: readonly { _id: string }[] } }>('GET', '/api/data/posts');
  return body.data.items[0]?._id ?? '';
};

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
    await expect.poll(() => page.getByRole('combobox', { name: 'author' }).inputValue()).toBe(ids['Ada Byron']);
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

  test('are suggested by title while their field is typed in, also in a cell', async () => {
    const { page, problems } = opened;
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const field = page.locator('form').getByRole('combobox', { name: 'author' });
    await field.fill('byr');
    const byron = page.getByRole('option', { name: 'Ada Byron' });
    await byron.waitFor();
    expect(await page.getByRole('listbox').getByRole('option').count()).toBe(1);
    expect(await field.getAttribute('aria-expanded')).toBe('true');
    expect(await obstacles(page)).toEqual([]);
    // Escape closes the suggestions only.
    await page.keyboard.press('Escape');
    await byron.waitFor({ state: 'detached' });
    expect(await field.inputValue()).toBe('byr');
    await field.fill('ada');
    await page.getByRole('option', { name: 'Ada Lovelace' }).waitFor();
    await field.press('ArrowDown');
    const active = await field.getAttribute('aria-activedescendant');
    const chosen = (await page.locator(`[id="${active}"]`).textContent()) ?? '';
    await field.press('Enter');
    await expect.poll(() => field.inputValue()).toBe(chosen.slice(-24));
    await page.locator('.field-head').getByText(chosen.slice(0, -24)).waitFor();
    // From an id, the arrow shows all.
    await field.press('ArrowDown');
    await page.getByRole('option', { name: 'Grace Hopper' }).click();
    await expect.poll(() => field.inputValue()).toBe(ids['Grace Hopper']);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.goto(base);
    await page
      .getByRole('cell', { name: 'Grace Hopper' })
      .or(page.getByRole('gridcell', { name: 'Grace Hopper' }))
      .dblclick();
    await page.getByRole('combobox', { name: 'author' }).fill('lovel');
    await page.getByRole('option', { name: 'Ada Lovelace' }).waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.getByText('Engines: author saved', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Ada Lovelace' }).waitFor();
    await project.api('PATCH', `/api/data/posts/${await postId()}`, { body: { author: ids['Grace Hopper'] } });
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

  test('to users, such as the owner field, show the email, and suggest by its beginning', async () => {
    const rls = { enabled: true, mode: 'private', ownerField: 'userId' };
    const owned = await newProject([users, { name: 'notes', schema: [{ key: 'text', type: 'String' }], rls }]);
    await owned.developer.dashboard('PATCH', `/api/projects/${owned.id}`, { authEnabled: true });
    const add = async (email: string) => {
      const { body } = await owned.developer.dashboard<{ data: { _id: string } }>(
        'POST',
        `/api/projects/${owned.id}/users`,
        { email, password: 'first password' },
      );
      return body.data._id;
    };
    const [ada, grace] = [await add('ada@example.com'), await add('grace@example.com')];
    await owned.api('POST', '/api/data/notes', { body: { text: 'Mine', userId: ada } });
    const { page, problems } = await openAs(browser, owned.developer, `/projects/${owned.id}/documents/notes`);
    const link = page.getByRole('link', { name: 'ada@example.com' });
    expect(await link.getAttribute('href')).toBe(`/projects/${owned.id}/users?open=${ada}`);
    await link.hover();
    await page.getByRole('tooltip').getByText(ada).waitFor();
    await page.getByRole('link', { name: 'Mine' }).click();
    const value = page.getByRole('definition').filter({ hasText: 'ada@example.com' });
    await value.getByText(ada).waitFor();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.locator('.field-head').getByText('ada@example.com').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Insert' }).click();
    const form = page.locator('form');
    await form.getByRole('textbox', { name: 'text' }).fill('Hers');
    const field = form.getByRole('combobox', { name: 'userId' });
    await field.fill('GRA');
    await page.getByRole('option', { name: 'grace@example.com' }).click();
    await expect.poll(() => field.inputValue()).toBe(grace);
    expect(await obstacles(page)).toEqual([]);
    await page.keyboard.press('Control+s');
    await page.getByText('Inserted', { exact: true }).waitFor();
    const { body } = await owned.api<{ data: { items: readonly object[] } }>('GET', '/api/data/notes?text=Hers');
    expect(body.data.items).toMatchObject([{ userId: grace }]);
    expect(problems).toEqual([]);
  });
});
