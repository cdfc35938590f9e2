import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { openChromium, signIn } from '../support/clients/chromium.ts';
import { newProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;

beforeAll(async () => {
  browser = await openChromium();
});

afterAll(() => browser.close());

test('selected tab is visible on a phone when there are many tabs', async () => {
  const { id, developer } = await newProject();
  const { page } = await browser.newPage({ viewport: { width: 390, height: 844 } });
  await page.goto(`${inject('stack').dashboardUrl}/projects/${id}/settings/audit`);
  await signIn(page, developer);
  const tab = page.locator('.tabs [aria-current]');
  const isInSight = async () => {
    const box = await tab.boundingBox();
    return box !== null && box.x >= 0 && box.x + box.width <= 390;
  };
  await expect.poll(isInSight).toBe(true);
});

test('long names in the top line are cut at their end on a phone', async () => {
  const { id, developer } = await newProject();
  await developer.dashboard('PATCH', `/api/projects/${id}`, { name: 'Northern greenhouse and garden furniture' });
  const { page } = await browser.newPage({ viewport: { width: 390, height: 844 } });
  await page.goto(`${inject('stack').dashboardUrl}/projects/${id}`);
  await signIn(page, developer);
  const top = page.locator('.top');
  for (const name of [/^Northern/, /^dev-/]) {
    const hidden = () =>
      top.getByRole('button', { name }).evaluate((button) => {
        const text = button.ownerDocument.createRange();
        text.selectNodeContents(button);
        const [whole, shown] = [text.getBoundingClientRect(), button.getBoundingClientRect()];
        return { atStart: whole.left < shown.left, atEnd: whole.right > shown.right };
      });
    await expect.poll(hidden).toEqual({ atStart: false, atEnd: true });
  }
});

test('Close is beside the title of a document on a phone, also while it is edited', async () => {
  const { id, developer, secretKey } = await newProject([{ name: 'posts' }]);
  const made = await fetch(`${inject('stack').baseUrl}/api/data/posts`, {
    method: 'POST',
    headers: { 'x-api-key': secretKey },
    body: JSON.stringify({ title: 'Hello' }),
  });
  const { _id } = (await made.json()) as { readonly _id: string };
  const { page } = await browser.newPage({ viewport: { width: 390, height: 844 } });
  await page.goto(`${inject('stack').dashboardUrl}/projects/${id}/documents/posts?open=${_id}`);
  await signIn(page, developer);
  const panel = page.getByRole('region', { name: 'Hello' });
  await panel.getByRole('button', { name: 'Edit' }).click();
  await panel.getByRole('button', { name: 'Save' }).waitFor();
  const title = await panel.getByRole('heading', { name: 'Hello' }).boundingBox();
  const close = await panel.getByRole('button', { name: 'Close' }).boundingBox();
  if (!title || !close) throw new Error('A part of the head is not in sight');
  expect(close.x).toBeGreaterThanOrEqual(title.x + title.width);
  expect(close.y).toBeLessThan(title.y + title.height);
});

test('Save of a document is fully visible on a phone, and no message covers it', async () => {
  const schema = Array.from({ length: 12 }, (_, at) => ({ key: `field${at}`, type: 'String' }));
  const { id, developer } = await newProject([{ name: 'posts', schema }]);
  const { page } = await browser.newPage({ viewport: { width: 390, height: 844 } });
  await page.goto(`${inject('stack').dashboardUrl}/projects/${id}/documents/posts?new=1`);
  await signIn(page, developer);
  await page.getByRole('textbox', { name: 'field0' }).fill('Hello');
  await page.getByRole('region').getByRole('button', { name: 'Insert' }).click();
  await page.getByText('Inserted', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Hello' }).click();
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await page.getByRole('textbox', { name: 'field0' }).fill('Hello again');
  expect(await page.getByText('Inserted', { exact: true }).count()).toBe(1);
  const save = page.getByRole('button', { name: 'Save', exact: true });
  const { x = 0, y = 0, width = 0, height = 0 } = (await save.boundingBox()) ?? {};
  expect(y + height).toBeLessThan(844);
  const [across, down] = [x + width / 2, y + height - 2];
  expect(await page.evaluate(`document.elementFromPoint(${across}, ${down}).textContent`)).toBe('Save');
});
