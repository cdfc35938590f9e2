import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadDevFile } from '../../infra/local/state-files.ts';
import { obstacles, openChromium } from '../support/clients/chromium.ts';
import { freePorts } from '../support/clients/free-ports.ts';
import { type LocalStart, localStart } from '../support/clients/local-start.ts';
import { plugAuthenticator } from '../support/clients/virtual-authenticator.ts';
import { newCredentials } from '../support/fixtures/users.ts';

let directory: string;
let port: string;
let local: LocalStart;
let browser: Awaited<ReturnType<typeof openChromium>>;

/** One pixel. */
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

const start = async (args: readonly string[]): Promise<string> => {
  local = localStart({ BASALT_DIR: directory, PORT: port }, args);
  await local.ready();
  return (await loadDevFile(directory))?.exampleUrl ?? '';
};

const stop = async (): Promise<void> => {
  local.child.kill('SIGTERM');
  await local.ended;
};

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'basalt-example-'));
  port = String(await freePorts());
  browser = await openChromium();
});

afterAll(async () => {
  await stop();
  await browser.close();
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

describe('example app of npm start -- --example', () => {
  test('has accounts and live private notes with pictures, and keeps them when it restarts', async () => {
    const url = await start(['--example']);
    expect(local.output()).toContain(url);
    const { page, problems } = await browser.newPage({ viewport: { width: 390, height: 844 } });
    const { email, password } = newCredentials();
    const enter = async (button: string, to = page): Promise<void> => {
      await to.getByLabel('Email address').fill(email);
      await to.getByLabel('Password').fill(password);
      await to.getByRole('button', { name: button }).click();
    };
    await page.goto(url);
    await enter('Sign in');
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('Invalid email or password');
    await enter('Make an account');
    await page.getByLabel('Note').fill('<b>First</b>');
    await page.getByRole('button', { name: 'Keep' }).click();
    await page.getByText('<b>First</b>').waitFor();
    await page.getByLabel('Note').fill('With a picture');
    await page.getByLabel('Picture').setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: picture });
    await page.getByRole('button', { name: 'Keep' }).click();
    await expect.poll(() => page.evaluate("document.querySelector('img')?.naturalWidth")).toBe(1);
    expect(await obstacles(page)).toEqual([]);

    const other = await browser.newPage();
    await other.page.goto(url);
    await enter('Sign in', other.page);
    await other.page.getByText('<b>First</b>').waitFor();
    await page.getByRole('listitem').filter({ hasText: 'First' }).getByRole('button', { name: 'Delete' }).click();
    await other.page.getByText('<b>First</b>').waitFor({ state: 'detached' });
    await page.evaluate("document.querySelector('[role=status]').textContent = 'Said before'");
    await other.page.getByLabel('Note').fill('From another window');
    await other.page.getByRole('button', { name: 'Keep' }).click();
    await page.getByText('From another window').waitFor();
    expect(await page.getByRole('status').textContent()).toBe('Said before');

    const stranger = await browser.newPage();
    await stranger.page.goto(url);
    await stranger.page.getByLabel('Email address').fill(newCredentials().email);
    await stranger.page.getByLabel('Password').fill(password);
    await stranger.page.getByRole('button', { name: 'Make an account' }).click();
    await stranger.page.getByRole('button', { name: 'Keep' }).waitFor();
    expect(await stranger.page.getByRole('listitem').count()).toBe(0);
    expect([...problems, ...other.problems, ...stranger.problems]).toEqual([]);

    const address = await page.getByRole('img').getAttribute('src');
    expect(address).toMatch(/[?&]w=640(&|$)/);
    expect((await fetch(address ?? '')).status).toBe(200);
    expect((await fetch((address ?? '').split('?')[0] ?? '')).status).toBe(403);
    await page
      .getByRole('listitem')
      .filter({ hasText: 'With a picture' })
      .getByRole('button', { name: 'Delete' })
      .click();
    await expect.poll(async () => (await fetch(address ?? '')).status).toBe(404);
    expect((await fetch(`${url}/../../package.json`)).status).toBe(404);

    for (const each of [page, other.page, stranger.page]) await each.goto('about:blank');
    await stop();
    await start([]);
    await stop();
    expect(await start(['--example'])).toBe(url);
    await page.goto(url);
    await page.getByText('From another window').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await page.getByRole('listitem').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test('offers a passkey in the email field and signs in with it when one was added', async () => {
    const url = (await loadDevFile(directory))?.exampleUrl ?? '';
    const { page, problems } = await browser.newPage();
    const device = await plugAuthenticator(page);
    const { email, password } = newCredentials();
    await page.goto(url);
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Make an account' }).click();
    await page.getByLabel('Note').fill('Mine');
    await page.getByRole('button', { name: 'Keep' }).click();
    await page.getByText('Mine').waitFor();
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByRole('status').getByText('signs in here without a password').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await device.consents(false);
    const asked = page.waitForResponse((answer) => answer.url().endsWith('/passkeys/authentication'));
    await page.getByRole('button', { name: 'Sign out' }).click();
    expect((await asked).status()).toBe(200);
    const field = page.getByLabel('Email address');
    await field.waitFor();
    expect(await field.getAttribute('autocomplete')).toBe('username webauthn');
    await device.consents(true);
    await page.reload();
    await page.getByText('Mine').waitFor();
    await device.consents(false);
    // An offer stands for four minutes, here for half a second; then there is another.
    await page.addInitScript(
      'const after = AbortSignal.timeout.bind(AbortSignal); AbortSignal.timeout = (ms) => after(ms === 240_000 ? 500 : ms);',
    );
    await page.reload();
    await page.getByRole('button', { name: 'Sign out' }).click();
    for (let offers = 0; offers < 3; offers++) {
      await page.waitForResponse((answer) => answer.url().endsWith('/passkeys/authentication'));
    }
    await device.consents(true);
    await page.getByText('Mine').waitFor();
    expect(await page.getByRole('alert').textContent()).toBe('');
    expect(problems).toEqual([]);
  });

  test('retries the link of a picture at the next rendering when it failed', async () => {
    const url = (await loadDevFile(directory))?.exampleUrl ?? '';
    const { page } = await browser.newPage();
    const { email, password } = newCredentials();
    await page.route(
      '**/api/storage/sign',
      (route) =>
        route.fulfill({
          status: 403,
          headers: { 'access-control-allow-origin': '*' },
          json: { success: false, code: 'SAID_BY_TEST', message: 'Not now.' },
        }),
      { times: 1 },
    );
    await page.goto(url);
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Make an account' }).click();
    await page.getByLabel('Note').fill('With a picture');
    await page.getByLabel('Picture').setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: picture });
    await page.getByRole('button', { name: 'Keep' }).click();
    await page.getByRole('alert').getByText('Not now.').waitFor();
    await page.getByLabel('Note').fill('Another');
    await page.getByRole('button', { name: 'Keep' }).click();
    await expect.poll(() => page.evaluate("document.querySelector('img')?.naturalWidth")).toBe(1);
  });
});
