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

const row = (place: number) => page.locator('tbody tr').nth(place);
const create = () => page.getByRole('button', { name: 'Create', exact: true }).click();

const addField = async (place: number, key: string, type: string) => {
  await page.getByRole('button', { name: 'Add a field' }).click();
  await row(place).getByLabel('Field', { exact: true }).fill(key);
  await row(place).getByLabel('Type').selectOption(type);
};

test('defaults and contents are typed as plain text, and error messages give an example', async () => {
  await page.getByLabel('Name').fill('orders');
  await addField(0, 'state', 'String');
  await row(0).getByLabel('Default').fill('new');
  await addField(1, 'count', 'Number');
  await row(1).getByLabel('Default').fill('many');
  await addField(2, 'paid', 'Boolean');
  await row(2).getByLabel('Default').fill('no');
  await addField(3, 'tags', 'Array');
  await row(3).getByLabel('Contents').fill('Text');
  await addField(4, 'address', 'Object');
  await row(4).getByLabel('Contents').fill('city');
  await addField(5, 'at', 'Date');
  expect(await row(5).getByLabel('Default').isDisabled()).toBe(true);
  const alert = page.getByRole('alert');
  await create();
  await alert.getByText('The default of count is a Number, for example 0, and not many.').waitFor();
  await row(1).getByLabel('Default').fill('2');
  await create();
  await alert.getByText('The default of paid is a Boolean: type true or false, not no.').waitFor();
  await row(2).getByLabel('Default').fill('false');
  await create();
  await alert.getByText('Contents of tags: type a field type, for example String, or JSON such as').waitFor();
  await row(3).getByLabel('Contents').fill('String');
  await create();
  await alert.getByText('Contents of address: type fields, for example city: String, or JSON such as').waitFor();
  await row(4).getByLabel('Contents').fill('city: String, zip: Number');
  await create();
  await page.getByRole('heading', { name: 'orders' }).waitFor();
  const path = `/api/projects/${project.id}/collections/orders`;
  const { body } = await project.developer.dashboard<{ data: { schema: unknown } }>('GET', path);
  expect(body.data.schema).toMatchObject([
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
  await page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/documents/orders/schema`);
  await expect.poll(() => row(0).getByLabel('Default').inputValue()).toBe('new');
  expect(await row(3).getByLabel('Contents').inputValue()).toBe('String');
  expect(await row(4).getByLabel('Contents').inputValue()).toBe('city: String, zip: Number');
  expect(await obstacles(page)).toEqual([]);
  await page.getByRole('button', { name: 'Save', exact: true }).first().click();
  await page.getByText('Schema saved.').waitFor();
  const after = await project.developer.dashboard<{ data: { schema: unknown } }>('GET', path);
  expect(after.body.data.schema).toEqual(body.data.schema);
  expect(opened.problems).toEqual([]);
});

test('Ref can refer to a collection of the project or its own, and an unused default shows a warning', async () => {
  await page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/new-collection`);
  await page.getByLabel('Name').fill('teams');
  await addField(0, 'leader', 'Ref');
  const choices = row(0).getByLabel('Refers to').locator('option');
  await expect.poll(() => choices.allTextContents()).toEqual(['Choose …', 'orders', 'people', 'teams']);
  await row(0).getByLabel('Refers to').selectOption('people');
  await addField(1, 'title', 'String');
  await row(1).getByLabel('Default').fill('none');
  await row(1).getByLabel('Required').check();
  await page.getByText('title is required, so its default is never used.').waitFor();
  expect(await obstacles(page)).toEqual([]);
  await row(1).getByLabel('Required').uncheck();
  await page.getByText('title is required').waitFor({ state: 'detached' });
  await create();
  await page.getByRole('heading', { name: 'teams' }).waitFor();
  expect(opened.problems).toEqual([]);
});

test('unique combinations of fields are typed, saved and removed', async () => {
  const lists = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Unique together' }) });
  const saved = async () => {
    const path = `/api/projects/${project.id}/collections/orders`;
    const { body } = await project.developer.dashboard<{ data: { unique?: unknown } }>('GET', path);
    return body.data.unique;
  };
  const save = () => lists.getByRole('button', { name: 'Save', exact: true }).click();
  await page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/documents/orders/schema`);
  await lists.getByRole('button', { name: 'Add an entry' }).click();
  await lists.getByLabel('Fields of entry 1').fill('state, nothing');
  await lists.getByLabel('Upper and lower case are the same').check();
  await save();
  await lists.getByText('is no field of the schema').waitFor();
  await lists.getByLabel('Fields of entry 1').fill('state, count');
  await save();
  await expect.poll(saved).toEqual([{ fields: ['state', 'count'], ignoreCase: true }]);
  await expect.poll(() => lists.getByLabel('Fields of entry 1').inputValue()).toBe('state, count');
  expect(await obstacles(page)).toEqual([]);
  await lists.getByRole('button', { name: 'Remove entry 1' }).click();
  await save();
  await expect.poll(saved).toBeUndefined();
});

test('effects are typed as JSON, errors name their path, and an empty list ends them', async () => {
  const effects = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Effects' }) });
  const saved = async () => {
    const path = `/api/projects/${project.id}/collections/orders`;
    const { body } = await project.developer.dashboard<{ data: { effects?: unknown } }>('GET', path);
    return body.data.effects;
  };
  const type = async (value: unknown) => {
    await effects.getByLabel('Effects as JSON').fill(JSON.stringify(value));
    await effects.getByRole('button', { name: 'Save', exact: true }).click();
  };
  await page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/documents/orders/schema`);
  await type([{ on: 'create', set: { nothing: 1 } }]);
  await effects.getByText('effects.0.set.nothing names a field').first().waitFor();
  const wanted = [{ on: 'create', set: { count: { $add: [1, 2] } } }];
  await type(wanted);
  await expect.poll(saved).toEqual(wanted);
  expect(await obstacles(page)).toEqual([]);
  await type([]);
  await expect.poll(saved).toBeUndefined();
});

test('value limits are typed as plain text, survive a save, and apply to the form of a document', async () => {
  const path = `/api/projects/${project.id}/collections/goods`;
  const saved = async () => {
    const { body } = await project.developer.dashboard<{ data: { schema: unknown; closed?: boolean } }>('GET', path);
    return body.data;
  };
  await page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/new-collection`);
  await page.getByLabel('Name').fill('goods');
  await addField(0, 'state', 'String');
  await row(0).getByText('None', { exact: true }).click();
  await row(0).getByLabel('Allowed values, one per line').fill('draft\npublic');
  await addField(1, 'stock', 'Number');
  await row(1).getByText('None', { exact: true }).click();
  await row(1).getByLabel('Minimum').fill('none');
  await row(1).getByLabel('Whole numbers only').check();
  await addField(2, 'title', 'String');
  await row(2).getByText('None', { exact: true }).click();
  await row(2).getByLabel('Max. characters').fill('5');
  await row(2).getByLabel('Pattern').fill('^[a-z]+$');
  await row(2).getByText('2 limits').waitFor();
  await page.getByLabel('No other fields').check();
  expect(await obstacles(page)).toEqual([]);
  await create();
  await page.getByText('Minimum of stock: type a number, for example 1, and not none.').waitFor();
  await row(1).getByLabel('Minimum').fill('0');
  await create();
  await page.getByRole('heading', { name: 'goods' }).waitFor();
  const schema = [
    { key: 'state', enum: ['draft', 'public'] },
    { key: 'stock', min: 0, integer: true },
    { key: 'title', maxLength: 5, pattern: '^[a-z]+$' },
  ];
  expect(await saved()).toMatchObject({ schema, closed: true });
  await page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/documents/goods/schema`);
  await row(2).getByText('2 limits').waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).first().click();
  await page.getByText('Schema saved.').waitFor();
  expect(await saved()).toMatchObject({ schema, closed: true });

  await page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/documents/goods`);
  await page.getByRole('button', { name: 'Insert' }).click();
  const state = page.getByRole('combobox', { name: 'state', exact: true });
  await expect.poll(() => state.locator('option').allTextContents()).toEqual([expect.any(String), 'draft', 'public']);
  const stock = page.getByRole('spinbutton', { name: 'stock', exact: true });
  expect([await stock.getAttribute('type'), await stock.getAttribute('min')]).toEqual(['number', '0']);
  expect(await page.getByRole('textbox', { name: 'title', exact: true }).getAttribute('maxlength')).toBe('5');
  await page.getByText('must match the pattern ^[a-z]+$').waitFor();
  expect(await obstacles(page)).toEqual([]);
});

test('reference keeps its Must exist setting and the action for deletion', async () => {
  await page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/new-collection`);
  await page.getByLabel('Name').fill('visits');
  await addField(0, 'person', 'Ref');
  await row(0).getByLabel('Refers to').selectOption('people');
  await row(0).getByLabel('Must exist').check();
  await row(0).getByLabel('When it is deleted').selectOption('restrict');
  await create();
  await page.getByRole('heading', { name: 'visits' }).waitFor();
  const saved = async () => {
    const path = `/api/projects/${project.id}/collections/visits`;
    type Fields = readonly { readonly onDelete?: string }[];
    return (await project.developer.dashboard<{ data: { schema: Fields } }>('GET', path)).body.data.schema[0];
  };
  expect(await saved()).toMatchObject({ key: 'person', ref: 'people', exists: true, onDelete: 'restrict' });
  // The form begins again once a save has been read back, so each change begins with the saved schema.
  const open = () => page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/documents/visits/schema`);
  for (const action of ['trash', 'delete', 'unset', '']) {
    await open();
    await row(0).getByLabel('When it is deleted').selectOption(action);
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save', exact: true }).first().click();
    await expect.poll(async () => (await saved())?.onDelete ?? '').toBe(action);
  }
  await open();
  await row(0).getByLabel('Type').selectOption('String');
  await page.getByRole('button', { name: 'Save', exact: true }).first().click();
  await expect.poll(saved).toMatchObject({ key: 'person', type: 'String' });
});
