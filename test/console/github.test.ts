import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { onControl } from '../../shared/persistence/mongo.ts';
import { shownCode } from '../support/clients/authenticator.ts';
import { obstacles, openChromium } from '../support/clients/chromium.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
const consoleUrl = () => inject('stack').dashboardUrl;

beforeAll(async () => {
  browser = await openChromium();
});

afterAll(() => browser.close());

/** Only these tests use the emulated GitHub user Linus. Each test starts without their account. */
beforeEach(() => onControl((db) => db.collection('developers').deleteMany({ email: 'linus@example.com' })));

describe('sign-in with GitHub', () => {
  test.each([
    ['/sign-in', '/account'],
    ['/sign-up', '/'],
  ])('from %s creates an account and opens the requested page', async (from, after) => {
    const { page, problems } = await browser.newPage();
    await page.goto(`${consoleUrl()}${from === '/sign-in' ? after : from}`);
    await page.getByRole('button', { name: 'Continue with GitHub' }).click();
    await page.getByRole('button', { name: /linus/i }).click();
    await page.getByRole('button', { name: 'linus' }).waitFor();
    await expect.poll(() => new URL(page.url()).pathname).toBe(after);
    expect(page.url()).not.toContain('token');
    await page.goto(`${consoleUrl()}/account`);
    await page.getByText('linus@example.com').waitFor();
    expect(problems).toEqual([]);
  });

  test('asks for the second factor when the account has one, and opens the requested page', async () => {
    const { page, problems } = await browser.newPage();
    const enter = async () => {
      await page.goto(`${consoleUrl()}/account`);
      await page.getByRole('button', { name: 'Continue with GitHub' }).click();
      await page.getByRole('button', { name: /linus/i }).click();
    };
    await enter();
    await page.getByRole('button', { name: 'Set up an authenticator app' }).click();
    const secret = await page.getByRole('region', { name: 'Secret for the app' }).textContent();
    await page.getByLabel('Authentication code').fill(shownCode(secret ?? ''));
    await page.getByRole('button', { name: 'Confirm' }).click();
    const codes = await page.getByRole('region', { name: 'Recovery codes' }).textContent();
    await page.getByTitle('Account').click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await enter();
    await page.getByRole('button', { name: 'Use a recovery code' }).click();
    expect(page.url()).not.toContain('ticket');
    await page.getByLabel('Recovery code').fill(codes?.split('\n')[0] ?? '');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Account' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('shows the reason and a link back when it has expired', async () => {
    const { page, problems } = await browser.newPage();
    await page.goto(`${consoleUrl()}/api/auth/github/callback?state=x&code=y`);
    await page.getByRole('alert').getByText('This sign-in has expired').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('404 UNKNOWN_PROVIDER is shown on the sign-in page when GitHub is not set up', async () => {
    const { page } = await browser.newPage();
    const refusal = { code: 'UNKNOWN_PROVIDER', message: 'Sign-in with GitHub is not set up for this dashboard.' };
    await page.route('**/api/auth/github/start', (route) => route.fulfill({ status: 404, json: refusal }));
    await page.goto(`${consoleUrl()}/sign-in`);
    await page.getByRole('button', { name: 'Continue with GitHub' }).click();
    await page.getByRole('alert').getByText(refusal.message).waitFor();
    expect(new URL(page.url()).pathname).toBe('/sign-in');
  });
});
