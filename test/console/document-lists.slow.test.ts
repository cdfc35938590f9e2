import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type OpenPage, obstacles, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;
let opened: OpenPage;
let base: string;

const idOf = async (body: object): Promise<string> => {
  const { body: made } = await project.api<{ _id: string }>('POST', '/api/data/posts', { body });
  return made._id;
};

const countOf = async (query: string): Promise<number> => {
  const { body } = await project.api<{ data: { count: number } }>('GET', `/api/data/posts?count=true&${query}`);
  return body.data.count;
};

beforeAll(async () => {
  browser = await openChromium();
  project = await newProject([
    {
      name: 'posts',
      schema: [
        { key: 'title', type: 'String' },
        { key: 'views', type: 'Number' },
      ],
    },
  ]);
  for (let views = 0; views < 5; views += 1) await idOf({ title: `Post ${views}`, views });
  const path = `/projects/${project.id}/documents/posts`;
  base = `${inject('stack').dashboardUrl}${path}`;
  opened = await openAs(browser, project.developer, path);
  await opened.page.getByRole('link', { name: 'Post 4' }).waitFor();
});

afterAll(() => browser.close());

describe('document list', () => {
  const heads = async () =>
    (await opened.page.locator('thead th').allTextContents()).map((text) => text.trim()).filter(Boolean);

  test('shows the chosen columns, which the address and the browser keep', async () => {
    const { page, problems } = opened;
    await expect.poll(heads).toEqual(['title', 'views', 'createdAt']);
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'createdAt' }).uncheck();
    await page.getByRole('checkbox', { name: '_id' }).check();
    await page.getByRole('button', { name: 'Move views up' }).click();
    await page.keyboard.press('Escape');
    await expect.poll(heads).toEqual(['views', 'title', '_id']);
    await expect.poll(() => new URL(page.url()).searchParams.get('columns')).toBe('views,title,_id');
    await page.goto(base);
    await page.getByText('1–5 of 5').waitFor();
    await expect.poll(heads).toEqual(['views', 'title', '_id']);
    await page.getByRole('button', { name: 'Columns' }).click();
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('button', { name: 'Reset columns' }).click();
    await page.keyboard.press('Escape');
    await expect.poll(heads).toEqual(['title', 'views', 'createdAt']);
    expect(problems).toEqual([]);
  });

  test('is sorted ascending, descending and as before by clicks on a column head', async () => {
    const { page } = opened;
    const sort = page.getByRole('columnheader', { name: 'views' });
    for (const [order, first] of [
      ['ascending', 'Post 0'],
      ['descending', 'Post 4'],
    ] as const) {
      await sort.getByRole('button').click();
      await page.locator('tbody tr').first().getByRole('link', { name: first }).waitFor();
      await expect.poll(() => sort.getAttribute('aria-sort')).toBe(order);
    }
    await sort.getByRole('button').click();
    await page.waitForURL(base);
  });

  test('saves a view by name, opens it, renames it, deletes it and restores it', async () => {
    const { page, problems } = opened;
    await page.evaluate(([key, views]) => localStorage.setItem(key, views), [
      `basalt:views:${project.id}/posts`,
      '[{"name":"Older","query":"views_lt=2&columns=title"}]',
    ] as const);
    await page.goto(`${base}?views_gte=3&sort=-views`);
    await page.getByRole('button', { name: 'Views ▾', exact: true }).click();
    // A saved view with an old filter is converted to a condition.
    const older = await page.getByRole('link', { name: 'Older' }).getAttribute('href');
    expect(older?.split('?')[1]).toBe(
      new URLSearchParams({ where: '{"views":{"$lt":2}}', columns: 'title' }).toString(),
    );
    await page.getByRole('button', { name: 'Save this view' }).click();
    await page.getByLabel('Name of the view').fill('Read often');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.goto(base);
    await page.getByText('1–5 of 5').waitFor();
    await page.getByRole('button', { name: 'Views ▾', exact: true }).click();
    await page.getByRole('link', { name: 'Read often' }).click();
    await page.getByText('1–2 of 2').waitFor();
    await page.getByRole('button', { name: 'Read often ▾', exact: true }).click();
    await page.getByRole('button', { name: 'Rename the view Read often' }).click();
    await page.getByLabel('Name of the view').fill('Popular');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Popular ▾', exact: true }).click();
    await page.getByRole('button', { name: 'Delete the view Popular' }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Popular ▾', exact: true }).waitFor();
    expect(problems).toEqual([]);
  });

  test('searches the searchable fields and filters by a condition as JSON', async () => {
    const { page, problems } = opened;
    const searched = await newProject([
      { name: 'posts', schema: [{ key: 'title', type: 'String', searchable: true }] },
    ]);
    for (const title of ['A red house', 'A blue house', 'A boat'])
      await searched.api('POST', '/api/data/posts', { body: { title } });
    const other = await openAs(browser, searched.developer, `/projects/${searched.id}/documents/posts`);
    await other.page.getByText('1–3 of 3').waitFor();
    await other.page.getByRole('searchbox', { name: 'Search' }).fill('house');
    await other.page.keyboard.press('Enter');
    await other.page.getByText('1–2 of 2').waitFor();
    expect(new URL(other.page.url()).search).toBe('?search=house');
    expect(other.problems).toEqual([]);
    await page.goto(`${base}?where=${encodeURIComponent('{"$or":[{"views":1},{"views":3}]}')}`);
    await page.getByText('1–2 of 2').waitFor();
    await page.getByRole('button', { name: 'The filter as JSON' }).click();
    const editor = page.getByRole('textbox', { name: 'The filter as JSON' });
    await editor.getByText('$or').waitFor();
    await editor.fill('{"$not": {"views": {"$foo": 1}}}');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('alert').getByText('Filter "$not.views.$foo": there is no such operator.').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await editor.fill(JSON.stringify({ title: { $in: Array.from({ length: 500 }, (_, at) => `${at}`.repeat(6)) } }));
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('alert').getByText('A filter in a URL has at most 8 KiB').waitFor();
    await editor.fill('{"$not": {"views": 2}}');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('1–4 of 4').waitFor();
    expect(new URL(page.url()).searchParams.get('where')).toBe('{"$not":{"views":2}}');
    await page.getByRole('button', { name: 'Remove the filter by $not' }).click();
    await page.getByText('1–5 of 5').waitFor();
    expect(problems).toEqual([]);
  });

  test('is filtered by alternatives that are entered by keyboard alone', async () => {
    const { page } = opened;
    await page.goto(`${base}?views_gte=1`);
    // An address with an old filter opens unchanged. The first change converts it to a condition.
    await page.getByText('1–4 of 4').waitFor();
    await page.getByRole('button', { name: 'views ≥ 1', exact: true }).waitFor();
    await page.keyboard.press('/');
    await page.getByLabel('Field', { exact: true }).waitFor();
    await page.keyboard.type('views');
    for (const key of ['Tab', 'Tab', '1', 'Tab', 'Tab', 'Enter']) await page.keyboard.press(key);
    const second = page.getByRole('group', { name: 'Condition 2' });
    await second.getByLabel('Value').waitFor();
    for (const key of ['Tab', 'Tab', 'ControlOrMeta+a', '3', 'Enter']) await page.keyboard.press(key);
    await page.getByRole('button', { name: 'views = 1 or views = 3', exact: true }).waitFor();
    await page.getByText('1–2 of 2').waitFor();
    expect(new URL(page.url()).searchParams.get('where')).toBe('{"views":{"$gte":1},"$or":[{"views":1},{"views":3}]}');
    expect(new URL(page.url()).searchParams.get('views_gte')).toBeNull();
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('button', { name: 'views = 1 or views = 3', exact: true }).click();
    await page.getByRole('button', { name: 'Remove condition 2' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Remove the filter by views' }).last().click();
    await page.getByText('1–4 of 4').waitFor();
    expect(new URL(page.url()).searchParams.get('where')).toBe('{"views":{"$gte":1}}');
  });

  test('is controlled by the keys j, k, Enter, Escape and n', async () => {
    const { page, problems } = opened;
    await page.goto(`${base}?sort=views`);
    await page.getByRole('link', { name: 'Post 0' }).waitFor();
    for (const key of ['j', 'j', 'k', 'j']) await page.keyboard.press(key);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Edit', exact: true }).waitFor();
    await expect.poll(() => page.locator('tr[aria-selected=true]').getByRole('link').textContent()).toBe('Post 1');
    await page.keyboard.press('e');
    await page.getByRole('textbox', { name: 'title' }).fill('Post one');
    await page.keyboard.press('j');
    await expect.poll(() => page.getByRole('textbox', { name: 'title' }).inputValue()).toBe('Post onej');
    await page.getByRole('heading', { name: 'posts' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await page.getByRole('button', { name: 'Edit', exact: true }).waitFor({ state: 'detached' });
    await page.keyboard.press('n');
    await page.getByRole('region', { name: 'New document' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('region', { name: 'New document' }).waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  test('duplicates a document as a new draft', async () => {
    const { page } = opened;
    const id = await idOf({ title: 'Template', views: 70 });
    await page.goto(`${base}?open=${id}`);
    await page.getByRole('button', { name: 'Edit', exact: true }).waitFor();
    await page.keyboard.press('c');
    await page.getByRole('textbox', { name: 'views' }).fill('71');
    await page.getByRole('button', { name: 'Insert' }).last().click();
    await page.getByText('Inserted').waitFor();
    const undo = page.getByRole('button', { name: 'Undo' });
    await undo.hover();
    expect(await countOf('title=Template&views=71')).toBe(1);
    await undo.click();
    await expect.poll(() => countOf('title=Template&views=71')).toBe(0);
  });

  test('moves selected documents to the trash, restores them by Undo, and reloads once after each', async () => {
    const { page, problems } = opened;
    await page.goto(`${base}?views_lt=5`);
    await page.getByText('1–5 of 5').waitFor();
    await page.getByLabel('Select all of this page').check();
    const query = page.getByLabel('Query string');
    await query.fill('views_lt=2');
    await page.keyboard.press('Enter');
    await page.getByText('2 selected').waitFor();
    await query.fill('views_lt=5');
    // The selection appears before the response of the list, which must not be counted below.
    const list = page.waitForResponse((response) => /\/documents\?.*views_lt=5/.test(response.url()));
    await page.keyboard.press('Enter');
    await list;
    await page.getByText('5 selected').waitFor();
    const lists: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'GET' && /\/documents\?/.test(request.url())) lists.push(request.url());
    });
    await page.getByRole('status').filter({ hasText: '5 selected' }).getByRole('button', { name: 'Delete' }).click();
    const undo = page.getByRole('button', { name: 'Undo' });
    await undo.hover();
    await page.getByText('No documents match this filter.').waitFor();
    expect(lists).toHaveLength(1);
    await undo.click();
    await page.getByText('1–5 of 5').waitFor();
    expect(lists).toHaveLength(2);
    expect(problems).toEqual([]);
  });

  test('shows a changed schema immediately', async () => {
    const { page } = opened;
    await page.goto(base);
    await page.getByRole('columnheader', { name: 'views' }).waitFor();
    await page.getByRole('link', { name: 'Schema' }).click();
    await page.getByRole('button', { name: 'Add a field' }).click();
    await page
      .getByLabel(/^Name of field/)
      .last()
      .fill('subtitle');
    await page.getByRole('button', { name: 'Save' }).first().click();
    await page.getByText('Schema saved.').waitFor();
    await page.getByRole('link', { name: 'Documents', exact: true }).click();
    await page.getByRole('columnheader', { name: 'subtitle' }).waitFor();
  });

  test('fits a phone screen with every panel open', async () => {
    const { page } = opened;
    const id = await idOf({ title: 'wide '.repeat(200), views: 900 });
    await page.setViewportSize({ width: 390, height: 844 });
    const wide: string[] = [];
    for (const address of ['', '?views_gte=5', `?open=${id}`, `?open=${id}&tab=json`, '?new=1', '?new=1&tab=json']) {
      await page.goto(base + address);
      await page.locator('main h1').waitFor();
      await page.waitForLoadState('networkidle');
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      if (width > 390) wide.push(`${address} is ${width} pixels wide`);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    expect(wide).toEqual([]);
  });

  test('rejects invalid JSON and numbers that storing would change, and sends no request', async () => {
    const { page, problems } = opened;
    await page.goto(`${base}?new=1&tab=json`);
    const editor = page.getByRole('textbox', { name: 'Document, as JSON' });
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/documents')) sent.push(request.url());
    });
    for (const [typed, said] of [
      ['{"title": "Exact", "views": 12345678901234567890}', 'views: integers beyond'],
      ['{"title": "Exact",, "views": 1}', 'not valid JSON from character'],
      ['[1]', 'A document is a JSON object'],
    ] as const) {
      await editor.fill(typed);
      await page.getByRole('alert').getByText(said).first().waitFor();
      await page.getByRole('button', { name: 'Insert' }).last().click();
    }
    await page.getByRole('link', { name: 'Form', exact: true }).click();
    await page.getByText('The JSON on the other tab is not valid').waitFor();
    expect(sent).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('keeps its JSON editor while the user types in a collection without a schema', async () => {
    const { page, problems } = opened;
    await project.addCollection({ name: 'free' });
    await page.goto(base.replace(/posts$/, 'free'));
    await page.getByText('No documents yet.').waitFor();
    await page.keyboard.press('n');
    const editor = page.getByRole('textbox', { name: 'Document, as JSON' });
    await editor.fill('{"title": "Typed"}');
    await editor.press('Control+End');
    await page.keyboard.type(' ');
    await expect.poll(() => editor.textContent()).toBe('{"title": "Typed"} ');
    await page.getByRole('button', { name: 'Insert' }).last().click();
    await page.getByRole('link', { name: 'Typed' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('shows smaller pages, starting with the same document, when a page exceeds the response limit', async () => {
    const { page, problems } = opened;
    await project.addCollection({ name: 'large' });
    const text = 'y'.repeat(900_000);
    for (let at = 0; at < 17; at += 1) {
      expect((await project.api('POST', '/api/data/large', { body: { at, text } })).status).toBe(201);
    }
    await page.goto(`${base.replace(/posts$/, 'large')}?limit=10&page=2`);
    await page.getByText('11–15 of 17').waitFor();
    expect(new URL(page.url()).search).toBe('?limit=5&page=3');
    await page.getByRole('button', { name: 'Previous page' }).click();
    await page.getByText('6–10 of 17').waitFor();
    expect(problems).toEqual([]);
  });

  test('opens, scrolls, changes and saves a value of 4 MiB', async () => {
    const { page, problems } = opened;
    const id = await idOf({ title: 'Large', views: 1000 });
    const lines = Array.from({ length: 9000 }, (_, line) => `${line} ${'x'.repeat(90)}`);
    for (const body of [{ one: lines }, { two: 'y'.repeat(1_000_000) }, { three: lines }, { four: lines }])
      await project.api('PATCH', `/api/data/posts/${id}`, { body });
    await page.goto(`${base}?open=${id}&tab=json`);
    const editor = page.getByRole('textbox', { name: 'Document, as JSON' });
    await editor.getByText('"Large"').waitFor();
    await editor.click();
    await page.keyboard.press('Control+End');
    await editor.getByText('8999 xxx').waitFor();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await editor.getByText('"Large"').click();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.type('r');
    await page.getByRole('region', { name: 'Changes to save' }).getByText('Larger').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(await countOf('title=Larger')).toBe(1);
    expect(problems).toEqual([]);
  });
});
