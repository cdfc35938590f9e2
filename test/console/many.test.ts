import { afterAll, beforeAll, expect, test } from 'vitest';
import { obstacles } from '../support/clients/chromium.ts';
import { type OrdersPage, openOrders } from '../support/fixtures/orders-page.ts';

let browser: OrdersPage['browser'];
let project: OrdersPage['project'];
let opened: OrdersPage['opened'];
let page: OrdersPage['page'];

beforeAll(async () => {
  ({ browser, project, opened, page } = await openOrders(60, `where=${encodeURIComponent('{"n":{"$lt":56}}')}&sort=n`));
});

afterAll(() => browser.close());

const countOf = async (query: string): Promise<unknown> =>
  (await project.api<{ data: unknown }>('GET', `/api/data/orders?count=true&${query}`)).body.data;

test('a field is set on all that match, past the page, after a dialog that says how many', async () => {
  await page.getByRole('checkbox', { name: 'Select all of this page' }).check();
  await page.getByText('50 selected').waitFor();
  await page.getByRole('button', { name: 'Select all 55 that match' }).click();
  await page.getByText('All 55 that match are selected').waitFor();
  await page.getByRole('button', { name: 'Set a field' }).click();
  const dialog = page.getByRole('dialog', { name: 'Set a field' });
  await dialog.getByLabel('Field', { exact: true }).selectOption('status');
  // Nothing is set to null by a button that is pressed too early.
  expect(await dialog.getByRole('button', { name: 'Change 55 documents' }).isDisabled()).toBe(true);
  await dialog.getByLabel('Value', { exact: true }).selectOption('paid');
  expect(await obstacles(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Change 55 documents' }).click();
  await page.getByText('55 documents changed').waitFor();
  expect(await countOf('status=paid')).toEqual({ count: 55 });
  expect(opened.problems).toEqual([]);
});

test('selected documents alone are changed', async () => {
  await page.getByRole('row').filter({ hasText: 'order 7' }).getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Set a field' }).click();
  const dialog = page.getByRole('dialog', { name: 'Set a field' });
  await dialog.getByLabel('Field', { exact: true }).selectOption('n');
  await dialog.getByLabel('Value', { exact: true }).fill('7.5');
  await dialog.getByRole('button', { name: 'Change 1 document' }).click();
  await page.getByText('1 document changed').waitFor();
  expect(await countOf('n=7.5')).toEqual({ count: 1 });
});

test('a field that was set on many gets its old values, or none, by Undo', async () => {
  const { body } = await project.api<{ data: { items: { _id: string }[] } }>('GET', '/api/data/orders?n=8');
  await project.api('PATCH', `/api/data/orders/${body.data.items[0]?._id}`, { body: { $unset: ['status'] } });
  for (const title of ['order 8', 'order 9'])
    await page.getByRole('row').filter({ hasText: title }).getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Set a field' }).click();
  const dialog = page.getByRole('dialog', { name: 'Set a field' });
  await dialog.getByLabel('Field', { exact: true }).selectOption('status');
  await dialog.getByLabel('Value', { exact: true }).selectOption('open');
  await dialog.getByRole('button', { name: 'Change 2 documents' }).click();
  const done = page.locator('.toast').filter({ hasText: '2 documents changed' });
  await done.waitFor();
  expect(await countOf('status=open')).toEqual({ count: 7 });
  await done.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => countOf('status=open')).toEqual({ count: 5 });
  expect(await countOf('status=paid')).toEqual({ count: 54 });
  expect(opened.problems).toEqual([]);
});

test('all that match are moved to the trash, and one that was not selected stays', async () => {
  await page.getByRole('checkbox', { name: 'Select all of this page' }).check();
  await page.getByRole('button', { name: 'Select all 55 that match' }).click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Move 55 documents to the trash' }).click();
  await page.getByText('55 documents moved to the trash').waitFor();
  expect(await countOf('')).toEqual({ count: 5 });
  await page.getByText('No documents match this filter.').waitFor();
  expect(opened.problems).toEqual([]);
});
