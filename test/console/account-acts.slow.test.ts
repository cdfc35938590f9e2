import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { openChromium, signIn } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { codeIn, mailAbout } from '../support/clients/inbox.ts';
import { newDeveloper } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;

beforeAll(async () => {
  browser = await openChromium();
});

afterAll(() => browser.close());

const urlOf = (path: string) => `${inject('stack').dashboardUrl}${path}`;

describe('developer account in the console', () => {
  test('sign-up opens the projects and leaves the email address unverified', async () => {
    const { page, problems } = await browser.newPage();
    const email = `new-${Date.now()}@example.com`;
    await page.goto(urlOf('/sign-up'));
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password').fill('long enough for all');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByText('A project holds one app').waitFor();
    await page.getByText(`Open the link in the email to ${email}.`).waitFor();
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByRole('status').getByText(email).waitFor();
    await page.goto(urlOf('/account'));
    await page.getByRole('main').getByText(`${email} free`, { exact: true }).waitFor();
    await page.getByText('You need it to invite others').waitFor();
    expect(problems).toEqual([]);
  });

  test('another session is signed out when it is ended', async () => {
    const developer = await newDeveloper();
    const other = await openAs(browser, developer, '/account');
    const { page, problems } = await openAs(browser, developer, '/account');
    const sessions = page.getByRole('table', { name: 'Sessions' }).getByRole('row');
    // Four rows: the header, this session, the one of the other window, and the test’s own.
    await expect.poll(() => sessions.count()).toBe(4);
    const ends = sessions.getByRole('button', { name: 'End', exact: true });
    for (const left of [3, 2]) {
      await ends.first().click();
      await expect.poll(() => sessions.count()).toBe(left);
    }
    await sessions.getByText('This one').waitFor();
    await other.page.reload();
    await other.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect([...problems, ...other.problems]).toEqual([]);
  });

  test('account is deleted with its password and can no longer sign in', async () => {
    const developer = await newDeveloper();
    const { page, problems } = await openAs(browser, developer, '/account');
    await page.getByRole('button', { name: 'Delete the account' }).click();
    const dialog = page.getByRole('dialog');
    const remove = async (password: string) => {
      await dialog.getByLabel('Password').fill(password);
      await dialog.getByRole('button', { name: 'Delete the account' }).click();
    };
    await remove('not the password');
    await dialog.getByRole('alert').waitFor();
    await remove(developer.password);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await signIn(page, developer);
    await page.getByRole('alert').waitFor();
    expect(problems).toEqual([]);
  });

  test('emailed code sets a new password', async () => {
    const developer = await newDeveloper();
    const { page, problems } = await browser.newPage();
    await page.goto(urlOf('/reset-password'));
    await page.getByLabel('Email address').fill(developer.email);
    await page.getByRole('button', { name: 'Send the email' }).click();
    await page.getByText(`If there is an account for ${developer.email}`).waitFor();
    await page.getByLabel('Code from the email').fill(codeIn(await mailAbout(developer.email, /Reset/)));
    await page.getByLabel('New password').fill('another correct horse');
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByText('Password set.').waitFor();
    await signIn(page, { ...developer, password: 'another correct horse' });
    await page.getByRole('heading', { name: 'Projects' }).waitFor();
    expect(problems).toEqual([]);
  });
});
