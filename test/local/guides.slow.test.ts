import { execFile, spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
  /** One pixel. */
  const picture = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
    'base64',
  );

  test('builds an app that shows notes and pictures live in every window of a user', async () => {
    const server = spawn('bash', ['-c', blocksOf('docs/start/first-app.md').join('\n')], {
      cwd: folder,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const browser = await openChromium();
    try {
      const url = `http://localhost:${port}`;
      for await (const chunk of server.stdout) if (String(chunk).includes(url)) break;
      const { email, password } = newCredentials();
      const open = async (button: string) => {
        const { page } = await browser.newPage();
        await page.goto(url);
        await page.getByPlaceholder('Email').fill(email);
        await page.getByPlaceholder('Password').fill(password);
        await page.getByRole('button', { name: button }).click();
        await page.getByPlaceholder('Note').waitFor();
        return page;
      };
      const first = await open('Sign up');
      await first.getByPlaceholder('Note').fill('Buy tea');
      await first
        .locator('input[type=file]')
        .setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: picture });
      await first.getByRole('button', { name: 'Save' }).click();
      await expect.poll(() => first.evaluate("document.querySelector('img')?.naturalWidth")).toBe(1);

      const second = await open('Sign in');
      await second.getByText('Buy tea').waitFor();
      await first.getByPlaceholder('Note').fill('Call Ann');
      await first.getByRole('button', { name: 'Save' }).click();
      await second.getByText('Call Ann').waitFor();
      const item = second.getByRole('listitem').filter({ hasText: 'Buy tea' });
      await item.getByRole('button', { name: 'Delete' }).click();
      await first.getByText('Buy tea').waitFor({ state: 'detached' });
      expect(await first.getByRole('alert').textContent()).toBe('');
    } finally {
      await browser.close();
      if (server.pid) process.kill(-server.pid);
    }
  });
});
