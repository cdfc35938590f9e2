import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openChromium } from '../support/clients/chromium.ts';
import { openAs, withAssistant } from '../support/clients/console-page.ts';
import { newProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;

beforeAll(async () => {
  browser = await openChromium();
});

afterAll(() => browser.close());

describe('the schema assistant in the console', () => {
  test('is not offered when the service does not have it', async () => {
    const project = await newProject();
    const { page, problems } = await openAs(browser, project.developer, `/projects/${project.id}/new-collection`);
    await page.getByRole('button', { name: 'Add a field' }).waitFor();
    expect(await page.getByRole('button', { name: 'Suggest' }).count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test('501 NOT_SET_UP is shown, and a suggestion becomes the fields of a collection', async () => {
    const project = await newProject();
    const path = `/projects/${project.id}/new-collection`;
    const { page, problems } = await openAs(browser, project.developer, path);
    await withAssistant(page);
    await page.reload();
    await page.getByRole('button', { name: 'Suggest' }).click();
    expect(await page.getByText('NOT_SET_UP').count()).toBe(0);
    await page.getByLabel('What is it for?').fill('Recipes');
    await page.getByRole('button', { name: 'Suggest' }).click();
    await page.getByRole('alert').getByText('NOT_SET_UP').waitFor();
    const proposal = { name: 'recipes', schema: [{ key: 'title', type: 'String', required: true }] };
    await page.route('**/schema-assistant', (route) =>
      route.fulfill({ json: { success: true, data: proposal, message: '' } }),
    );
    await page.getByRole('button', { name: 'Suggest' }).click();
    await expect.poll(() => page.getByLabel('Name').first().inputValue()).toBe('recipes');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'recipes' }).waitFor();
    const { body } = await project.developer.dashboard<{ data: { schema: unknown } }>(
      'GET',
      `/api/projects/${project.id}/collections/recipes`,
    );
    expect(body.data.schema).toMatchObject([{ key: 'title', type: 'String', required: true }]);
    expect(problems).toEqual([]);
  });
});
