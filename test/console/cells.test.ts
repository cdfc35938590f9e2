import { afterAll, beforeAll, expect, test } from 'vitest';
import { obstacles } from '../support/clients/chromium.ts';
import { type OrdersPage, openOrders } from '../support/fixtures/orders-page.ts';

let browser: OrdersPage['browser'];
let project: OrdersPage['project'];
let opened: OrdersPage['opened'];
let page: OrdersPage['page'];

beforeAll(async () => {
  ({ browser, project, opened, page } = await openOrders(2, 'sort=n'));
});

afterAll(() => browser.close());

const cell = (row: number, column: number) => page.locator('tbody tr').nth(row).locator('td:not(.tick)').nth(column);

/** A message stays as long as the pointer is on it, and a busy machine may need its Undo after more than ten seconds. */
const saved = (): Promise<void> => page.getByText('order 1: n saved', { exact: true }).hover();

const isFocused = (row: number, column: number) =>
  cell(row, column)
    .and(page.locator(':focus'))
    .count()
    .then((count) => count === 1);

const stored = async (query: string): Promise<readonly Record<string, unknown>[]> => {
  const { body } = await project.api<{ data: { items: Record<string, unknown>[] } }>(
    'GET',
    `/api/data/orders?${query}`,
  );
  return body.data.items;
};

test('a double click edits a cell, Enter saves it, and the document stays closed', async () => {
  await cell(0, 2).dblclick();
  const input = page.getByRole('textbox', { name: 'n', exact: true });
  await input.fill('7');
  expect(await obstacles(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await saved();
  expect(await stored('n=7')).toMatchObject([{ title: 'order 1' }]);
  expect(new URL(page.url()).searchParams.has('open')).toBe(false);
});

test('Undo takes the change of a cell back, and 412 REVISION_MISMATCH is shown if the document has changed', async () => {
  const undo = page.getByRole('status').getByRole('button', { name: 'Undo' });
  await undo.click();
  await expect.poll(() => stored('n=1')).toMatchObject([{ title: 'order 1' }]);
  await cell(0, 2).dblclick();
  await page.getByRole('textbox', { name: 'n', exact: true }).fill('7');
  await page.keyboard.press('Enter');
  await saved();
  const [{ _id: id } = {}] = await stored('n=7');
  await project.api('PATCH', `/api/data/orders/${String(id)}`, { body: { n: 8 } });
  await undo.click();
  await page.getByRole('status').getByText('revision').waitFor();
  expect(await stored('n=8')).toMatchObject([{ title: 'order 1' }]);
  await project.api('PATCH', `/api/data/orders/${String(id)}`, { body: { n: 7 } });
});

test('a double click whose first click opened the panel edits no cell, and no row moves', async () => {
  const box = await cell(1, 2).boundingBox();
  if (!box) throw new Error('the cell is not shown');
  const top = () => cell(0, 0).evaluate((element) => element.getBoundingClientRect().top);
  const before = await top();
  const [x, y] = [box.x + box.width - 4, box.y + box.height / 2];
  await page.mouse.click(x, y);
  await page.getByRole('button', { name: 'Edit', exact: true }).waitFor();
  expect(await top()).toBe(before);
  const present = page.locator('tbody td:not(.tick)').last();
  // As the browser reports the second click of a slow double click.
  await present.dispatchEvent('dblclick', { detail: 2 });
  expect(await page.locator('.cell-editor').count()).toBe(0);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Edit', exact: true }).waitFor({ state: 'detached' });
});

test('arrow keys move between cells, F2 edits, Escape cancels', async () => {
  await page.goto(page.url().replace('sort=n', 'sort=title'));
  await page.getByRole('link', { name: 'order 1' }).focus();
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => isFocused(0, 1)).toBe(true);
  await page.keyboard.press('F2');
  await page.getByRole('combobox', { name: 'status' }).selectOption('paid');
  await page.keyboard.press('Escape');
  await expect.poll(() => cell(0, 1).textContent()).toBe('open');
  await expect.poll(() => isFocused(0, 1)).toBe(true);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('combobox', { name: 'status' }).selectOption('paid');
  await page.keyboard.press('Enter');
  await expect.poll(() => cell(1, 1).textContent()).toBe('paid');
  expect(await stored('status=paid')).toMatchObject([{ title: 'order 2' }]);
});

test('a decimal comma is accepted, and one that could separate thousands is not', async () => {
  await cell(1, 2).dblclick();
  const input = page.getByRole('textbox', { name: 'n', exact: true });
  await input.fill('1,234');
  await page.getByRole('alert').getByText('n: 1,234 is ambiguous').waitFor();
  await input.fill('4,50');
  await page.keyboard.press('Enter');
  await expect.poll(() => cell(1, 2).textContent()).toBe('4.5');
  expect(await stored('n=4.5')).toMatchObject([{ title: 'order 2' }]);
  await cell(1, 2).dblclick();
  await input.fill('2');
  await page.keyboard.press('Enter');
  await expect.poll(() => cell(1, 2).textContent()).toBe('2');
});

test('400 VALIDATION_FAILED is shown at the cell, which stays open', async () => {
  await cell(1, 2).dblclick();
  await page.getByRole('textbox', { name: 'n', exact: true }).fill('101');
  const width = () => cell(1, 2).evaluate((element) => element.getBoundingClientRect().width);
  const unsaid = await width();
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('n must be').waitFor();
  expect(await width()).toBe(unsaid);
  await page.keyboard.press('Escape');
  await expect.poll(() => page.getByRole('textbox', { name: 'n', exact: true }).count()).toBe(0);
});

test('412 REVISION_MISMATCH opens the choice between both versions', async () => {
  await cell(1, 0).locator('a').focus();
  await page.keyboard.press('F2');
  const input = page.getByRole('textbox', { name: 'title', exact: true });
  await input.fill('mine');
  const [{ _id: id } = {}] = await stored('n=2');
  await project.api('PATCH', `/api/data/orders/${String(id)}`, { body: { title: 'theirs' } });
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Someone else changed this document' });
  await dialog.getByRole('group', { name: 'title changed by both' }).getByLabel('Mine').check();
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('link', { name: 'mine', exact: true }).waitFor();
  expect(await stored('n=2')).toMatchObject([{ title: 'mine' }]);
  expect(opened.problems).toEqual([]);
});
