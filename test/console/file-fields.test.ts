import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type OpenPage, obstacles, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { pixel } from '../support/fixtures/files.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;
let opened: OpenPage;

beforeAll(async () => {
  browser = await openChromium();
  const schema = [
    { key: 'name', type: 'String' },
    { key: 'image', type: 'String' },
  ];
  project = await newProject([{ name: 'products', schema }]);
  opened = await openAs(browser, project.developer, `/projects/${project.id}/documents/products?new=1`);
});

afterAll(() => browser.close());

const dot = { name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from(pixel) };

describe('a text field for a file in the console', () => {
  test('takes an uploaded file, which the list and the document show by picture and name', async () => {
    const { page, problems } = opened;
    await page.getByRole('textbox', { name: 'name' }).fill('Lamp');
    await page.getByRole('button', { name: 'Choose' }).click();
    const dialog = page.getByRole('dialog', { name: 'Choose a file' });
    await dialog.getByRole('button', { name: 'Upload a file' }).waitFor();
    expect(await obstacles(page)).toEqual([]);
    await dialog.locator('input[type=file]').setInputFiles([dot]);
    await dialog.waitFor({ state: 'detached' });
    expect(await page.getByRole('textbox', { name: 'image' }).inputValue()).toMatch(/_dot\.png$/);
    await page.getByRole('region', { name: 'New document' }).getByRole('button', { name: 'Insert' }).click();
    const link = page.getByRole('row').getByRole('link', { name: 'dot.png' });
    await link.waitFor();
    await expect.poll(() => page.evaluate('document.querySelector("td a img")?.naturalWidth')).toBe(1);
    await page.getByRole('link', { name: 'Lamp' }).click();
    const panel = page.getByRole('region', { name: 'Lamp' });
    await panel.getByRole('link', { name: 'dot.png' }).waitFor();
    await panel.getByRole('button', { name: 'Edit', exact: true }).click();
    await panel.getByRole('button', { name: 'Choose' }).click();
    await dialog.getByRole('option', { name: 'dot.png' }).locator('img').waitFor();
    await page.keyboard.press('Escape');
    await panel.getByRole('button', { name: 'Cancel' }).click();
    await panel.getByRole('link', { name: 'dot.png' }).click();
    await page.getByRole('img', { name: 'dot.png' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('is marked in the schema, whose options say how a field becomes one', async () => {
    const { page, problems } = opened;
    await page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/documents/products/schema?field=image`);
    await page.getByText('For a file, end the name of the field in').waitFor();
    await page.getByText('file', { exact: true }).waitFor();
    expect(problems).toEqual([]);
  });
});
