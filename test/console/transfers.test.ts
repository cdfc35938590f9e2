import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newProject } from '../support/worlds/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;

beforeAll(async () => {
  browser = await openChromium();
});

afterAll(() => browser.close());

describe('imports in the console', () => {
  test('say of each refused line why', async () => {
    const typed = await newProject([{ name: 'posts', schema: [{ key: 'views', type: 'Number' }] }]);
    const path = `/api/projects/${typed.id}/collections/posts/imports`;
    await typed.developer.dashboard('POST', path, { format: 'csv', content: 'views\n1\nmany' });
    const { page, problems } = await openAs(
      browser,
      typed.developer,
      `/projects/${typed.id}/documents/posts/transfers`,
    );
    await page.getByRole('button', { name: 'Why' }).click();
    await page.getByRole('dialog').getByRole('cell', { name: 'views must be a Number' }).waitFor();
    expect(problems).toEqual([]);
  });
});
