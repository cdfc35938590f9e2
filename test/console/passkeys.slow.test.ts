import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { obstacles, openChromium, signIn } from '../support/clients/chromium.ts';
import { confirmAct } from '../support/clients/console-page.ts';
import { plugAuthenticator } from '../support/clients/virtual-authenticator.ts';
import { guardDeveloper } from '../support/fixtures/developers.ts';
import { consoleOrigin } from '../support/fixtures/passkeys.ts';
import { type Developer, newDeveloper } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;

beforeAll(async () => {
  browser = await openChromium();
});

afterAll(() => browser.close());

/** Opens the account page at `localhost`, signed in by password, with an authenticator. */
const openAccount = async (developer: Developer) => {
  const { page, problems } = await browser.newPage();
  const device = await plugAuthenticator(page);
  await page.goto(`${consoleOrigin()}/account`);
  await signIn(page, developer);
  await page.getByRole('heading', { name: 'Account' }).waitFor();
  const list = page.getByRole('table', { name: 'Passkeys' });
  const add = async (name: string) => {
    await page.getByLabel('Name of the new passkey').fill(name);
    await page.getByRole('button', { name: 'Add a passkey' }).press('Enter');
  };
  const signOut = async () => {
    await page.getByTitle('Account').click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  };
  return { page, problems, device, list, add, signOut };
};

const heading = 'Account';

describe('passkeys in the console', () => {
  test('passkey is added, renamed and deleted, and signs in by its button without a second factor', async () => {
    const developer = await newDeveloper();
    const { page, problems, device, list, add, signOut } = await openAccount(developer);
    await page.getByText('No passkeys yet.').waitFor();
    await add('Laptop');
    await list.getByRole('cell', { name: 'Laptop' }).waitFor();
    await add('');
    await page.getByRole('alert').getByText('already has a passkey').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await list.getByRole('button', { name: 'Rename' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Phone');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await list.getByRole('cell', { name: 'Phone' }).waitFor();
    await guardDeveloper(developer.token);
    // Setting up the second factor ended the other sessions, so the page asks for a sign-in. The device declines the
    // passkey that the page offers.
    await device.consents(false);
    await page.reload();
    const button = page.getByRole('button', { name: 'Sign in with a passkey' });
    await button.waitFor();
    expect(await obstacles(page)).toEqual([]);
    await device.consents(true);
    await button.press('Enter');
    await page.getByRole('heading', { name: heading }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/account');
    await list.getByRole('button', { name: 'Delete' }).click();
    await confirmAct(page, 'Delete', 'Phone');
    await page.getByText('No passkeys yet.').waitFor();
    await signOut();
    await button.click();
    await page.getByRole('alert').getByText('is not registered here').waitFor();
    expect(problems).toEqual([]);
  });

  test('passkey chosen in the email field signs in, and the page renews its challenge before it expires', async () => {
    const { page, problems, device, list, add, signOut } = await openAccount(await newDeveloper());
    await add('');
    await list.getByRole('cell', { name: 'Passkey' }).waitFor();
    await device.consents(false);
    await page.clock.install();
    const asked = () => page.waitForResponse((answer) => answer.url().endsWith('/api/auth/passkeys/authentication'));
    const first = asked();
    await signOut();
    expect((await first).status()).toBe(200);
    const field = page.getByLabel('Email address');
    expect(await field.getAttribute('autocomplete')).toBe('username webauthn');
    const second = asked();
    await page.clock.fastForward('04:01');
    expect((await second).status()).toBe(200);
    await device.consents(true);
    await page.reload();
    await page.getByRole('heading', { name: heading }).waitFor();
    expect(problems).toEqual([]);
  });

  test('cancelled passkey sign-in shows a message and signs no one in', async () => {
    const { page, problems, device, list, add, signOut } = await openAccount(await newDeveloper());
    await add('Key');
    await list.getByRole('cell', { name: 'Key' }).waitFor();
    await device.verifies(false);
    await signOut();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('alert').getByText('Cancelled or timed out').waitFor();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('page at 127.0.0.1 links to the same page at localhost, because passkeys need a host name', async () => {
    const developer = await newDeveloper();
    const { page, problems } = await browser.newPage();
    const { dashboardUrl } = inject('stack');
    const { host } = new URL(consoleOrigin());
    await page.goto(`${dashboardUrl}/account`);
    const there = page.getByRole('link', { name: `Use a passkey at ${host}` });
    expect(new URL((await there.getAttribute('href')) ?? '').href).toBe(`${consoleOrigin()}/sign-in?to=%2Faccount`);
    await signIn(page, developer);
    await page.getByRole('link', { name: `Open ${host} to add one` }).click();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
    expect(new URL(page.url()).origin).toBe(consoleOrigin());
    expect(problems).toEqual([]);
  });
});
