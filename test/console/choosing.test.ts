import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { obstacles, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;

beforeAll(async () => {
  browser = await openChromium();
});

afterAll(() => browser.close());

describe('choosing in the console', () => {
  test('a user while accounts are off offers to turn them on', async () => {
    const { id, developer } = await newProject([{ name: 'posts' }]);
    const { page, problems } = await openAs(browser, developer, `/projects/${id}/documents/posts`);
    await page.getByRole('button', { name: 'View as' }).click();
    await page.getByRole('button', { name: 'A user…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('User accounts are off.').waitFor();
    expect(await dialog.getByRole('alert').count()).toBe(0);
    expect(await obstacles(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Turn on accounts' }).click();
    await dialog.getByText('User accounts are off.').waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  test('a document of a collection that does not exist yet says so', async () => {
    const { id, developer } = await newProject([
      { name: 'products', schema: [{ key: 'maker', type: 'Ref', ref: 'makers' }] },
    ]);
    const { page } = await openAs(browser, developer, `/projects/${id}/documents/products?new=1`);
    await page.getByRole('button', { name: 'Choose' }).click();
    const dialog = page.getByRole('dialog', { name: 'Choose from makers' });
    await dialog.getByText('The collection makers does not exist yet.').waitFor();
    const opening = page.waitForEvent('popup');
    await dialog.getByRole('link', { name: 'Create it in a new tab' }).click();
    await (await opening).getByRole('button', { name: 'Create' }).first().waitFor();
    await page.close();
  });

  test('a document of an empty collection says so, and one is added in a new tab', async () => {
    const schema = [
      { key: 'name', type: 'String' },
      { key: 'maker', type: 'Ref', ref: 'makers' },
    ];
    const { id, developer } = await newProject([{ name: 'makers' }, { name: 'products', schema }]);
    const { page, problems } = await openAs(browser, developer, `/projects/${id}/documents/products?new=1`);
    await page.getByRole('textbox', { name: 'name' }).fill('Chair');
    await page.getByRole('button', { name: 'Choose' }).click();
    const dialog = page.getByRole('dialog', { name: 'Choose from makers' });
    await dialog.getByText('makers has no documents yet.').waitFor();
    const opening = page.waitForEvent('popup');
    await dialog.getByRole('link', { name: 'Add one in a new tab' }).click();
    const added = await opening;
    await added.getByRole('region', { name: 'New document' }).waitFor();
    await page.keyboard.press('Escape');
    expect(await page.getByRole('textbox', { name: 'name' }).inputValue()).toBe('Chair');
    expect(problems).toEqual([]);
  });
});
