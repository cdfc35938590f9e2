import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type OpenPage, obstacles, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;
let opened: OpenPage;
let page: Page;

beforeAll(async () => {
  [browser, project] = await Promise.all([openChromium(), newProject([{ name: 'people' }])]);
  opened = await openAs(browser, project.developer, `/projects/${project.id}/new-collection`);
  page = opened.page;
});

afterAll(() => browser.close());

const url = (path: string) => `${inject('stack').dashboardUrl}/projects/${project.id}${path}`;
const create = () => page.getByRole('button', { name: 'Create', exact: true }).click();
const save = () => page.getByRole('button', { name: 'Save', exact: true }).first().click();
const nameOf = (place: number) => page.getByLabel(`Name of field ${place}`, { exact: true });
const typeOf = (name: string) => page.getByLabel(`Type of ${name}`, { exact: true });
const option = (label: string, name: string) => page.getByLabel(`${label}, ${name}`, { exact: true });
const optionsOf = (name: string) => page.getByRole('button', { name: new RegExp(`^Options of ${name}`) });

/** Adds a field and opens its options. A Ref opens its own. */
const addField = async (place: number, key: string, type: string) => {
  await page.getByRole('button', { name: 'Add a field', exact: true }).click();
  await nameOf(place).fill(key);
  await typeOf(key).selectOption(type);
  if (type !== 'Ref') await optionsOf(key).click();
};

const savedOf = async (name: string) => {
  type Saved = {
    readonly schema: readonly Record<string, unknown>[];
    readonly unique?: unknown;
    readonly closed?: true;
  };
  const path = `/api/projects/${project.id}/collections/${name}`;
  return (await project.developer.dashboard<{ data: Saved & { effects?: unknown } }>('GET', path)).body.data;
};

test('defaults are typed as plain text, contents are rows below, and errors are at their fields', async () => {
  await page.getByLabel('Name', { exact: true }).fill('orders');
  await addField(1, 'state', 'String');
  await option('Default', 'state').fill('new');
  await addField(2, 'count', 'Number');
  await option('Default', 'count').fill('many');
  await addField(3, 'paid', 'Boolean');
  await option('Default', 'paid').selectOption('false');
  await addField(4, 'tags', 'Array');
  await addField(5, 'address', 'Object');
  await page.getByRole('button', { name: 'Add a field to address' }).click();
  await page.getByLabel('Name of field 1 in address').fill('city');
  await page.keyboard.press('Enter');
  await page.keyboard.type('zip');
  await typeOf('address.zip').selectOption('Number');
  await addField(6, 'at', 'Date');
  expect(await option('Default', 'at').count()).toBe(0);
  await create();
  await page.getByRole('alert').getByText('The default of count is a Number, for example 0, and not many.').waitFor();
  expect(await nameOf(2).getAttribute('aria-invalid')).toBe('true');
  await option('Default', 'count').fill('2');
  await page.getByRole('alert').getByText('The default of count').waitFor({ state: 'detached' });
  await create();
  await page.getByRole('heading', { name: 'orders' }).waitFor();
  const { schema } = await savedOf('orders');
  expect(schema).toMatchObject([
    { key: 'state', default: 'new' },
    { key: 'count', default: 2 },
    { key: 'paid', default: false },
    { key: 'tags', items: { type: 'String' } },
    {
      key: 'address',
      fields: [
        { key: 'city', type: 'String' },
        { key: 'zip', type: 'Number' },
      ],
    },
    { key: 'at', type: 'Date' },
  ]);
  await page.goto(url('/documents/orders/schema'));
  await expect.poll(() => typeOf('each element of tags').inputValue()).toBe('String');
  expect(await typeOf('address.zip').inputValue()).toBe('Number');
  await page.getByText('No changes yet.').waitFor();
  expect(await page.getByRole('button', { name: 'Save', exact: true }).first().isDisabled()).toBe(true);
  expect(await obstacles(page)).toEqual([]);
  await page.getByLabel('No other fields').check();
  await page.getByLabel('What changes when you save').getByText('No other fields').first().waitFor();
  await save();
  await page.getByText('Schema saved.').waitFor();
  expect(await savedOf('orders')).toMatchObject({ schema, closed: true });
  expect(opened.problems).toEqual([]);
});

test('fields are added, moved, renamed, removed and put back by keyboard, and one Save says what changes', async () => {
  await project.addCollection({
    name: 'keyed',
    schema: ['one', 'two', 'three'].map((key) => ({ key, type: 'String' })),
  });
  await page.goto(url('/documents/keyed/schema'));
  const names = () =>
    page.locator('.field-name').evaluateAll((fields) => fields.map((field) => (field as { value?: string }).value));
  const focused = () => page.evaluate<string>('document.activeElement.value');
  await nameOf(1).press('Enter');
  await page.keyboard.type('four');
  await expect.poll(names).toEqual(['one', 'four', 'two', 'three']);
  await page.keyboard.press('Alt+ArrowDown');
  await expect.poll(names).toEqual(['one', 'two', 'four', 'three']);
  expect(await focused()).toBe('four');
  await page.keyboard.press('ArrowUp');
  expect(await focused()).toBe('two');
  await page.getByRole('button', { name: 'Remove three', exact: true }).click();
  await expect.poll(names).toEqual(['one', 'two', 'four']);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(names).toEqual(['one', 'two', 'four', 'three']);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Backspace');
  await expect.poll(names).toEqual(['one', 'two', 'four', 'three']);
  await nameOf(2).fill('second');
  await page.getByText('documents keep them as “two”').waitFor();
  const handle = await page.getByTitle('Drag three').boundingBox();
  const target = await page.getByTitle('Drag one').boundingBox();
  if (!handle || !target) throw new Error('There is no handle');
  await page.mouse.move(handle.x + 8, handle.y + 16);
  await page.mouse.down();
  await page.mouse.move(target.x + 8, target.y + 4, { steps: 6 });
  await page.mouse.up();
  await expect.poll(names).toEqual(['three', 'one', 'second', 'four']);
  const changes = page.getByRole('region', { name: 'What changes when you save' });
  await changes.getByText('renamed from two').waitFor();
  await changes.getByText('Order of the fields').waitFor();
  expect(await obstacles(page)).toEqual([]);
  await page.keyboard.press('Control+s');
  await page.getByText('Schema saved.').waitFor();
  await page.getByText('No changes yet.').waitFor();
  expect((await savedOf('keyed')).schema.map(({ key }) => key)).toEqual(['three', 'one', 'second', 'four']);
  await page.goto(url('/documents/keyed/schema?field=second'));
  await expect.poll(focused).toBe('second');
  await option('Default', 'second').waitFor();
  expect(opened.problems).toEqual([]);
});

test('409 SCHEMA_CONFLICT links to examples, and Save anyway keeps them', async () => {
  await project.addCollection({ name: 'stored', schema: [{ key: 'title', type: 'String' }] });
  const stored = await project.api<{ _id: string }>('POST', '/api/data/stored', { body: { title: 'long title' } });
  await page.goto(url('/documents/stored/schema'));
  await optionsOf('title').click();
  await option('Max. characters', 'title').fill('3');
  await save();
  const example = page.getByRole('link', { name: 'Example 1' });
  await example.waitFor();
  expect(await example.getAttribute('href')).toContain(`?open=${stored.body._id}`);
  expect(await obstacles(page)).toEqual([]);
  await page.getByRole('button', { name: 'Save anyway' }).click();
  await page.getByText('Schema saved.').waitFor();
  expect((await savedOf('stored')).schema).toMatchObject([{ key: 'title', maxLength: 3 }]);
});

test('Ref can refer to a collection of the project or its own, and an unused default shows a warning', async () => {
  await page.goto(url('/new-collection'));
  await page.getByLabel('Name', { exact: true }).fill('teams');
  await addField(1, 'leader', 'Ref');
  const choices = option('Refers to', 'leader').locator('option');
  await expect
    .poll(() => choices.allTextContents())
    .toEqual(['Choose …', 'keyed', 'orders', 'people', 'stored', 'teams', 'Another, created later']);
  await create();
  await page.getByRole('alert').getByText('Choose the collection that leader refers to.').waitFor();
  await option('Refers to', 'leader').selectOption('Another, created later');
  await option('Name of that collection', 'leader').fill('coaches');
  expect(await obstacles(page)).toEqual([]);
  await option('Refers to', 'leader').selectOption('people');
  await option('Name of that collection', 'leader').waitFor({ state: 'detached' });
  await addField(2, 'title', 'String');
  await option('Default', 'title').fill('none');
  await option('Required', 'title').check();
  await page.getByText('title is required, so its default is never used.').waitFor();
  expect(await obstacles(page)).toEqual([]);
  await option('Required', 'title').uncheck();
  await page.getByText('title is required').waitFor({ state: 'detached' });
  await create();
  await page.getByRole('heading', { name: 'teams' }).waitFor();
  expect(opened.problems).toEqual([]);
});

test('fields that are unique together are chosen, saved and removed', async () => {
  const lists = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Unique together' }) });
  const saved = async () => (await savedOf('orders')).unique;
  const choice = lists.getByLabel('Fields of entry 1');
  const removeField = (field: string) => lists.getByRole('button', { name: `Remove ${field} from entry 1` });
  await page.goto(url('/documents/orders/schema'));
  await lists.getByRole('button', { name: 'Add an entry' }).click();
  await lists.getByLabel('Upper and lower case are the same').check();
  await save();
  await lists.getByRole('alert').waitFor();
  // Lists and objects have no unique values.
  expect(await choice.locator('option').allTextContents()).toEqual(['Add a field …', 'state', 'count', 'paid', 'at']);
  for (const field of ['state', 'paid', 'count']) await choice.selectOption(field);
  await removeField('paid').click();
  expect(await choice.locator('option').allTextContents()).toEqual(['Add a field …', 'paid', 'at']);
  expect(await obstacles(page)).toEqual([]);
  await save();
  await expect.poll(saved).toEqual([{ fields: ['state', 'count'], ignoreCase: true }]);
  await page.reload();
  await removeField('count').waitFor();
  await lists.getByRole('button', { name: 'Remove entry 1' }).click();
  await save();
  await expect.poll(saved).toBeUndefined();
});

test('value limits are typed as plain text, survive a save, and apply to the form of a document', async () => {
  await page.goto(url('/new-collection'));
  await page.getByLabel('Name', { exact: true }).fill('goods');
  await addField(1, 'state', 'String');
  const allowed = option('Allowed values', 'state');
  await allowed.fill('draft');
  await allowed.press('Enter');
  await allowed.fill('public');
  await addField(2, 'stock', 'Number');
  await option('Minimum', 'stock').fill('none');
  await option('Whole numbers only', 'stock').check();
  await addField(3, 'title', 'String');
  await option('Max. characters', 'title').fill('5');
  await option('Pattern', 'title').fill('^[a-z]+$');
  await optionsOf('title').getByText('≤ 5 characters').waitFor();
  await page.getByLabel('No other fields').check();
  expect(await obstacles(page)).toEqual([]);
  await create();
  await page.getByText('Minimum of stock: type a number, for example 1, and not none.').waitFor();
  await option('Minimum', 'stock').fill('0');
  await create();
  await page.getByRole('heading', { name: 'goods' }).waitFor();
  const schema: Record<string, unknown>[] = [
    { key: 'state', enum: ['draft', 'public'] },
    { key: 'stock', min: 0, integer: true },
    { key: 'title', maxLength: 5, pattern: '^[a-z]+$' },
  ];
  expect(await savedOf('goods')).toMatchObject({ schema, closed: true });
  await page.goto(url('/documents/goods/schema'));
  await optionsOf('title').getByText('≤ 5 characters').waitFor();
  await optionsOf('state').click();
  await option('Default', 'state').selectOption('draft');
  await save();
  await page.getByText('Schema saved.').waitFor();
  schema[0] = { ...schema[0], default: 'draft' };
  expect(await savedOf('goods')).toMatchObject({ schema, closed: true });

  await page.goto(url('/documents/goods'));
  await page.getByRole('button', { name: 'Insert' }).click();
  const state = page.getByRole('combobox', { name: 'state', exact: true });
  await expect.poll(() => state.locator('option').allTextContents()).toEqual([expect.any(String), 'draft', 'public']);
  const stock = page.getByRole('textbox', { name: 'stock', exact: true });
  await stock.fill('2,5,1');
  await page.getByText('stock must be a Number, for example 2.5').waitFor();
  expect(await page.getByRole('textbox', { name: 'title', exact: true }).getAttribute('maxlength')).toBe('5');
  await page.getByText('must match the pattern ^[a-z]+$').waitFor();
  expect(await obstacles(page)).toEqual([]);
});

test('reference keeps its Must exist setting and the action for deletion', async () => {
  await page.goto(url('/new-collection'));
  await page.getByLabel('Name', { exact: true }).fill('visits');
  await addField(1, 'person', 'Ref');
  await option('Refers to', 'person').selectOption('people');
  await option('Must exist', 'person').check();
  await option('When it is deleted', 'person').selectOption('restrict');
  await create();
  await page.getByRole('heading', { name: 'visits' }).waitFor();
  const saved = async () => (await savedOf('visits')).schema[0];
  expect(await saved()).toMatchObject({ key: 'person', ref: 'people', exists: true, onDelete: 'restrict' });
  await page.goto(url('/documents/visits/schema'));
  await optionsOf('person').click();
  for (const action of ['trash', 'delete', 'unset', '']) {
    await option('When it is deleted', 'person').selectOption(action);
    await save();
    await expect.poll(async () => (await saved())?.onDelete ?? '').toBe(action);
  }
  await typeOf('person').selectOption('String');
  await save();
  await expect.poll(saved).toMatchObject({ key: 'person', type: 'String' });
});
