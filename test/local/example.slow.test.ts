import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DevFile, loadDevFile } from '../../infra/local/state-files.ts';
import { type OpenPage, obstacles, openChromium } from '../support/clients/chromium.ts';
import { freePorts } from '../support/clients/free-ports.ts';
import { type LocalStart, localStart } from '../support/clients/local-start.ts';
import { newCredentials } from '../support/fixtures/users.ts';

let directory: string;
let port: string;
let local: LocalStart;
let dev: DevFile;
let url: string;
let browser: Awaited<ReturnType<typeof openChromium>>;

const start = async (args: readonly string[]): Promise<void> => {
  local = localStart({ BASALT_DIR: directory, PORT: port }, args);
  await local.ready();
  const file = await loadDevFile(directory);
  if (!file) throw new Error('No dev.json');
  dev = file;
  url = dev.exampleUrl ?? '';
};

const stop = async (): Promise<void> => {
  local.child.kill('SIGTERM');
  await local.ended;
};

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'basalt-example-'));
  port = String(await freePorts());
  browser = await openChromium();
  await start(['--example']);
});

afterAll(async () => {
  await browser.close();
  await stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

type Options = Parameters<typeof browser.newPage>[0];

/** A browser of its own, signed in as a user of the demo. */
const openAs = async (name: string, options: Options = {}): Promise<OpenPage> => {
  const one = await browser.newPage(options);
  await one.page.goto(url);
  await one.page.getByRole('button', { name }).click();
  await column(one.page, 'Doing').waitFor();
  return one;
};

/** A browser with an account of its own, which has no workspace. */
const openNew = async ({ email, password }: { email: string; password: string }, at = url): Promise<OpenPage> => {
  const one = await browser.newPage();
  await one.page.goto(at);
  await one.page.getByLabel('Email address').fill(email);
  await one.page.getByLabel('Password').fill(password);
  await one.page.getByLabel('Your name').fill('Lin Park');
  await one.page.getByRole('button', { name: 'Create account' }).click();
  return one;
};

const column = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const cardIn = (page: Page, name: string, title: string) => column(page, name).getByRole('button', { name: title });
const alertOf = (page: Page) => page.locator('body > [role=alert]');
const dialog = (page: Page) => page.getByRole('dialog');

/** What the pattern's group finds in the newest email to an address. */
const mailTo = async (address: string, pattern: RegExp): Promise<string> => {
  const found = { text: '' };
  const find = async (): Promise<string> => {
    const answer = await fetch(dev.inboxUrl.replace(/\/inbox$/, '/emails'));
    const { data } = (await answer.json()) as { data: { to: string[]; text: string }[] };
    found.text = data.findLast(({ to, text }) => to.includes(address) && pattern.test(text))?.text ?? '';
    return found.text;
  };
  await expect.poll(find, { timeout: 60_000 }).toMatch(pattern);
  return pattern.exec(found.text)?.[1] ?? '';
};

describe('the board of npm start -- --example', () => {
  test('shows cards, presence, comments and files live to two users', async () => {
    expect(local.output()).toContain(url);
    const mia = await openAs('Mia Chen');
    const noah = await openAs('Noah Berg', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
    await mia.page.getByText('Noah Berg is here').waitFor();
    await noah.page.getByText('Mia Chen is here').waitFor();
    for (const { page } of [mia, noah]) expect(await obstacles(page)).toEqual([]);

    await column(noah.page, 'To do').getByLabel('New card').fill('<b>Buy</b> cups');
    await column(noah.page, 'To do').getByRole('button', { name: 'Add' }).click();
    await cardIn(mia.page, 'To do', '<b>Buy</b> cups').dragTo(column(mia.page, 'Done'));
    await cardIn(noah.page, 'Done', '<b>Buy</b> cups').waitFor();

    await cardIn(noah.page, 'Done', '<b>Buy</b> cups').click();
    await cardIn(mia.page, 'Done', '<b>Buy</b> cups').click();
    await dialog(mia.page).getByLabel('Your comment').fill('Forty of them');
    await dialog(mia.page).getByRole('button', { name: 'Comment', exact: true }).click();
    await dialog(noah.page).getByText('Forty of them').waitFor();
    await column(noah.page, 'Done').getByText('1 comment').waitFor({ state: 'attached' });
    const file = { name: 'cups.txt', mimeType: 'text/plain', buffer: Buffer.from('White ones') };
    await dialog(mia.page).getByLabel('Attach a file').setInputFiles(file);
    const opened = noah.page.context().waitForEvent('page');
    await dialog(noah.page).getByRole('button', { name: 'cups.txt' }).click();
    const tab = await opened;
    await tab.getByText('White ones').waitFor();
    for (const { page } of [mia, noah]) expect(await obstacles(page)).toEqual([]);

    await dialog(noah.page).getByLabel('Column').selectOption('Ideas');
    await dialog(noah.page).getByLabel('Assigned to').selectOption('Zoe Okafor');
    await column(mia.page, 'Ideas').getByRole('img', { name: 'Zoe Okafor' }).waitFor({ state: 'attached' });
    await mia.page.keyboard.press('Escape');
    mia.page.on('dialog', (question) => question.accept());
    await cardIn(mia.page, 'Ideas', '<b>Buy</b> cups').click();
    await dialog(mia.page).getByRole('button', { name: 'Delete card' }).click();
    await cardIn(noah.page, 'Ideas', '<b>Buy</b> cups').waitFor({ state: 'detached' });
    await dialog(noah.page).waitFor({ state: 'detached' });
    await noah.page.getByRole('button', { name: 'Sign out' }).click();
    await noah.page.getByLabel('Email address').waitFor();
    await mia.page.getByText('is here').waitFor({ state: 'detached' });
    expect(await alertOf(mia.page).textContent()).toBe('');
    expect([...mia.problems, ...noah.problems]).toEqual([]);
  });

  test('moves a card with the keyboard and keeps the focus on it', async () => {
    const { page, problems } = await openAs('Mia Chen');
    const titles = () => column(page, 'Ideas').getByRole('listitem').getByRole('button').allTextContents();
    await cardIn(page, 'Ideas', 'Cooking class').focus();
    await page.keyboard.press('Alt+ArrowUp');
    await expect
      .poll(titles)
      .toEqual(['Live music on Fridays', 'Cooking class for children', 'A loyalty card without an app']);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Cooking class for children');
    await page.keyboard.press('Alt+ArrowDown');
    await expect.poll(async () => (await titles()).at(-1)).toBe('Cooking class for children');
    expect(problems).toEqual([]);
  });

  test('lets a reader look at everything and change nothing', async () => {
    const { page, problems } = await openAs('Zoe Okafor');
    await page.getByText('You are a reader here').waitFor();
    expect(await page.getByLabel('New card').filter({ visible: true }).count()).toBe(0);
    await cardIn(page, 'Doing', 'Write the summer menu').click();
    await dialog(page).getByText('It stays all year').waitFor();
    await dialog(page).getByRole('button', { name: 'menu.txt' }).waitFor();
    expect(await dialog(page).getByLabel('Title').isDisabled()).toBe(true);
    for (const name of ['Comment', 'Delete card', 'Remove file', 'Delete comment']) {
      expect(await dialog(page).getByRole('button', { name, exact: true }).count()).toBe(0);
    }
    expect(await obstacles(page)).toEqual([]);
    await page.keyboard.press('Escape');
    // The service decides, not the page: a dropped card moves back, with a message.
    await page.evaluate("for (const card of document.querySelectorAll('.card')) card.draggable = true");
    await cardIn(page, 'To do', 'Photos').dragTo(column(page, 'Done'));
    await alertOf(page).getByText('Your role in this workspace does not allow that').waitFor();
    await cardIn(page, 'To do', 'Photos').waitFor();
    expect(problems).toEqual([]);
  });

  test('invites a stranger by email, who sees nothing before', async () => {
    const credentials = newCredentials();
    const stranger = await openNew(credentials);
    await stranger.page.getByText('A new workspace').waitFor();
    expect(await stranger.page.getByText('Garden café').count()).toBe(0);
    expect(await obstacles(stranger.page)).toEqual([]);

    const mia = await openAs('Mia Chen');
    await mia.page.getByRole('button', { name: 'Members' }).click();
    await dialog(mia.page).getByLabel('Email to invite').fill(credentials.email);
    await dialog(mia.page).getByRole('button', { name: 'Send invitation' }).click();
    await dialog(mia.page).getByText(`${credentials.email} is invited as editor`).waitFor();
    expect(await obstacles(mia.page)).toEqual([]);

    const link = await mailTo(credentials.email, /(http\S+\/invitations\/accept\?token=\S+)/);
    await stranger.page.goto(link);
    await stranger.page.getByText('Confirm your email address').waitFor();
    await stranger.page.getByLabel('Code').fill('ABCD-2345');
    await stranger.page.getByRole('button', { name: 'Confirm' }).click();
    await alertOf(stranger.page).filter({ hasText: /\S/ }).waitFor();
    const code = await mailTo(credentials.email, /: ([A-Z2-9]{4}-[A-Z2-9]{4})$/m);
    await stranger.page.getByLabel('Code').fill(code);
    await stranger.page.getByRole('button', { name: 'Confirm' }).click();
    await cardIn(stranger.page, 'Doing', 'Write the summer menu').waitFor();
    await mia.page.getByText(/Lin Park.* (?:is|are) here/).waitFor();

    await mia.page.keyboard.press('Escape');
    await mia.page.getByRole('button', { name: 'Members' }).click();
    const row = dialog(mia.page).getByRole('listitem').filter({ hasText: 'Lin Park' });
    await row.getByLabel('Role').selectOption('reader');
    await stranger.page.getByText('You are a reader here').waitFor();
    await row.getByRole('button', { name: 'Remove member' }).click();
    await stranger.page.getByText('A new workspace').waitFor();
    expect(await stranger.page.getByText('Write the summer menu').count()).toBe(0);
    expect([...mia.problems, ...stranger.problems]).toEqual([]);
  });

  test('creates a workspace, says what is wrong in plain words, and keeps everything when it restarts', async () => {
    const credentials = newCredentials();
    const { page, problems } = await openNew(credentials);
    await page.getByLabel('Name', { exact: true }).fill('Allotment');
    await page.getByRole('button', { name: 'Create workspace' }).click();
    await column(page, 'Doing').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.getByLabel('New column').fill('Later');
    await page.getByRole('button', { name: 'Add column' }).click();
    await column(page, 'Later').getByLabel('New card').fill('Plant peas');
    await column(page, 'Later').getByRole('button', { name: 'Add' }).click();
    await cardIn(page, 'Later', 'Plant peas').waitFor();

    await page.getByRole('button', { name: 'Members' }).click();
    await dialog(page).getByLabel('Email to invite').fill('ann@example.com');
    await dialog(page).getByRole('button', { name: 'Send invitation' }).click();
    await page.getByRole('heading', { name: 'Confirm your email address' }).waitFor();
    await page.getByRole('button', { name: 'Later' }).click();
    await cardIn(page, 'Later', 'Plant peas').waitFor();

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Email address').fill(credentials.email);
    await page.getByLabel('Password').fill('something else');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await alertOf(page).filter({ hasText: /\S/ }).waitFor();
    expect(await page.getByLabel('Email address').inputValue()).toBe(credentials.email);

    await page.goto('about:blank');
    const before = url;
    await stop();
    await start([]);
    expect(dev.exampleUrl).toBeUndefined();
    await stop();
    await start(['--example']);
    expect(url).toBe(before);
    await page.goto(url);
    await page.getByLabel('Email address').fill(credentials.email);
    await page.getByLabel('Password').fill(credentials.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await cardIn(page, 'Later', 'Plant peas').waitFor();
    expect(problems).toEqual([]);
    expect((await fetch(`${url}/../../package.json`)).status).toBe(404);
  });
});
