import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;
let page: Page;

const rows = 3;

beforeAll(async () => {
  [browser, project] = await Promise.all([openChromium(), newProject([{ name: 'books' }])]);
  const body = Array.from({ length: rows }, (_, place) => ({ title: `Book ${place}` }));
  await project.api('POST', '/api/data/books/bulk', { body });
  ({ page } = await openAs(browser, project.developer, `/projects/${project.id}`));
});

afterAll(() => browser.close());

test('opening a collection loads its script on hover, and makes two requests, at the press of the button', async () => {
  const link = page.locator('.side').getByRole('link', { name: 'books', exact: true });
  await link.waitFor();
  await page.waitForLoadState('networkidle');
  const asked: string[] = [];
  const scripts: string[] = [];
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.startsWith('/assets/')) scripts.push(pathname);
    else asked.push(pathname.split('/').slice(4).join('/') + search);
  });
  await link.hover();
  await expect.poll(() => scripts.length).toBeGreaterThan(0);
  expect(asked).toEqual([]);
  await page.mouse.down();
  await expect.poll(() => asked.toSorted()).toEqual(['collections/books', 'collections/books/documents?limit=50']);
  await page.mouse.up();
  await expect.poll(() => page.locator('main tbody tr:not(.waiting)').count()).toBe(rows);
  await page.waitForLoadState('networkidle');
  expect(asked).toHaveLength(2);
});
