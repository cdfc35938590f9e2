import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;

beforeAll(async () => {
  [browser, project] = await Promise.all([openChromium(), newProject([{ name: 'orders', changes: true }])]);
});

afterAll(() => browser.close());

test('documents that others change are updated by the changes feed, and no draft is lost', async () => {
  const send = (method: string, path: string, body: object = {}) =>
    project.api<{ _id: string }>(method, `/api/data/orders${path}`, { body });
  const first = await send('POST', '', { title: 'first', n: 1 });
  const { page, problems } = await openAs(browser, project.developer, `/projects/${project.id}/documents/orders`);
  await page.getByRole('link', { name: 'first' }).click();
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await page.getByRole('textbox', { name: 'n', exact: true }).fill('5');
  const second = await send('POST', '', { title: 'second' });
  await page.getByRole('link', { name: 'second' }).waitFor();
  await send('PATCH', `/${second.body._id}`, { title: 'renamed' });
  await page.getByRole('link', { name: 'renamed' }).waitFor();
  await send('DELETE', `/${second.body._id}`);
  await page.getByRole('link', { name: 'renamed' }).waitFor({ state: 'detached' });
  expect(await page.getByRole('textbox', { name: 'n', exact: true }).inputValue()).toBe('5');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved', { exact: true }).waitFor();
  expect((await project.api('GET', `/api/data/orders/${first.body._id}`)).body.n).toBe(5);
  expect(problems).toEqual([]);
});

test('times of the service are relative and updated, dates of documents are absolute', async () => {
  const { page, problems } = await openAs(browser, project.developer, '/account');
  const at = new Date(Date.now() - 30 * 3_600_000).toISOString();
  await project.api('POST', '/api/data/orders', { body: { title: 'old', at } });
  await page.clock.install();
  await page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/documents/orders`);
  const cells = page.getByRole('row').filter({ hasText: 'old' }).locator('time');
  await expect.poll(() => cells.first().textContent()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d$/);
  await expect.poll(() => cells.last().textContent()).toMatch(/^(now|\d+ sec\. ago)$/);
  await page.clock.fastForward('03:00');
  await expect.poll(() => cells.last().textContent()).toBe('3 min. ago');
  await page.clock.fastForward('30:00:00');
  await expect.poll(() => cells.last().textContent()).toBe('1 day ago');
  expect(problems).toEqual([]);
});
