import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { obstacles, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { passkeySettings, passkeysOf } from '../support/fixtures/passkeys.ts';
import { newProject } from '../support/fixtures/project.ts';
import { newCredentials, newUsersProject } from '../support/fixtures/users.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;

beforeAll(async () => {
  browser = await openChromium();
});

afterAll(() => browser.close());

describe('users in the console', () => {
  test('get a new password and are signed out everywhere', async () => {
    const users = {
      name: 'users',
      schema: ['email', 'password'].map((key) => ({ key, type: 'String', required: true })),
    };
    const owned = await newProject([users]);
    const path = `/api/projects/${owned.id}`;
    await owned.developer.dashboard('PATCH', path, { authEnabled: true });
    await owned.developer.dashboard('POST', `${path}/users`, { email: 'ada@example.com', password: 'first password' });
    const signIn = (password: string) =>
      owned.api('POST', '/api/userAuth/login', {
        key: owned.publishableKey,
        body: { email: 'ada@example.com', password },
      });
    expect((await signIn('first password')).status).toBe(200);
    const { page, problems } = await openAs(browser, owned.developer, `/projects/${owned.id}/users`);
    await page.getByText('ada@example.com').first().click();
    await page.getByRole('button', { name: 'End all sessions' }).click();
    await page.getByText('Signed out everywhere.').waitFor();
    await page.getByText('Not signed in anywhere.').waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('New password').fill('second password');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved').first().waitFor();
    expect((await signIn('first password')).status).toBe(401);
    expect((await signIn('second password')).status).toBe(200);
    expect(problems).toEqual([]);
  });

  test('are found by the beginning of their email address, which the address of the page keeps', async () => {
    const owned = await newUsersProject({});
    for (const email of ['ada@example.com', 'grace@example.com']) {
      await owned.developer.dashboard('POST', `/api/projects/${owned.id}/users`, { email, password: 'first password' });
    }
    const { page, problems } = await openAs(browser, owned.developer, `/projects/${owned.id}/users`);
    await page.getByText('grace@example.com').waitFor();
    const settings = page.getByRole('link', { name: 'Sign-in settings' });
    expect(await settings.getAttribute('href')).toBe(`/projects/${owned.id}/settings/sign-in`);
    await page.getByRole('searchbox', { name: 'Email or id' }).fill('Ad');
    await page.keyboard.press('Enter');
    await page.getByText('grace@example.com').waitFor({ state: 'detached' });
    await page.getByText('ada@example.com').waitFor();
    expect(new URL(page.url()).searchParams.get('email')).toBe('Ad');
    await page.getByRole('searchbox').fill('nobody');
    await page.keyboard.press('Enter');
    await page.getByText('No users match.').waitFor();
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('are shown with their sign-in methods: password, passkeys', async () => {
    const owned = await newUsersProject({ settings: passkeySettings });
    const { email, token } = await owned.newUser();
    await passkeysOf(owned).add(token);
    const { page, problems } = await openAs(browser, owned.developer, `/projects/${owned.id}/users`);
    await page.getByText(email).first().click();
    const passkeys = page.getByRole('region', { name: 'Passkeys' });
    await passkeys.getByRole('cell', { name: 'Passkey' }).first().waitFor();
    await page.getByText('Password', { exact: true }).waitFor();
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('are shown in plain fields: state, last use, device, and the data of the app', async () => {
    const owned = await newUsersProject();
    await owned.addCollection({ name: 'posts' });
    const credentials = newCredentials();
    await owned.signUp({ ...credentials, name: 'Ada Byron', age: 36, tags: ['first', 'early'] });
    const userAgent =
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1';
    const { userId } = (await owned.logIn(credentials, { 'user-agent': userAgent })).body;
    const { page, problems } = await openAs(browser, owned.developer, `/projects/${owned.id}/users`);
    await page.getByRole('cell', { name: 'Ada Byron' }).waitFor();
    await page.getByRole('searchbox').fill(userId);
    await page.keyboard.press('Enter');
    const panel = page.getByRole('region', { name: credentials.email });
    await panel.getByText('Safari on iPhone').waitFor();
    const factOf = (label: string) => panel.locator('dl > div').filter({ has: page.getByText(label, { exact: true }) });
    await factOf('Email address').getByText('Not verified').waitFor();
    await factOf('Last seen').getByText('sec. ago').or(factOf('Last seen').getByText('now')).waitFor();
    await factOf('Sign-in methods').getByText('Password').waitFor();
    await factOf('name').getByText('Ada Byron').waitFor();
    await factOf('age').getByText('36').waitFor();
    await factOf('tags').getByText('early').waitFor();
    expect(await panel.locator('pre').isVisible()).toBe(false);
    expect(await obstacles(page)).toEqual([]);
    await panel.getByText('Raw JSON').click();
    expect(await panel.locator('pre').textContent()).toContain('"age": 36');
    await panel.getByRole('button', { name: 'View documents as this user' }).click();
    await panel.getByRole('link', { name: 'posts' }).click();
    await page.getByRole('status').getByText(credentials.email).waitFor();
    expect(problems).toEqual([]);
  });

  test('are created in a dialog that is already open when it enters the page', async () => {
    const { id, developer } = await newUsersProject();
    const { page } = await openAs(browser, developer, `/projects/${id}/users`);
    await page.evaluate(`new MutationObserver(() => {
      const dialog = document.querySelector('dialog');
      if (dialog) document.body.dataset.firstOpen ??= dialog.open;
    }).observe(document.querySelector('main'), { childList: true, subtree: true })`);
    await page.getByRole('button', { name: 'New user' }).click();
    await page.getByRole('dialog').waitFor();
    expect(await page.evaluate('document.body.dataset.firstOpen')).toBe('true');
  });
});
