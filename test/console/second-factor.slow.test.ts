import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { encode } from 'uqr';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { shownCode } from '../support/clients/authenticator.ts';
import { obstacles, openChromium, signIn } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { codeIn, linkIn, mailAbout } from '../support/clients/inbox.ts';
import { guardDeveloper } from '../support/fixtures/developers.ts';
import { newDeveloper } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;

beforeAll(async () => {
  browser = await openChromium();
});

afterAll(() => browser.close());

const urlOf = (path: string) => `${inject('stack').dashboardUrl}${path}`;
const mailOf = (email: string) => mailAbout(email, /code to sign in/);

/** Returns the dark modules in an outline such as `M4 4h7v1h-7z…`, as `x y`. */
const darkIn = (outline: string): readonly string[] =>
  [...outline.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g)].flatMap(([, x, y, length]) =>
    Array.from({ length: Number(length) }, (_, index) => `${Number(x) + index} ${y}`),
  );

/** Returns the dark modules of the QR code for a text, with its margin. */
const darkOf = (text: string): readonly string[] =>
  encode(text, { ecc: 'M', border: 4 }).data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`${x} ${y}`] : [])));

/** Completes a sign-in with a recovery code. */
const useRecoveryCode = async (page: Page, code: string | undefined): Promise<void> => {
  await page.getByRole('button', { name: 'Use a recovery code' }).click();
  await page.getByLabel('Recovery code').fill(code ?? '');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
};

describe('the second factor in the console', () => {
  test('is set up by keyboard, shows ten recovery codes once, and is removed by one of them', async () => {
    const developer = await newDeveloper();
    const { page, problems } = await openAs(browser, developer, '/account');
    await page.getByRole('button', { name: 'Set up an authenticator app' }).press('Enter');
    await page.getByRole('img', { name: 'QR code' }).waitFor();
    const secret = await page.getByRole('region', { name: 'Secret for the app' }).textContent();
    const uri = `otpauth://totp/Basalt:${encodeURIComponent(developer.email)}?secret=${secret}&issuer=Basalt`;
    const outline = await page.locator('.qr-code path').last().getAttribute('d');
    expect(darkIn(outline ?? '')).toEqual(darkOf(uri));
    const field = page.getByLabel('Authentication code');
    await field.fill('000000');
    await field.press('Enter');
    await page.getByRole('alert').getByText('The code is wrong').waitFor();
    await field.fill(shownCode(secret ?? ''));
    await field.press('Enter');
    const shown = page.getByRole('region', { name: 'Recovery codes' });
    const codes = ((await shown.textContent()) ?? '').split('\n');
    expect(new Set(codes).size).toBe(10);
    expect(await obstacles(page)).toEqual([]);
    const kept = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).click();
    expect(await readFile(await (await kept).path(), 'utf8')).toBe(`${codes.join('\n')}\n`);
    await page.getByRole('button', { name: "I've saved my codes" }).press('Enter');
    await shown.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('button', { name: 'Remove the authenticator app' }).press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Use a recovery code' }).click();
    await dialog.getByLabel('Recovery code').fill(codes[0] ?? '');
    await dialog.getByRole('button', { name: 'Remove the authenticator app' }).click();
    await page.getByRole('button', { name: 'Set up an authenticator app' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('is required to sign in, shows a wrong code as an error, and leads to the requested page', async () => {
    const developer = await newDeveloper();
    const { secret, recoveryCodes } = await guardDeveloper(developer.token);
    const { page, problems } = await browser.newPage();
    await page.goto(urlOf('/account'));
    await signIn(page, developer);
    await page.getByRole('heading', { name: 'Second factor' }).waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.getByLabel('Authentication code').fill(shownCode(secret, 9));
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('alert').getByText('The code is wrong').waitFor();
    await page.getByRole('link', { name: 'Start over' }).click();
    await page.goto(urlOf('/account'));
    await signIn(page, developer);
    await useRecoveryCode(page, recoveryCodes[0]);
    await page.getByRole('heading', { name: 'Account' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/account');
    expect(problems).toEqual([]);
  });

  test('is required for the link that npm start prints, and leads to the requested page', async () => {
    const developer = await newDeveloper();
    const { recoveryCodes } = await guardDeveloper(developer.token);
    const { page, problems } = await browser.newPage();
    const { email, password } = developer;
    const postData = JSON.stringify({ email, password });
    // Acts as the link that `npm start` prints, by a sign-in with the password.
    await page.route('**/api/auth/link', (route) => route.continue({ url: urlOf('/api/auth/login'), postData }));
    await page.goto(urlOf('/account#link=token'));
    await page.getByRole('heading', { name: 'Second factor' }).waitFor();
    expect(new URL(page.url()).hash).toBe('');
    await useRecoveryCode(page, recoveryCodes[0]);
    await page.getByRole('heading', { name: 'Account' }).waitFor();
    await page.getByRole('main').getByText(email).waitFor();
    expect(problems).toEqual([]);
  });

  test('leads to the sign-in and back when a change needs a recent sign-in', async () => {
    const developer = await newDeveloper();
    const { page } = await openAs(browser, developer, '/account');
    const refusal = { code: 'REAUTHENTICATION_REQUIRED', message: 'Sign in again to change how you sign in.' };
    await page.route('**/api/auth/second-factor/totp', (route) => route.fulfill({ status: 403, json: refusal }));
    await page.getByRole('button', { name: 'Set up an authenticator app' }).click();
    await page.getByRole('alert').getByText(refusal.message).waitFor();
    await page.getByRole('button', { name: 'Sign in again' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await signIn(page, developer);
    await page.getByRole('heading', { name: 'Account' }).waitFor();
  });
});

describe('sign-in by an emailed code', () => {
  test('opens the requested page when the code is typed', async () => {
    const developer = await newDeveloper();
    const { page, problems } = await browser.newPage();
    await page.goto(urlOf('/account'));
    await page.getByRole('link', { name: 'Email me a code' }).click();
    // The previous page also has a field with that name.
    const ask = page.getByRole('button', { name: 'Send me a code' });
    await ask.waitFor();
    await page.getByLabel('Email address').fill(developer.email);
    await ask.click();
    const code = page.getByLabel('Code from the email');
    await code.fill('AAAA-AAAA');
    await code.press('Enter');
    await page.getByRole('alert').getByText('wrong').waitFor();
    await code.fill(codeIn(await mailOf(developer.email)));
    await code.press('Enter');
    await page.getByRole('heading', { name: 'Account' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('uses the link only when its button is clicked, and asks its owner for the second factor', async () => {
    const [owner, other] = [await newDeveloper(), await newDeveloper()];
    const { recoveryCodes } = await guardDeveloper(owner.token);
    const { page, problems } = await openAs(browser, other, '/account');
    await page.evaluate(
      `fetch('/api/auth/code', {method: 'POST', body: ${JSON.stringify(JSON.stringify({ email: owner.email }))}})`,
    );
    const link = linkIn(await mailOf(owner.email)).href;
    await page.goto(link);
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    await page.goto(link);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await useRecoveryCode(page, recoveryCodes[0]);
    await page.getByRole('heading', { name: 'Projects' }).waitFor();
    await page.goto(urlOf('/account'));
    await page.getByRole('main').getByText(owner.email).waitFor();
    expect(problems).toEqual([]);
  });
});
