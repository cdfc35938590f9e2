import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { openChromium, signIn } from '../support/clients/chromium.ts';
import { newProject } from '../support/worlds/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;

beforeAll(async () => {
  browser = await openChromium();
});

afterAll(() => browser.close());

test('on a phone the present one of many tabs is in sight', async () => {
  const { id, developer } = await newProject();
  const { page } = await browser.newPage({ viewport: { width: 390, height: 844 } });
  await page.goto(`${inject('stack').dashboardUrl}/projects/${id}/settings/audit`);
  await signIn(page, developer);
  const tab = page.locator('.tabs [aria-current]');
  await tab.waitFor();
  const { x = 0, width = 0 } = (await tab.boundingBox()) ?? {};
  expect(x).toBeGreaterThanOrEqual(0);
  expect(x + width).toBeLessThanOrEqual(390);
});
