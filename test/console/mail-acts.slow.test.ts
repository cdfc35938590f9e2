import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { suppress } from '../../shared/mail/suppressions.ts';
import { type OpenPage, openChromium } from '../support/clients/chromium.ts';
import { confirmAct, openAs } from '../support/clients/console-page.ts';
import { mailTo } from '../support/clients/inbox.ts';
import { newProject, newUnverified, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;
let opened: OpenPage;

beforeAll(async () => {
  [browser, project] = await Promise.all([openChromium(), newProject()]);
  opened = await openAs(browser, project.developer, `/projects/${project.id}/mail/templates`);
});

afterAll(() => browser.close());

test('mail template is created, changed, tested and deleted in the console', async () => {
  const { page, problems } = opened;
  const dialog = page.getByRole('dialog');
  const row = page.getByRole('row').filter({ hasText: 'Greeting' });
  const save = async (fields: Readonly<Record<string, string>>) => {
    for (const [label, value] of Object.entries(fields)) await dialog.getByLabel(label, { exact: true }).fill(value);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  await page.getByRole('button', { name: 'New template' }).click();
  await dialog.getByLabel('Name', { exact: true }).fill('Welcome');
  expect(await dialog.getByLabel('Key', { exact: true }).inputValue()).toBe('');
  await dialog.getByLabel('Name', { exact: true }).fill('Greeting of Ö 2');
  expect(await dialog.getByLabel('Key', { exact: true }).inputValue()).toBe('greeting-of-2');
  await save({ Name: 'Greeting', Subject: 'Hello', Text: 'Dear {{{name}}} of {{siteName}}, {{order.no}}' });
  await row.getByText('Hello').waitFor();
  await row.getByRole('link', { name: 'Greeting' }).click();
  await page.getByText('Dear {{{name}}}').waitFor();
  expect(await page.getByLabel('To', { exact: true }).inputValue()).toBe(project.developer.email);
  expect(JSON.parse(await page.getByLabel('Variables, as JSON').inputValue())).toEqual({ name: '', order: { no: '' } });
  await page.getByRole('button', { name: 'Edit' }).click();
  await save({ Subject: 'Good day' });
  await page.getByRole('strong').getByText('Good day').waitFor();
  await row.getByText('Good day').waitFor();
  const to = `tried-${Date.now()}@example.com`;
  await page.getByLabel('To', { exact: true }).fill(to);
  await page.getByLabel('Variables, as JSON').fill('{"name": "Ada"}');
  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByRole('status').getByText(`Sent to ${to}`).waitFor();
  expect(await mailTo(to)).toMatchObject({
    subject: expect.stringContaining('Good day'),
    text: 'Dear Ada of test project, ',
  });
  await page.getByRole('button', { name: 'Delete' }).click();
  await confirmAct(page, 'Delete', 'Greeting');
  await row.waitFor({ state: 'detached' });
  expect(problems).toEqual([]);
});

test('403 EMAIL_NOT_VERIFIED offers to send the email again', async () => {
  const developer = await newUnverified();
  const { id } = await newProject([], developer);
  const { page, problems } = await openAs(browser, developer, `/projects/${id}/mail/templates?open=welcome`);
  await page.getByRole('button', { name: 'Send a test' }).click();
  const alert = page.getByRole('alert');
  await alert.getByText(`Open the link in the email to ${developer.email}`).waitFor();
  expect(await alert.getByText('POST /api').count()).toBe(0);
  await alert.getByRole('button', { name: 'Send again' }).click();
  expect(await mailTo(developer.email)).toMatchObject({ subject: expect.any(String) });
  expect(problems).toEqual([]);
});

test('address that bounced is shown in the console and can be sent to again', async () => {
  const { page, problems } = opened;
  await suppress(project.id, ['gone@example.com'], { reason: 'bounced', providerEmailId: 'said-by-test' });
  await page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/mail/suppressions`);
  const row = page.getByRole('row').filter({ hasText: 'gone@example.com' });
  await row.getByText('Bounced').waitFor();
  await row.getByRole('button', { name: 'Allow sending again' }).click();
  await page.getByText('No suppressed addresses.').waitFor();
  expect(problems).toEqual([]);
});
