import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;

beforeAll(async () => {
  [browser, project] = await Promise.all([openChromium(), newProject()]);
  const of = (path: string) => `/api/projects/${project.id}/${path}`;
  const { dashboard } = project.developer;
  await dashboard('PATCH', `/api/projects/${project.id}`, { providerApiKey: 're_drafts' });
  const audience = await dashboard('POST', of('mail/audiences'), { name: 'Readers' });
  expect(audience.status, JSON.stringify(audience.body)).toBe(201);
  const template = await dashboard('POST', of('mail/templates'), { name: 'Greeting', subject: 'Hello', text: 'Hi' });
  expect(template.status, JSON.stringify(template.body)).toBe(201);
});

afterAll(() => browser.close());

const kept = (page: Page): Promise<number> =>
  page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.includes('draft')).length);

test.each([
  ['a new template', 'mail/templates', ['New template'], { Name: 'News', Subject: 'Of today', HTML: '<p>Long</p>' }],
  ['a template', 'mail/templates', ['Greeting', 'Edit'], { Subject: 'Good day', Text: 'A long text' }],
  ['a broadcast', 'mail/broadcasts', ['New broadcast'], { Subject: 'To all', HTML: '<p>Long</p>' }],
  ['a webhook', 'settings/webhooks', ['New webhook'], { Address: 'https://hooks.example.com/a', 'user.created': true }],
])('typed text of %s can be restored after a reload or discarded', async (_what, path, opening, typed) => {
  const { page, problems } = await openAs(browser, project.developer, `/projects/${project.id}/${path}`);
  const dialog = page.getByRole('dialog');
  const open = async () => {
    for (const name of opening) {
      const button = page.getByRole('button', { name, exact: true });
      await button.or(page.getByRole('link', { name, exact: true })).click();
    }
    await dialog.waitFor();
  };
  await open();
  for (const [label, value] of Object.entries(typed)) {
    const field = dialog.getByLabel(label, { exact: true });
    if (typeof value === 'string') await field.fill(value);
    else await field.check();
  }
  expect(await kept(page)).toBe(1);
  page.on('dialog', (question) => void question.accept());
  await page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/${path}`);
  await open();
  await dialog.getByRole('button', { name: 'Restore what you typed' }).click();
  for (const [label, value] of Object.entries(typed)) {
    const field = dialog.getByLabel(label, { exact: true });
    if (typeof value === 'string') expect(await field.inputValue()).toBe(value);
    else expect(await field.isChecked()).toBe(true);
  }
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await kept(page)).toBe(0);
  expect(problems).toEqual([]);
});

test('schema, access and effects that were not saved can be restored after a reload, and are forgotten once saved', async () => {
  await project.addCollection({ name: 'kept', schema: [{ key: 'title', type: 'String' }] });
  const at = `/projects/${project.id}/documents/kept`;
  const { page, problems } = await openAs(browser, project.developer, `${at}/schema`);
  page.on('dialog', (question) => void question.accept());
  const restored = async (part: string) => {
    expect(await kept(page)).toBe(1);
    await page.goto(`${inject('stack').dashboardUrl}${at}/${part}`);
    await page.getByRole('button', { name: 'Restore what you typed' }).click();
  };
  const save = async () => {
    await page.getByRole('button', { name: 'Save', exact: true }).first().click();
    await expect.poll(() => kept(page)).toBe(0);
  };
  await page.getByLabel('Name of field 1', { exact: true }).press('Enter');
  await page.keyboard.type('year');
  await page.getByLabel('Type of year', { exact: true }).selectOption('Number');
  await restored('schema');
  expect(await page.getByLabel('Type of year', { exact: true }).inputValue()).toBe('Number');
  // A row of the restored draft and a new one are different rows.
  await page.getByRole('button', { name: 'Add a field', exact: true }).click();
  await page.getByLabel('Name of field 3', { exact: true }).fill('place');
  expect(await page.getByLabel('Name of field 2', { exact: true }).inputValue()).toBe('year');
  await save();
  await page.goto(`${inject('stack').dashboardUrl}${at}/access`);
  await page.getByRole('radio', { name: 'Owner only' }).check();
  await restored('access');
  expect(await page.getByRole('radio', { name: 'Owner only' }).isChecked()).toBe(true);
  await save();
  await page.goto(`${inject('stack').dashboardUrl}${at}/effects`);
  await page.getByRole('button', { name: 'Write as JSON' }).click();
  await restored('effects');
  await page.getByRole('listitem', { name: 'Effect 1', exact: true }).waitFor();
  expect(problems).toEqual([]);
});
