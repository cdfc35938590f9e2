import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { type OpenPage, openChromium } from '../support/clients/chromium.ts';
import { confirmAct, openAs } from '../support/clients/console-page.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';
import { Receiver, verify } from '../support/fixtures/receiver.ts';
import { arrived } from '../support/fixtures/webhooks.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;
let receiver: Receiver;
let opened: OpenPage;

beforeAll(async () => {
  [browser, project, receiver] = await Promise.all([openChromium(), newProject(), Receiver.start()]);
  await project.addCollection({ name: 'posts', changes: true });
  opened = await openAs(browser, project.developer, '/');
  await opened.page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/settings/webhooks`);
});

afterAll(() => Promise.all([browser.close(), receiver.close()]));

beforeEach(() => {
  opened.problems.length = 0;
});

const panel = () => opened.page.getByRole('region', { name: new URL(receiver.url).host });

describe('webhooks in the console', () => {
  let secret: string;

  test('webhook is created, its secret is shown once, and the secret signs its events', async () => {
    const { page, problems } = opened;
    await page.getByText('No webhooks yet.').waitFor();
    await page.getByRole('button', { name: 'New webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('document.created').check();
    for (const address of ['http://localhost:3000/hook', 'https://localhost:3000/hook']) {
      await dialog.getByLabel('Address').fill(address);
      await dialog.getByRole('button', { name: 'Create' }).click();
      await dialog.getByText('PERMITTED_ADDRESSES=127.0.0.1:3000 npm start, and use http://127.0.0.1:3000').waitFor();
    }
    await dialog.getByLabel('document.created').uncheck();
    await dialog.getByLabel('Address').fill(receiver.url);
    await dialog.getByRole('button', { name: 'Create' }).click();
    const wrong = dialog.getByRole('alert');
    expect(await wrong.textContent()).toMatch(/^Events must name one or more of document.created, /);
    await dialog.getByLabel('document.created').check();
    await wrong.waitFor({ state: 'detached' });
    await dialog.getByLabel('Collections').fill('nothing');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByRole('alert').first().waitFor();
    await dialog.getByLabel('Collections').fill('posts');
    await dialog.getByRole('button', { name: 'Create' }).click();
    const shown = dialog.getByRole('region', { name: 'Secret' });
    await shown.getByText(/^whsec_/).waitFor();
    secret = (await shown.textContent()) ?? '';
    await dialog.getByRole('button', { name: "I've saved the secret" }).click();
    await panel().getByText('No deliveries').waitFor();
    await project.api('POST', '/api/data/posts', { key: project.secretKey, body: { title: 'Hello' } });
    const told = await arrived(receiver, ({ body }) => body.type === 'document.created');
    expect(verify(secret, told)).toMatchObject({ data: { document: { title: 'Hello' } } });
    expect(problems).toEqual([]);
  });

  test('test event is sent, and deliveries are sent again by row and since a time', async () => {
    const { page, problems } = opened;
    await panel().getByRole('button', { name: 'Send a test' }).click();
    await arrived(receiver, ({ body }) => body.type === 'webhook.test');
    const row = panel().getByRole('row').filter({ hasText: 'document.created' });
    const [told] = receiver.of('document.created');
    await row.getByText(told?.id ?? '', { exact: true }).waitFor();
    await row.getByText('posts', { exact: true }).waitFor();
    const count = () => receiver.of('document.created').length;
    const before = count();
    await row.getByRole('button', { name: 'Deliver again' }).first().click();
    await expect.poll(count, { timeout: 120_000 }).toBeGreaterThan(before);
    const again = count();
    await panel().getByLabel('Changes since').fill('2026-01-01T00:00');
    await page.getByRole('button', { name: 'Replay events' }).click();
    await page
      .getByText(/30 days/)
      .last()
      .waitFor();
    const hourAgo = new Date(Date.now() - 3_600_000 - new Date().getTimezoneOffset() * 60_000);
    await panel().getByLabel('Changes since').fill(hourAgo.toISOString().slice(0, 16));
    await page.getByRole('button', { name: 'Replay events' }).click();
    await expect.poll(count, { timeout: 120_000 }).toBeGreaterThan(again);
    expect(problems).toEqual([]);
  });

  test('webhook is changed, switched off and on, gets a new secret, and is deleted when its host is typed', async () => {
    const { page, problems } = opened;
    await panel().getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('document.deleted').check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await panel().getByText('document.created document.deleted', { exact: true }).waitFor();
    await panel().getByRole('button', { name: 'Switch off' }).click();
    await panel().getByRole('button', { name: 'Switch on' }).click();
    await panel().getByRole('button', { name: 'Switch off' }).waitFor();
    await panel().getByRole('button', { name: 'Rotate secret' }).click();
    const shown = dialog.getByRole('region', { name: 'Secret' });
    await shown.getByText(/^whsec_/).waitFor();
    expect(await shown.textContent()).not.toBe(secret);
    await dialog.getByRole('button', { name: "I've saved the secret" }).click();
    await panel().getByRole('button', { name: 'Delete webhook' }).click();
    await confirmAct(page, 'Delete webhook', new URL(receiver.url).host);
    await page.getByText('No webhooks yet.').waitFor();
    expect(problems).toEqual([]);
  });
});
