import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onControl } from '../../shared/persistence/mongo.ts';
import { openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newProject } from '../support/fixtures/project.ts';
import { heldExport } from '../support/fixtures/transfers.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;

beforeAll(async () => {
  browser = await openChromium();
});

afterAll(() => browser.close());

describe('imports in the console', () => {
  test('show the reason for each rejected line', async () => {
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

test('exports of one collection are listed by page, without those of other collections', async () => {
  const { id, developer } = await newProject([{ name: 'posts' }, { name: 'others' }]);
  const { active: _active, ...first } = { ...(await heldExport(id, 'posts')), state: 'failed' };
  const later = (collectionName: string, many: number) =>
    Array.from({ length: many }, () => ({ ...first, _id: new ObjectId(), collectionName, state: 'done' }));
  await onControl(async (db) => {
    const transfers = db.collection('transfers');
    await transfers.replaceOne({ _id: first._id }, first);
    await transfers.insertMany([...later('posts', 50), ...later('others', 100)]);
  });
  const { page, problems } = await openAs(browser, developer, `/projects/${id}/documents/posts/transfers`);
  await page.getByText('1–50 of 51').waitFor();
  expect(await page.getByText('Failed').count()).toBe(0);
  await page.getByRole('button', { name: 'Next page' }).click();
  await page.getByRole('row').getByText('Failed').waitFor();
  expect(await page.getByRole('row').count()).toBe(2);
  expect(problems).toEqual([]);
});
