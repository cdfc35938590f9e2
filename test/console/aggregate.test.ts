import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type OpenPage, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;
let opened: OpenPage;
let page: Page;

beforeAll(async () => {
  const schema = [
    { key: 'city', type: 'String' },
    { key: 'n', type: 'Number' },
  ];
  [browser, project] = await Promise.all([openChromium(), newProject([{ name: 'orders', schema }])]);
  const orders = [
    { city: 'Rome', n: 1 },
    { city: 'Rome', n: 2 },
    { city: 'Oslo', n: 4 },
  ];
  await project.api('POST', '/api/data/orders/bulk', { body: orders });
  opened = await openAs(browser, project.developer, `/projects/${project.id}/documents/orders`);
  page = opened.page;
});

afterAll(() => browser.close());

const run = () => page.getByRole('button', { name: 'Run', exact: true }).click();
const cells = async (): Promise<readonly string[]> =>
  page.getByRole('region', { name: 'Results' }).locator('tbody td').allInnerTexts();

const write = async (text: string): Promise<void> => {
  await page.getByLabel('Pipeline, as JSON').fill(text);
};

test('a pipeline is run, its results are a table and a chart, and each stage shows its own', async () => {
  await page.getByRole('link', { name: 'Aggregate', exact: true }).click();
  // The first pipeline counts by the first field that groups well.
  await run();
  await page.getByText('2 results').waitFor();
  expect(await cells()).toEqual(['Rome', '2', 'Oslo', '1']);
  await page.locator('figcaption').getByText('documents by _id').waitFor();
  await page.getByLabel('Results after').selectOption({ label: '1 $match' });
  await page.getByText('3 results').waitFor();
  expect((await cells()).filter((text) => text === 'Rome' || text === 'Oslo')).toHaveLength(3);
  expect(opened.problems).toEqual([]);
});

test('the pipeline of the last run is there after a reload', async () => {
  await write('[{"$count":"orders"}]');
  await run();
  await page.getByText('1 result ·').waitFor();
  expect(await cells()).toEqual(['3']);
  await page.reload();
  await page.getByText('"orders"').waitFor();
  await run();
  await page.getByText('1 result ·').waitFor();
});

test('text that is no pipeline, and a stage that writes, are errors beside the editor', async () => {
  await write('{}');
  await run();
  await page.getByText('A pipeline is a JSON array of stages').waitFor();
  await write('[{"$out":"copy"}]');
  await run();
  await page.getByRole('alert').getByText('$out').waitFor();
});

test('users have no page for it', async () => {
  const users = ['email', 'password'].map((key) => ({ key, type: 'String', required: true }));
  await project.addCollection({ name: 'users', schema: users });
  await page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/documents/users`);
  await page.getByRole('link', { name: 'Indexes', exact: true }).waitFor();
  expect(await page.getByRole('link', { name: 'Aggregate', exact: true }).count()).toBe(0);
});
