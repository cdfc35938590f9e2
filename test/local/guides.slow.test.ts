import { execFile, spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadDevFile } from '../../infra/local/state-files.ts';
import { openChromium } from '../support/clients/chromium.ts';
import { freePorts } from '../support/clients/free-ports.ts';
import { type LocalStart, localStart } from '../support/clients/local-start.ts';
import { newCredentials } from '../support/fixtures/users.ts';

/*
 * Runs the shell blocks of the guides page by page, next to a running `npm start`. They run in a folder of links to the
 * repository with its own `.basalt`.
 */

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const linked = ['README.md', 'cli', 'client', 'docs', 'functions', 'infra', 'node_modules', 'package.json', 'shared'];

let folder: string;
let local: LocalStart;
/** The port of the guides' servers, instead of 3000. */
let port: string;
const env = { ...process.env, PATH: `${root}/node_modules/.bin:${process.env.PATH}` };

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'basalt-guides-'));
  await Promise.all(linked.map((name) => symlink(path.join(root, name), path.join(folder, name))));
  await mkdir(path.join(folder, '.basalt'));
  port = String(await freePorts());
  const settings = { BASALT_DIR: path.join(folder, '.basalt'), PORT: String(await freePorts()) };
  local = localStart({ ...settings, PERMITTED_ADDRESSES: `127.0.0.1:${port}` });
  await local.ready();
});

afterAll(async () => {
  local.child.kill('SIGTERM');
  await local.ended;
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

/** Blocks that start or deploy the service. */
const isOfService = /\bnpm (?:start|run deploy)\b/;

const blocksOf = (page: string): readonly string[] =>
  [...readFileSync(path.join(root, page), 'utf8').matchAll(/^```sh\n(.*?)^```/gms)]
    .map(([, block = '']) => block.replaceAll(/\b3000\b/g, port))
    .filter((block) => !isOfService.test(block));

/** Errors that the guides demonstrate. */
const shown: Readonly<Record<string, readonly string[]>> = {
  'docs/guides/documents.md': ['DOCUMENT_EXISTS'],
  'docs/guides/images.md': ['INVALID_SIZE'],
  'docs/guides/row-security.md': ['TOKEN_MISSING', 'MFA_REQUIRED'],
  'docs/guides/safe-writes.md': ['VALIDATION_FAILED', 'IDEMPOTENCY_KEY_REUSED', 'REVISION_MISMATCH'],
  'docs/guides/team-and-tokens.md': ['ROLE_REQUIRED', 'SCOPE_REQUIRED'],
  'docs/guides/usage-and-assistant.md': ['DOCUMENT_NOT_FOUND', 'NOT_SET_UP'],
};

test.each(['README.md', ...globSync('docs/guides/*.md', { cwd: root })].filter((page) => blocksOf(page).length > 0))(
  'blocks of %s return only the errors that the page shows',
  async (page) => {
    const { stdout, stderr } = await run('bash', ['-c', blocksOf(page).join('\n')], { cwd: folder, env });
    const codes = [...stdout.matchAll(/"success":false,.*?"code":"([A-Z_]+)"/g)].map(([, code]) => code);
    expect(codes).toEqual(shown[page] ?? []);
    expect(stdout).not.toMatch(/Internal Server Error/);
    expect(stderr).not.toMatch(/Error\b|command not found|No such file|^basalt: /m);
  },
);

describe('docs/start/first-app.md', () => {
  test('builds an app in which invited users share tasks live, and no one else sees them', async () => {
    const server = spawn('bash', ['-c', blocksOf('docs/start/first-app.md').join('\n')], {
      cwd: folder,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const browser = await openChromium();
    try {
      const url = `http://localhost:${port}`;
      let said = '';
      for await (const chunk of server.stdout) {
        said += String(chunk);
        if (said.includes(url)) break;
      }
      expect(said).not.toContain('"success":false');
      const inbox = (await loadDevFile(path.join(folder, '.basalt')))?.inboxUrl.replace(/\/inbox$/, '/emails') ?? '';
      const mailTo = async (address: string, pattern: RegExp): Promise<string> => {
        let found = '';
        const find = async (): Promise<string> => {
          const { data } = (await (await fetch(inbox)).json()) as { data: { to: string[]; text: string }[] };
          const texts = data.filter(({ to }) => to.includes(address)).map(({ text }) => pattern.exec(text)?.[1] ?? '');
          found = texts.findLast(Boolean) ?? '';
          return found;
        };
        await expect.poll(find, { timeout: 60_000 }).not.toBe('');
        return found;
      };
      const ask = async (email: string, at = url) => {
        const { page } = await browser.newPage();
        await page.goto(at);
        await page.getByPlaceholder('Email').fill(email);
        await page.getByRole('button', { name: 'Email me a code' }).click();
        return page;
      };
      const open = async (email: string, at = url) => {
        const page = await ask(email, at);
        await page.getByPlaceholder('Code').fill(await mailTo(email, /: ([A-Z2-9]{4}-[A-Z2-9]{4})$/m));
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByText('here.').waitFor();
        return page;
      };
      const colleague = newCredentials().email;
      const first = await open(newCredentials().email);
      await first.getByPlaceholder('Task').fill('Buy tea');
      await first.getByRole('button', { name: 'Add' }).click();
      await first.getByText('Buy tea').waitFor();
      await first.getByPlaceholder('Colleague').fill(colleague);
      await first.getByRole('button', { name: 'Invite' }).click();
      const link = await mailTo(colleague, /(\/invitations\/accept\?token=\S+)/);

      const second = await open(colleague, url + link);
      const item = second.getByRole('listitem').filter({ hasText: 'Buy tea' });
      await item.getByRole('button', { name: 'Done' }).click();
      await first.locator('#done').getByText('Buy tea').waitFor();
      await first.getByText('2 users are here').waitFor();
      const other = newCredentials().email;
      const stranger = await ask(other);
      await stranger.goto(url + (await mailTo(other, /(\/auth\/code\?token=\S+)/)));
      await stranger.getByText('here.').waitFor();
      expect(await stranger.getByRole('listitem').count()).toBe(0);
      for (const page of [first, second, stranger]) expect(await page.getByRole('alert').textContent()).toBe('');
    } finally {
      await browser.close();
      if (server.pid) process.kill(-server.pid);
    }
  });
});
