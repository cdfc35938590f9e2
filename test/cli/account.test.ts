import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type CommandFolder, newCommandFolder } from '../support/fixtures/command.ts';
import { auth } from '../support/fixtures/developers.ts';
import { type Developer, newDeveloper } from '../support/fixtures/project.ts';

let developer: Developer;
let folder: CommandFolder;
let url: string;

const newToken = async (scopes: readonly string[]): Promise<string> => {
  const body = { name: 'Command line', scopes };
  const created = await auth<{ data: { token: string } }>('POST', 'tokens', { token: developer.token, body });
  expect(created.status).toBe(201);
  return created.body.data.token;
};

beforeAll(async () => {
  developer = await newDeveloper();
  folder = await newCommandFolder();
  url = inject('stack').dashboardUrl;
});

afterAll(() => folder.remove());

const stored = (): string => join(folder.home, 'config/basalt/credentials.json');

describe('basalt login', () => {
  test('stores a personal access token that whoami uses, only for its owner, and prints it nowhere', async () => {
    const token = await newToken(['account:read']);
    const login = await folder.basalt(['login', '--url', url], { input: `${token}\n` });
    expect(login).toMatchObject({ code: 0, out: `Signed in to ${url} as ${developer.email}.\n` });
    expect((await stat(stored())).mode & 0o777).toBe(0o600);
    // The only stored address needs no --url.
    const whoami = await folder.basalt(['whoami']);
    expect(whoami).toEqual({ code: 0, out: `${developer.email}\n`, notes: '' });
    expect(JSON.stringify([login, whoami])).not.toContain(token);
  });

  test('stores a token without the scope account:read, which whoami then needs', async () => {
    const token = await newToken(['documents:read']);
    expect(await folder.basalt(['login', '--url', url], { input: token })).toMatchObject({
      code: 0,
      out: `Signed in to ${url}.\n`,
    });
    expect(await folder.basalt(['whoami'])).toMatchObject({
      code: 2,
      notes: expect.stringMatching(/account:read.*SCOPE_REQUIRED/),
    });
  });

  test('ends with 2 and stores nothing when the token is wrong or missing', async () => {
    const other = await newCommandFolder();
    try {
      for (const input of ['bpat_wrong', '', 'two words']) {
        const { code, notes } = await other.basalt(['login', '--url', url], { input });
        expect({ code, notes }).toEqual({
          code: 2,
          notes: expect.stringMatching(/basalt login|personal access token/),
        });
      }
      expect(await other.basalt(['whoami', '--url', url])).toMatchObject({
        code: 2,
        notes: expect.stringMatching(/Run basalt login, or set BASALT_TOKEN/),
      });
      expect(await other.basalt(['login'], { input: 'bpat_wrong' })).toMatchObject({
        code: 2,
        notes: expect.stringContaining('--url'),
      });
    } finally {
      await other.remove();
    }
  });

  test('ends with 2 when the address is not safe or not a dashboard', async () => {
    for (const wrong of ['http://console.example.com', 'console.example.com', 'https://a:b@example.com']) {
      const { code, notes } = await folder.basalt(['login', '--url', wrong], { input: 'a' });
      expect({ code, notes }).toEqual({ code: 2, notes: expect.stringContaining('--url must be the https address') });
    }
    const { code, notes } = await folder.basalt(['whoami', '--url', 'http://127.0.0.1:1'], {
      env: { BASALT_TOKEN: 'a' },
    });
    expect({ code, notes }).toEqual({ code: 2, notes: expect.stringContaining('cannot be reached') });
    const data = await folder.basalt(['whoami', '--url', inject('stack').baseUrl], { env: { BASALT_TOKEN: 'a' } });
    expect(data.code).toBe(2);
  });
});

test('basalt whoami uses BASALT_TOKEN instead of the stored token', async () => {
  const other = await newDeveloper();
  const env = { BASALT_TOKEN: other.token };
  expect(await folder.basalt(['whoami', '--json'], { env })).toMatchObject({
    code: 0,
    out: `${JSON.stringify({ email: other.email, url, token: 'BASALT_TOKEN' })}\n`,
  });
});

test('a stored token is not sent to another address', async () => {
  const token = await newToken(['account:read']);
  await folder.basalt(['login', '--url', url], { input: token });
  expect(await folder.basalt(['whoami', '--url', 'http://localhost:1'])).toMatchObject({
    code: 2,
    notes: expect.stringContaining('You are not signed in to http://localhost:1'),
  });
});

test('basalt logout deletes the token', async () => {
  const token = await newToken(['account:read']);
  await folder.basalt(['login', '--url', url], { input: token });
  expect(await folder.basalt(['logout'])).toMatchObject({ code: 0, out: `Deleted the token for ${url}.\n` });
  expect((await folder.basalt(['whoami', '--url', url])).code).toBe(2);
  expect(await folder.basalt(['logout', '--url', url, '--json'])).toMatchObject({
    code: 0,
    out: `{"url":"${url}","deleted":false}\n`,
  });
});

describe('a command line', () => {
  test.each([[['nothing']], [['login', '--wrong']], [['login', 'extra']], [['init']], [[]]])(
    'ends with 2 when it is %j',
    async (args) => {
      const { code, out, notes } = await folder.basalt(args);
      expect({ code, text: out + notes }).toEqual({ code: 2, text: expect.stringMatching(/basalt/) });
    },
  );

  test('shows an error as JSON with --json', async () => {
    const { code, out } = await folder.basalt(['whoami', '--url', url, '--json'], { env: { BASALT_TOKEN: 'wrong' } });
    expect(code).toBe(2);
    expect(JSON.parse(out)).toEqual({ error: { message: expect.any(String), code: 'TOKEN_INVALID' } });
  });

  test('has help for every command', async () => {
    const { out } = await folder.basalt(['--help']);
    const names = [...out.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(8);
    for (const name of names) {
      const help = await folder.basalt([name, '--help']);
      expect(help).toMatchObject({
        code: 0,
        out: expect.stringMatching(new RegExp(`^Usage: basalt ${name}.*--json`, 's')),
      });
    }
    expect((await folder.basalt(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
