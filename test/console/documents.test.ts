import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type OpenPage, obstacles, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;
let opened: OpenPage;
let base: string;

const hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script>';

beforeAll(async () => {
  browser = await openChromium();
  project = await newProject([
    {
      name: 'posts',
      schema: [
        { key: 'title', type: 'String', required: true },
        { key: 'views', type: 'Number' },
        { key: 'isPublic', type: 'Boolean' },
        { key: 'at', type: 'Date' },
        { key: 'author', type: 'Ref', ref: 'people' },
        { key: 'tags', type: 'Array', items: { type: 'String' } },
      ],
    },
    { name: 'people' },
  ]);
  const titles = ['Hello', hostile, '\u202egnp.exe', 'x'.repeat(10_000)];
  for (const [views, title] of titles.entries())
    await project.api('POST', '/api/data/posts', { body: { title, views } });
  const path = `/projects/${project.id}/documents/posts`;
  base = `${inject('stack').dashboardUrl}${path}`;
  opened = await openAs(browser, project.developer, path);
  await opened.page.getByRole('link', { name: 'Hello' }).waitFor();
});

afterAll(() => browser.close());

const where = () => new URL(opened.page.url()).searchParams.get('where');

const documentsOf = async (query: string) => {
  const { body } = await project.api<{ data: { items: Record<string, unknown>[] } }>('GET', `/api/data/posts?${query}`);
  return body.data.items;
};

describe('the documents of a collection', () => {
  test('are shown as text with any content, and long values with their size', async () => {
    const { page, problems } = opened;
    expect(await page.getByRole('link', { name: hostile }).count()).toBe(1);
    expect(await page.getByText('9.8 KiB').count()).toBe(1);
    expect(await page.title()).toBe('posts · Basalt');
    expect(problems).toEqual([]);
  });

  test('report the fields that were not stored after an insert or a save', async () => {
    const { page, problems } = opened;
    const editor = page.getByLabel('Document, as JSON');
    await page.getByRole('link', { name: 'people' }).click();
    await page.getByRole('button', { name: 'Insert' }).click();
    await page.getByRole('link', { name: 'JSON', exact: true }).click();
    await editor.fill('{"name": "Ada", "_id": "mine", "createdAt": 1}');
    await page.getByRole('dialog').or(page.getByRole('region')).getByRole('button', { name: 'Insert' }).last().click();
    await page.getByText('Inserted. Not stored: _id, createdAt').waitFor();
    await page.getByRole('row').filter({ hasText: 'Ada' }).getByRole('link').first().click();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('link', { name: 'JSON', exact: true }).click();
    await editor.fill('{"name": "Ada", "_id": "mine", "city": "London"}');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved. Not stored: _id').waitFor();
    expect(problems).toEqual([]);
    await page.goto(base);
    await page.getByRole('link', { name: 'Hello' }).waitFor();
  });

  test('are filtered by conditions that can be edited and that the address keeps', async () => {
    const { page } = opened;
    await page.keyboard.press('/');
    await page.getByLabel('Field', { exact: true }).fill('isPublic');
    await expect
      .poll(() => page.getByLabel('Operator').locator('option').allTextContents())
      .toEqual(['=', '≠', 'exists']);
    await page.getByLabel('Field', { exact: true }).fill('views');
    await page.getByLabel('Operator').selectOption('<');
    await page.getByLabel('Value').fill('many');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('Filter "views.$lt": "many" is not a number.').waitFor();
    await page.getByLabel('Value').fill('1');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('1–1 of 1').waitFor();
    expect(where()).toBe('{"views":{"$lt":1}}');
    await page.getByRole('button', { name: 'views < 1', exact: true }).click();
    await page.getByLabel('Value').fill('2');
    expect(await page.getByText('1–1 of 1').count()).toBe(1);
    await page.keyboard.press('Enter');
    await page.getByText('1–2 of 2').waitFor();
    const query = page.getByLabel('Query string');
    await expect.poll(() => query.inputValue()).toBe('where={"views":{"$lt":2}}');
    await query.fill('where={"views":{"$lt":1}}&sort=-views');
    await page.keyboard.press('Enter');
    await page.getByText('1–1 of 1').waitFor();
    await page.reload();
    await page.getByText('1–1 of 1').waitFor();
    expect(where()).toBe('{"views":{"$lt":1}}');
  });

  test('are changed only after Edit, moved to the trash, and restored by Undo', async () => {
    const { page, problems } = opened;
    await page.goto(`${base}?views=0`);
    await page.getByRole('link', { name: 'Hello' }).click();
    expect(await page.getByRole('textbox', { name: 'title' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await expect.poll(() => page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true);
    await page.getByRole('textbox', { name: 'title' }).fill('Good morning');
    await page.getByRole('region', { name: 'Changes to save' }).getByText('Good morning').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByRole('link', { name: 'Good morning' }).waitFor();
    await page.getByRole('button', { name: 'Actions' }).last().click();
    const counted = async () =>
      Number(await page.locator('.counted').filter({ hasText: 'posts' }).locator('.count').textContent());
    const before = await counted();
    await page.getByRole('button', { name: 'Delete Del' }).click();
    const undo = page.getByRole('button', { name: 'Undo' });
    await undo.hover();
    await page.getByText('No documents match this filter.').waitFor();
    await expect.poll(counted).toBe(before - 1);
    await undo.click();
    await page.getByRole('link', { name: 'Good morning' }).waitFor();
    await expect.poll(counted).toBe(before);
    expect(await documentsOf('views=0')).toMatchObject([{ title: 'Good morning' }]);
    expect(problems).toEqual([]);
  });

  test('have one draft for both tabs, and a wrong click does not lose it', async () => {
    const { page, problems } = opened;
    await page.goto(`${base}?views=0`);
    await page.getByRole('link', { name: 'Good morning' }).click();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('textbox', { name: 'views' }).fill('12');
    await page.getByRole('link', { name: 'JSON', exact: true }).click();
    // An app adds the same to a Number this way.
    await page.getByRole('region', { name: 'Changes to save' }).getByText('{"$inc":{"views":12}}').waitFor();
    expect(await obstacles(page)).toEqual([]);
    expect(await obstacles(page)).toEqual([]);
    const editor = page.getByRole('textbox', { name: 'Document, as JSON' });
    await editor.getByText('12').waitFor();
    await editor.fill('{"title": "From JSON", "views": 13, "extra": [1]}');
    await page.getByRole('link', { name: 'Form' }).click();
    await expect.poll(() => page.getByRole('textbox', { name: 'title' }).inputValue()).toBe('From JSON');
    await expect.poll(() => page.getByRole('textbox', { name: 'extra' }).inputValue()).toBe('[\n  1\n]');
    await page.getByRole('link', { name: 'Users' }).click();
    await page
      .getByRole('dialog', { name: 'Leave without saving?' })
      .getByRole('button', { name: 'Keep editing' })
      .click();
    await page.evaluate('history.go(-3)');
    await page
      .getByRole('dialog', { name: 'Leave without saving?' })
      .getByRole('button', { name: 'Keep editing' })
      .click();
    await expect.poll(() => page.getByRole('textbox', { name: 'views' }).inputValue()).toBe('13');
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(await documentsOf('views=13')).toMatchObject([{ title: 'From JSON', extra: [1] }]);
    expect(problems).toEqual([]);
  });

  test('400 VALIDATION_FAILED shows the message of the service at its field', async () => {
    const { page } = opened;
    await page.goto(base);
    await page.getByRole('link', { name: 'From JSON' }).waitFor();
    await page.keyboard.press('n');
    await page.getByRole('textbox', { name: 'views' }).fill('many');
    await page.getByRole('combobox', { name: 'author' }).fill('nobody');
    await page.getByRole('button', { name: 'Insert' }).last().click();
    await page.getByRole('alert').getByText('title is required').waitFor();
    await page.getByRole('alert').getByText('views must be a Number').waitFor();
    await page.getByRole('alert').getByText('author must be a Ref').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('textbox', { name: 'views' }).fill('99');
    await page.getByRole('combobox', { name: 'author' }).fill('');
    await page.getByRole('textbox', { name: 'title' }).fill('Typed');
    await page.keyboard.press('Control+s');
    await page.getByRole('link', { name: 'Typed' }).waitFor();
    expect(await documentsOf('views=99')).toMatchObject([{ title: 'Typed' }]);
  });

  test('412 REVISION_MISMATCH shows both versions of each field and saves the chosen values', async () => {
    const { page, problems } = opened;
    const { body } = await project.api<{ _id: string }>('POST', '/api/data/posts', {
      body: { title: 'First', views: 500, isPublic: true },
    });
    const { _id: id } = body;
    await page.goto(`${base}?open=${id}`);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('textbox', { name: 'title' }).fill('Mine');
    await page.getByRole('textbox', { name: 'views' }).fill('501');
    await project.api('PATCH', `/api/data/posts/${id}`, { body: { title: 'Theirs', isPublic: false } });
    await page.keyboard.press('Control+s');
    const title = page.getByRole('group', { name: 'title changed by both' });
    await title.waitFor();
    const save = page.getByRole('button', { name: 'Save', exact: true });
    await expect.poll(() => save.isDisabled()).toBe(true);
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('group', { name: 'views changed by you' }).getByLabel('Mine').waitFor();
    await page.getByRole('group', { name: 'isPublic changed by them' }).getByLabel('Mine').waitFor();
    await title.getByLabel('Mine').check();
    await save.click();
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(await documentsOf('views=501')).toMatchObject([{ title: 'Mine', isPublic: false }]);
    expect(problems).toEqual([]);
  });
});
