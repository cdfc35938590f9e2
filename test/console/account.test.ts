import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { farReachingScopes, scopes } from '../../shared/accounts/developers/scopes.ts';
import { type OpenPage, obstacles, openChromium } from '../support/clients/chromium.ts';
import { call } from '../support/clients/client.ts';
import { openAs } from '../support/clients/console-page.ts';
import { type Developer, newDeveloper, newProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let developer: Developer;
let opened: OpenPage;

beforeAll(async () => {
  browser = await openChromium();
  ({ developer } = await newProject());
  opened = await openAs(browser, developer, '/account');
});

afterAll(() => browser.close());

describe('account page in the console', () => {
  test('token gets the checked scopes, is shown once, and is revoked when its name is typed', async () => {
    const { page, problems } = opened;
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByLabel('Name of the token').fill('backup');
    const checked = () => page.getByRole('group', { name: 'Scopes' }).getByRole('checkbox', { checked: true });
    for (const [preset, count] of [
      ['All', scopes.length],
      ['Deploy', 8],
      ['Read only', scopes.filter((scope) => scope.endsWith(':read')).length],
    ] as const) {
      await page.getByRole('button', { name: preset, exact: true }).click();
      await expect.poll(() => checked().count()).toBe(count);
    }
    expect(await obstacles(page)).toEqual([]);
    while ((await checked().count()) > 0) await checked().first().uncheck();
    await page.getByRole('button', { name: 'Create' }).click();
    const wrong = page.getByRole('alert');
    expect(await wrong.textContent()).toMatch(/^Scopes must /);
    await page.getByLabel('collections:read').check();
    await wrong.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Create' }).click();
    const token = await page.getByRole('region', { name: 'backup', exact: true }).textContent();
    expect(token).toMatch(/^bslt_pat_/);
    const row = page.getByRole('row').filter({ hasText: 'backup' });
    await row.getByText('collections:read').waitFor();
    const base = new URL(page.url()).origin;
    const ask = () => call<{ code?: string }>(base, 'GET', '/api/projects', { token: token ?? '' });
    expect(await ask()).toMatchObject({ status: 403, body: { code: 'SCOPE_REQUIRED' } });
    expect(await obstacles(page)).toEqual([]);
    await row.getByRole('button', { name: 'Revoke' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Type backup').fill('backup');
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await row.waitFor({ state: 'detached' });
    expect((await ask()).status).toBe(401);
    expect(problems).toEqual([]);
  });

  test('form shows a warning when a scope lets a token reach more than its name says', async () => {
    const { page, problems } = opened;
    await page.getByRole('button', { name: 'New token' }).click();
    const warning = page.getByRole('group', { name: 'Scopes' }).getByRole('status');
    for (const scope of farReachingScopes) {
      expect(await warning.textContent()).toBe('');
      await page.getByLabel(scope).check();
      await warning.getByText(scope, { exact: true }).waitFor();
      expect(await obstacles(page)).toEqual([]);
      await page.getByLabel(scope).uncheck();
    }
    for (const scope of ['members:write', 'webhooks:write']) await page.getByLabel(scope).check();
    expect(await warning.textContent()).toBe('');
    for (const scope of ['members:write', 'webhooks:write']) await page.getByLabel(scope).uncheck();
    expect(problems).toEqual([]);
  });

  test('sessions name the browser and the system', async () => {
    const { page, problems } = await openAs(browser, await newDeveloper(), '/account');
    await page.getByRole('cell', { name: 'Chrome on Linux This one' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('button sends the verification email again', async () => {
    const other = await newDeveloper('pro', { isVerified: false });
    const { page, problems } = await openAs(browser, other, '/account');
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText("we've sent an email with a link and a code").waitFor();
    expect(problems).toEqual([]);
  });
});
