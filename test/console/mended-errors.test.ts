import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type OpenPage, obstacles, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;
let opened: OpenPage;
let base: string;

beforeAll(async () => {
  browser = await openChromium();
  project = await newProject([
    {
      name: 'events',
      schema: [
        { key: 'title', type: 'String' },
        { key: 'meta', type: 'Object' },
        { key: 'tags', type: 'Array', items: { type: 'Number' } },
        { key: 'when', type: 'Ref', ref: 'events' },
      ],
    },
  ]);
  for (const title of ['Fair', '', '   ']) await project.api('POST', '/api/data/events', { body: { title } });
  await project.api('POST', '/api/data/events', { body: { tags: [5] } });
  const path = `/projects/${project.id}/documents/events`;
  base = `${inject('stack').dashboardUrl}${path}`;
  opened = await openAs(browser, project.developer, path);
  await opened.page.getByRole('link', { name: 'Fair' }).waitFor();
});

afterAll(() => browser.close());

const wrongs = async () => (await opened.page.locator('.wrong').allTextContents()).sort();

describe('errors in the console', () => {
  test('of a document name their field and disappear when its value changes, in the form and as JSON', async () => {
    const { page, problems } = opened;
    await page.goto(`${base}?new=1`);
    await page.getByRole('textbox', { name: 'meta', exact: true }).fill('{a:1}');
    await page.getByRole('textbox', { name: 'tags', exact: true }).fill('a, b');
    await page.getByRole('combobox', { name: 'when', exact: true }).fill('tomorrow');
    const insert = page.getByRole('button', { name: 'Insert' }).last();
    await insert.click();
    await expect
      .poll(wrongs)
      .toEqual([
        'meta is not valid JSON from character 2 on.',
        'tags is not valid JSON.',
        expect.stringMatching(/^when must be a Ref/),
      ]);
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('link', { name: 'JSON', exact: true }).click();
    await expect.poll(async () => (await wrongs())[0]?.split('\n').length).toBe(3);
    await page.getByRole('link', { name: 'Form', exact: true }).click();
    await page.getByRole('textbox', { name: 'meta', exact: true }).fill('{"a":1}');
    await page.getByRole('textbox', { name: 'tags', exact: true }).fill('[1]');
    await expect.poll(async () => (await wrongs()).length).toBe(1);
    await insert.click();
    await page.getByRole('combobox', { name: 'when', exact: true }).fill('a'.repeat(24));
    await expect.poll(wrongs).toEqual([]);
    await page.getByRole('link', { name: 'JSON', exact: true }).click();
    const editor = page.getByRole('textbox', { name: 'Document, as JSON' });
    await editor.fill('{"when": "soon"}');
    await insert.click();
    await expect.poll(wrongs).toEqual([expect.stringMatching(/^when must be a Ref/)]);
    await editor.fill('{"title": "Mended"}');
    await expect.poll(wrongs).toEqual([]);
    await insert.click();
    await page.getByRole('link', { name: 'Mended' }).waitFor();
    expect(new URL(page.url()).search).toBe('');
    expect(problems).toEqual([]);
  });

  test('of a form name the label, not the field of the API, and disappear when the value changes', async () => {
    const { page } = opened;
    await page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/settings/webhooks`);
    await page.getByRole('button', { name: 'New webhook' }).first().click();
    await page.getByLabel('Address').fill('ftp://example.com');
    await page.getByLabel('user.created').check();
    await page.getByRole('button', { name: 'Create' }).click();
    await expect.poll(wrongs).toEqual([expect.stringMatching(/^Address must begin with https/)]);
    await page.getByLabel('Address').press('End');
    await page.keyboard.type('/');
    await expect.poll(wrongs).toEqual([]);
    await page.getByRole('button', { name: 'Create' }).click();
    await expect.poll(wrongs).toEqual([expect.stringMatching(/^Address must begin with https/)]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Discard changes' }).click();
  });

  test('of the browser are shown at their field in the words of the console, until the value changes', async () => {
    const { page, problems } = await browser.newPage();
    await page.goto(`${inject('stack').dashboardUrl}/sign-up`);
    const email = page.getByLabel('Email address');
    await email.fill('ada');
    await page.getByRole('button', { name: 'Create account' }).click();
    const alerts = page.getByRole('alert');
    expect(await alerts.allTextContents()).toEqual([
      'Enter an email address, for example ada@example.com.',
      'Fill in this field.',
    ]);
    expect(await page.evaluate('document.activeElement.type')).toBe('email');
    expect(await obstacles(page)).toEqual([]);
    await email.fill('ada@example.com');
    await expect.poll(() => alerts.allTextContents()).toEqual(['Fill in this field.']);
    expect(problems).toEqual([]);
  });

  test('of a lost connection say that the device is offline and disappear when it is back', async () => {
    const { page } = opened;
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${base}?new=1&tab=form`);
    await page.getByRole('textbox', { name: 'title', exact: true }).fill('Offline');
    await page.getByRole('textbox', { name: 'meta', exact: true }).fill(`{${'\n'.repeat(60)}}`);
    await page.context().setOffline(true);
    const insert = page.getByRole('button', { name: 'Insert' }).last();
    await insert.click();
    await page.getByText("You're offline. This page continues").waitFor();
    await page.locator('.note.problem').getByText("You're offline.").waitFor();
    for (const selector of ['.halves > section', '.side'])
      await expect
        .poll(() => page.locator(selector).evaluate((part) => part.getBoundingClientRect().bottom))
        .toBeLessThanOrEqual(900);
    await page.context().setOffline(false);
    await page.locator('.note.problem').waitFor({ state: 'detached' });
    await page.getByText('Connected again').waitFor();
    expect(await page.getByRole('textbox', { name: 'title', exact: true }).inputValue()).toBe('Offline');
    await insert.click();
    await page.getByRole('link', { name: 'Offline' }).waitFor();
    opened.problems.length = 0;
  });
});

describe('document list after errors', () => {
  test('links a document by its id when its first column has no text', async () => {
    const { page } = opened;
    await page.goto(`${base}?columns=title`);
    await page.getByRole('link', { name: 'Fair' }).waitFor();
    const names = await page.locator('tbody td a').allTextContents();
    expect(names.filter((name) => /^[0-9a-f]{24}$/.test(name))).toHaveLength(3);
    expect(names.filter((name) => ['', '–', '""', '"   "'].includes(name.trim()))).toEqual([]);
  });

  test('is reloaded when a save conflicts with the change of another user', async () => {
    const { page } = opened;
    await page.goto(base);
    await page.getByRole('link', { name: 'Fair' }).click();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('textbox', { name: 'title', exact: true }).fill('Mine');
    const id = new URL(page.url()).searchParams.get('open');
    await project.api('PATCH', `/api/data/events/${id}`, { body: { title: 'Theirs' } });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('row').getByRole('link', { name: 'Theirs' }).waitFor();
  });

  test('keeps the conditions of a filter when Escape closes the suggestions of a field', async () => {
    const { page } = opened;
    await page.goto(base);
    const field = page.getByLabel('Field', { exact: true });
    await page.getByRole('link', { name: 'Theirs' }).waitFor();
    await page.keyboard.press('/');
    await field.waitFor();
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    await field.fill('title');
    await page.getByRole('textbox', { name: 'Value' }).fill('Theirs');
    await field.press('Escape');
    await field.press('Escape');
    expect(await page.getByRole('textbox', { name: 'Value' }).inputValue()).toBe('Theirs');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('1–1 of 1').waitFor();
  });
});

test('overview shows the numbers of today, one chart of 30 days, and says how late they can be', async () => {
  const { page } = opened;
  await page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}`);
  await page.getByText('The last ten seconds may be missing.').waitFor();
  await page.getByRole('link', { name: 'Requests today' }).waitFor();
  const chart = page.getByRole('figure').filter({ hasText: 'Requests of 30 days' });
  await expect.poll(() => chart.getByRole('link').count()).toBe(30);
  await page.getByText('Account emails are free').waitFor();
  expect(await obstacles(page)).toEqual([]);
});
