import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { type OpenPage, openChromium } from '../support/clients/chromium.ts';
import { confirmAct, openAs } from '../support/clients/console-page.ts';
import { newMember } from '../support/fixtures/members.ts';
import { startOwnDatabase } from '../support/fixtures/own-database.ts';
import { connectOwn, serveVerifiers } from '../support/fixtures/own-project.ts';
import { newDeveloper } from '../support/fixtures/project.ts';
import { newUsersProject, type UsersProject } from '../support/fixtures/users.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: UsersProject;
let opened: OpenPage;

beforeAll(async () => {
  [browser, project] = await Promise.all([openChromium(), newUsersProject()]);
  opened = await openAs(browser, project.developer, '/');
});

afterAll(() => browser.close());

beforeEach(() => {
  opened.problems.length = 0;
});

const openPart = (part: string) =>
  opened.page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/settings/${part}`);

describe('actions on project settings in the console', () => {
  test('keys are rotated, and the page shows the new publishable key', async () => {
    const { page, problems } = opened;
    await openPart('keys');
    const shown = page.getByRole('main').getByRole('region', { name: 'Publishable key' });
    await shown.getByText(project.publishableKey).waitFor();
    await page.getByRole('button', { name: 'Rotate publishable key' }).click();
    const dialog = page.getByRole('dialog');
    const until = async () => Date.parse((await dialog.locator('time').getAttribute('datetime')) ?? '');
    const [planned, hour] = [await until(), 3_600_000];
    expect(Math.round((planned - Date.now()) / hour)).toBe(24);
    await dialog.getByRole('textbox').fill('0');
    await dialog.getByText('The old key stops working immediately.').waitFor();
    await dialog.getByRole('textbox').fill('2');
    await dialog.getByRole('button', { name: 'Rotate', exact: true }).click();
    await dialog.getByText('This is the new key.').waitFor();
    await dialog.getByText('The old key works until').waitFor();
    expect(Math.round((planned - (await until())) / hour)).toBe(22);
    const key = (await dialog.getByRole('region', { name: 'Publishable key' }).textContent()) ?? '';
    await dialog.getByRole('button', { name: 'Close' }).click();
    await shown.getByText(key).waitFor();
    expect(key).not.toBe(project.publishableKey);
    expect((await project.api('GET', '/api/data/users', { key })).body).not.toMatchObject({ code: 'INVALID_API_KEY' });
    await page.getByRole('button', { name: 'Rotate secret key' }).click();
    await dialog.getByRole('button', { name: 'Rotate', exact: true }).click();
    const secretKey = dialog.getByRole('region', { name: 'Secret key' });
    await secretKey.getByText(/^sk_live_/).waitFor();
    await page.keyboard.press('Escape');
    await dialog.getByRole('alert').getByText('This is shown only once').waitFor();
    expect(await secretKey.textContent()).toMatch(/^sk_live_/);
    await dialog.getByRole('button', { name: "I've saved the secret key" }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Rotate signing key' }).click();
    await page.getByRole('status').getByText('The signing key was rotated').waitFor();
    expect(problems).toEqual([]);
  });

  test('sign-in methods are switched on and off independently', async () => {
    const { page, problems } = opened;
    const path = `/api/projects/${project.id}`;
    const kept = async () =>
      (await project.developer.dashboard<{ data: { signIn: object } }>('GET', path)).body.data.signIn;
    await openPart('sign-in');
    await page.getByLabel('Emailed codes').check();
    await expect.poll(kept).toMatchObject({ password: true, emailCode: true, anonymous: false });
    await page.getByLabel('Second factor').check();
    await expect.poll(kept).toMatchObject({ emailCode: true, secondFactor: 'optional' });
    await page.getByLabel('Emailed codes').uncheck();
    await page.getByLabel('Second factor').uncheck();
    await expect.poll(kept).toMatchObject({ password: true, emailCode: false, secondFactor: 'off' });
    expect(problems).toEqual([]);
  });

  test('users are allowed to upload', async () => {
    const { page, problems } = opened;
    const kept = async () => {
      const path = `/api/projects/${project.id}`;
      return (await project.developer.dashboard<{ data: { uploads: object } }>('GET', path)).body.data.uploads;
    };
    await page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/files`);
    await page.getByRole('link', { name: 'Uploads by users: off' }).click();
    await page.getByLabel('Uploads by users').check();
    await expect.poll(kept).toMatchObject({ users: true });
    expect(problems).toEqual([]);
  });

  test('directory is set, shows what is wrong with its rule, and is switched off', async () => {
    const { page, problems } = opened;
    const path = `/api/projects/${project.id}`;
    const kept = async () =>
      (await project.developer.dashboard<{ data: { directory: unknown } }>('GET', path)).body.data.directory;
    await openPart('sign-in');
    await page.getByLabel('Fields that are shown').fill('name');
    await page.getByLabel('Who may use it').fill('{');
    await page.getByRole('button', { name: 'Save directory' }).click();
    await page.getByText('The rule is not valid JSON.').first().waitFor();
    await page.getByLabel('Who may use it').fill('{"$user":{"emailVerified":true}}');
    await page.getByRole('button', { name: 'Save directory' }).click();
    await expect.poll(kept).toEqual({ read: { $user: { emailVerified: true } }, fields: ['name'] });
    await page.getByLabel('Fields that are shown').fill('');
    await page.getByRole('button', { name: 'Save directory' }).click();
    await expect.poll(kept).toBeNull();
    expect(problems).toEqual([]);
  });

  test('developer is invited, and the invitation is withdrawn', async () => {
    const { page, problems } = opened;
    const { email } = await newDeveloper();
    await openPart('members');
    await page.getByText('No open invitations.').waitFor();
    await page.getByLabel('Email address').fill(email);
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByRole('status').getByText(`Invitation sent to ${email}`).waitFor();
    await expect.poll(() => page.getByLabel('Email address').inputValue()).toBe('');
    // The field that is empty again must not be marked as invalid.
    const colours = `['input', 'select'].map((name) =>
      getComputedStyle(document.querySelector('main form ' + name)).borderTopColor)`;
    const [ofField, ofSelect] = await page.evaluate<readonly string[]>(colours);
    expect(ofField).toBe(ofSelect);
    await page.getByRole('row').filter({ hasText: email }).getByRole('button', { name: 'Withdraw' }).click();
    await page.getByText('No open invitations.').waitFor();
    expect(problems).toEqual([]);
  });

  test('viewer becomes an admin, and a viewer again', async () => {
    const { page, problems } = opened;
    const { email } = await newMember(project, 'viewer');
    await openPart('members');
    const row = page.getByRole('row').filter({ hasText: email });
    for (const role of ['Admin', 'Viewer']) {
      await row.getByRole('button', { name: `Make ${role.toLowerCase()}` }).click();
      await row.getByRole('cell', { name: role, exact: true }).waitFor();
    }
    expect(problems).toEqual([]);
  });

  test('external database shows an error when unreachable, and is disconnected when its address is typed', async () => {
    const { page, problems } = opened;
    const [own, stopVerifiers] = await Promise.all([startOwnDatabase(), serveVerifiers()]);
    try {
      await openPart('connections');
      await page.getByText('Allow these IP addresses in its firewall: 127.0.0.1.', { exact: true }).waitFor();
      await page.getByLabel('MongoDB URI').fill('mongodb://127.0.0.1:1/app');
      await page.getByRole('button', { name: 'Connect' }).first().click();
      await page.getByRole('alert').first().waitFor();
      expect((await connectOwn(project, own.uri('app'))).status).toBe(200);
      await openPart('connections');
      await page.getByText(own.address).waitFor();
      await page.getByRole('button', { name: "Use Basalt's own again" }).click();
      await confirmAct(page, "Use Basalt's own again", own.address);
      await page.getByText(own.address).waitFor({ state: 'detached' });
    } finally {
      await Promise.all([own.stop(), stopVerifiers()]);
    }
    expect(problems).toEqual([]);
  });
});
