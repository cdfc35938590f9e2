import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { obstacles, openChromium } from '../support/clients/chromium.ts';
import { openAs, withAssistant } from '../support/clients/console-page.ts';
import { newDeveloper, newProject } from '../support/fixtures/project.ts';

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

/** Windows-1252, semicolons, a decimal comma, and a column that is left out. */
const customers = Buffer.from(
  'Name;Stadt;Umsatz;seit;Notiz\r\nAnna;Zürich;1,5;2026-01-31;"a; b"\r\nBen;;2;;c\r\n',
  'latin1',
);

describe('a new collection', () => {
  test('is announced as over the limit of the plan before the form is filled', async () => {
    const developer = await newDeveloper('free');
    const project = await newProject(
      ['a', 'b', 'c', 'd'].map((name) => ({ name })),
      developer,
    );
    const path = `/projects/${project.id}/new-collection`;
    const { page, problems } = await openAs(browser, developer, path);
    await page.getByRole('button', { name: 'Add a field' }).waitFor();
    await project.addCollection({ name: 'e' });
    await page.reload();
    const note = page
      .getByRole('status')
      .filter({ hasText: '5 of 5 collections: the plan allows no more. The collection users counts too.' });
    await note.getByRole('link', { name: 'Usage' }).waitFor();
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('starts from a CSV file with renamed columns, and imports its documents', async () => {
    const project = await newProject();
    const path = `/projects/${project.id}/new-collection`;
    const { page, problems } = await openAs(browser, project.developer, path);
    await page.getByLabel('Name', { exact: true }).fill('customers');
    await page.getByRole('radio', { name: 'A file' }).check();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Choose a file first.').waitFor();
    const file = { name: 'customers.csv', mimeType: 'text/csv', buffer: customers };
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByLabel('Field for Stadt').fill('address.city');
    await page.getByLabel('Keep Notiz').uncheck();
    expect(await page.getByLabel('Encoding').inputValue()).toBe('windows-1252');
    expect(await page.getByLabel('Type of Umsatz').inputValue()).toBe('Number');
    await page.getByRole('cell', { name: 'Zürich' }).waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('radio', { name: 'Server only' }).check();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('2 imported').waitFor();
    const { body } = await project.developer.dashboard<{ data: { schema: unknown; rls: unknown } }>(
      'GET',
      `/api/projects/${project.id}/collections/customers`,
    );
    expect(body.data).toMatchObject({
      schema: [
        { key: 'Name', type: 'String' },
        { key: 'address', fields: [{ key: 'city', type: 'String' }] },
        { key: 'Umsatz', type: 'Number' },
        { key: 'seit', type: 'Date' },
      ],
      rls: { enabled: true, mode: 'rules', rules: { read: false, create: false, update: false, delete: false } },
    });
    const found = await project.api<{ data: { items: unknown } }>('GET', '/api/data/customers?sort=Name');
    expect(found.body.data.items).toMatchObject([
      { Name: 'Anna', address: { city: 'Zürich' }, Umsatz: 1.5, seit: '2026-01-31T00:00:00.000Z' },
      { Name: 'Ben', Umsatz: 2 },
    ]);
    expect(problems).toEqual([]);
  });

  test('starts from a template, whose schema takes the fields of a JSON file and is copied as TypeScript', async () => {
    const project = await newProject();
    const path = `/projects/${project.id}/new-collection`;
    const { page, problems } = await openAs(browser, project.developer, path);
    await page.getByRole('radio', { name: 'Tasks' }).check();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('tasks');
    expect(await page.getByRole('radio', { name: 'Owner only' }).isChecked()).toBe(true);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'tasks' }).waitFor();
    await page.getByRole('link', { name: 'Schema', exact: true }).click();
    await page.getByRole('button', { name: 'From a file' }).click();
    const dialog = page.getByRole('dialog');
    const buffer = Buffer.from('[{"title": "a", "steps": [{"at": "2026-01-31"}]}]');
    await dialog.locator('input[type=file]').setInputFiles({ name: 'a.json', mimeType: 'application/json', buffer });
    await dialog.getByLabel('Field for steps').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Add these fields' }).click();
    await page.getByText('1 field added.').waitFor();
    await page.getByLabel('Type of steps[].at').waitFor();
    await page.getByRole('button', { name: 'TypeScript' }).click();
    await dialog.getByText('priority?: "low" | "normal" | "high" | null | undefined;').first().waitFor();
    await dialog.getByText('steps?: { at?: string | null | undefined }[] | null | undefined;').first().waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Save', exact: true }).first().click();
    await page.getByText('Schema saved.').waitFor();
    expect(problems).toEqual([]);
  });
});
