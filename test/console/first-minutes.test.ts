import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { obstacles, openChromium, signIn } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newDeveloper, newProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;

beforeAll(async () => {
  browser = await openChromium();
});

afterAll(() => browser.close());

describe('first minutes with the console', () => {
  test('lead from the sign-in to a first document, which appears without a reload', async () => {
    const { page, problems } = await openAs(browser, await newDeveloper(), '/');
    await page.getByRole('button', { name: 'New project' }).click();
    await page.getByLabel('Name').fill('Garden');
    await page.getByRole('button', { name: 'Create' }).click();
    const secretKey = await page.getByLabel('Secret key').textContent();
    expect(secretKey).toMatch(/^sk_live_\w{32}$/);
    for (const _ of ['once', 'twice']) {
      await page.keyboard.press('Escape');
      await page.getByRole('alert').getByText('This is shown only once').waitFor();
    }
    expect(await page.getByLabel('Secret key').textContent()).toBe(secretKey);
    const env = await page.getByLabel('Environment of your server').textContent();
    expect(env?.split('\n').at(-1)).toBe(`BASALT_SECRET_KEY=${secretKey}`);
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('button', { name: "I've saved the secret key" }).click();
    await page.getByRole('heading', { name: 'Garden', level: 1 }).waitFor();
    const line = page.getByRole('region', { name: 'Send a document' });
    expect(await line.textContent()).toContain(`x-api-key: ${secretKey}`);
    const done = page.locator('li[data-done] h2');
    await page.getByRole('button', { name: 'Create' }).waitFor();
    expect(await done.allTextContents()).toEqual([]);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page
      .getByRole('listitem')
      .filter({ hasText: 'publishable key' })
      .getByRole('button', { name: 'Copy' })
      .click();
    await expect.poll(() => done.allTextContents()).toEqual(['Copy the publishable key']);
    await page.reload();
    await expect.poll(() => done.allTextContents()).toEqual(['Copy the publishable key']);
    expect(await line.textContent()).toContain('x-api-key: SECRET_KEY');
    await page.getByRole('button', { name: 'Python' }).click();
    expect(await line.textContent()).toContain('import requests');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Waiting for the first document').waitFor();
    const sent = await fetch(`${inject('stack').baseUrl}/api/data/notes`, {
      method: 'POST',
      headers: { 'x-api-key': secretKey ?? '' },
      body: JSON.stringify({ title: 'From a terminal' }),
    });
    expect(sent.status).toBe(201);
    await page.getByText('From a terminal').waitFor();
    expect(problems).toEqual([]);
  });

  test.each([
    ['the users', '/users', 'button'],
    ['the first steps', '', 'button'],
    ['the settings', '/settings/sign-in', 'checkbox'],
  ] as const)('turn on accounts from %s when the users collection is missing', async (_, place, role) => {
    const { id, developer, publishableKey } = await newProject();
    const { page, problems } = await openAs(browser, developer, `/projects/${id}${place}`);
    await page.getByRole(role, { name: role === 'button' ? 'Turn on accounts' : 'Accounts' }).click();
    const next = page.getByRole('status').getByRole('link', { name: 'Set your App URL' });
    expect(await next.getAttribute('href')).toBe(`/projects/${id}/settings/general`);
    await next.click();
    await page.getByLabel('App URL').waitFor();
    expect(await next.count()).toBe(0);
    await page.goto(`${inject('stack').dashboardUrl}/projects/${id}/users`);
    await page.getByText('No users yet.').waitFor();
    const signedUp = await fetch(`${inject('stack').baseUrl}/api/userAuth/signup`, {
      method: 'POST',
      headers: { 'x-api-key': publishableKey },
      body: JSON.stringify({ email: 'ada@example.com', password: 'ten green bottles' }),
    });
    expect(signedUp.status).toBe(201);
    expect(problems).toEqual([]);
  });

  test('401 shows that email or password is wrong, and the next sign-in opens the requested page', async () => {
    const developer = await newDeveloper();
    const { page, problems } = await openAs(browser, { ...developer, password: 'not the password' }, '/account');
    await page.getByRole('alert').getByText('Invalid email or password').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await signIn(page, developer);
    await page.getByRole('heading', { name: 'Account' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/account');
    await page.reload();
    await page.getByText(developer.email).waitFor();
    expect(problems).toEqual([]);
  });

  test('404 for the project of another developer shows the code of the service', async () => {
    const { id } = await newProject();
    const { page } = await openAs(browser, await newDeveloper(), `/projects/${id}`);
    await page.getByRole('alert').getByText('PROJECT_NOT_FOUND').waitFor();
  });
});
