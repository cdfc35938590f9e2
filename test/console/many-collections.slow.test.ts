import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;

beforeAll(async () => {
  browser = await openChromium();
});

afterAll(() => browser.close());

test('sidebar and ⌘K list all collections when there is more than one page of them', async () => {
  const names = Array.from({ length: 101 }, (_, at) => `c${100 + at}`);
  const { id, developer } = await newProject(names.map((name) => ({ name })));
  const viewport = { width: 1440, height: 600 };
  const { page, problems } = await openAs(browser, developer, `/projects/${id}/settings/keys`, { viewport });
  const places = page.getByRole('navigation', { name: 'Navigation' });
  const last = places.getByRole('link', { name: 'c200', exact: true });
  await last.waitFor();
  const bottomOf = async (link: typeof last) => {
    const { y = Number.NaN, height = 0 } = (await link.boundingBox()) ?? {};
    return y + height;
  };
  expect(await bottomOf(places.getByRole('link', { name: 'Settings', exact: true }))).toBeLessThan(600);
  expect(await bottomOf(last)).toBeGreaterThan(600);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to' }).fill('c200');
  await page.getByRole('option', { name: 'c200', exact: true }).click();
  await page.getByRole('heading', { name: 'c200', level: 1 }).waitFor();
  await expect.poll(() => bottomOf(last)).toBeLessThan(600);
  await page.goto(`${inject('stack').dashboardUrl}/projects/${id}/documents/c150`);
  await expect.poll(() => bottomOf(places.getByRole('link', { name: 'c150', exact: true }))).toBeLessThan(600);
  expect(problems).toEqual([]);
});

test('area opens by a click while the collections are loading', async () => {
  const { id, developer } = await newProject([{ name: 'notes' }]);
  const { page } = await openAs(browser, developer, `/projects/${id}/settings/keys`);
  const list = Promise.withResolvers<void>();
  await page.route('**/collections?*', async (route) => {
    await list.promise;
    await route.continue();
  });
  await page.reload();
  const places = page.getByRole('navigation', { name: 'Navigation' });
  await places.getByRole('link', { name: 'Files', exact: true }).hover();
  await page.mouse.down();
  list.resolve();
  await places.getByRole('link', { name: 'notes', exact: true }).waitFor();
  await page.mouse.up();
  await page.getByRole('heading', { name: 'Files', level: 1 }).waitFor();
});
