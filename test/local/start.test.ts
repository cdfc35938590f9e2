import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listen } from '../../infra/local/ports.ts';
import type { DevFile } from '../../infra/local/state-files.ts';
import { call } from '../support/clients/client.ts';
import { freePorts } from '../support/clients/free-ports.ts';
import { descendantsOf, type LocalStart, localStart, stillRunning } from '../support/clients/local-start.ts';

let directory: string;
let port: number;
let started: LocalStart[];

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'basalt-start-'));
  port = await freePorts();
  started = [];
});

afterEach(async () => {
  for (const { child } of started) child.kill('SIGTERM');
  await Promise.all(started.map(({ ended }) => ended));
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

const start = (env: Readonly<Record<string, string>> = {}, args: readonly string[] = []): LocalStart => {
  const one = localStart({ BASALT_DIR: directory, PORT: String(port), ...env }, args);
  started.push(one);
  return one;
};

const devFile = async (): Promise<DevFile> =>
  JSON.parse(await readFile(path.join(directory, 'dev.json'), 'utf8')) as DevFile;

const idOf = (one: LocalStart): number => one.child.pid ?? 0;

const write = async ({ baseUrl, secretKey }: DevFile, count: number): Promise<void> => {
  for (let index = 0; index < count; index += 1) {
    const { status } = await call(baseUrl, 'POST', '/api/data/notes', { key: secretKey, body: { index } });
    expect(status).toBe(201);
  }
};

const countNotes = async ({ baseUrl, publishableKey }: DevFile): Promise<unknown> => {
  const { body } = await call<{ data: { count: number } }>(baseUrl, 'GET', '/api/data/notes?count=true', {
    key: publishableKey,
  });
  return body.data?.count;
};

describe('npm start', () => {
  test('creates a demo project and the example, runs only once per folder, and stops cleanly when it gets SIGTERM', async () => {
    const one = start({}, ['--example']);
    await one.ready();
    const dev = await devFile();
    expect(dev).toMatchObject({
      baseUrl: `http://127.0.0.1:${port}`,
      dashboardUrl: `http://127.0.0.1:${port + 1}`,
      webhookUrl: `http://127.0.0.1:${port + 2}/`,
      webhookSecret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) as string,
    });
    for (const file of ['', '/board.js', '/style.css', '/invitations/accept', '/project.js', '/client/index.js']) {
      expect((await fetch(`${dev.exampleUrl}${file}`)).status).toBe(200);
    }
    const inbox = await fetch(dev.inboxUrl);
    expect(await inbox.text()).toContain('Inbox');
    expect((await stat(path.join(directory, 'dev.json'))).mode & 0o777).toBe(0o600);
    const forShells = path.join(directory, 'env.sh');
    expect((await stat(forShells)).mode & 0o777).toBe(0o600);
    const line = `. ${forShells}; dev publishableKey; curl -s "$PROJECT/collections/posts" -H "$BEARER" | json data.name`;
    expect(execFileSync('sh', ['-c', line], { encoding: 'utf8' })).toBe(`${dev.publishableKey}\nposts\n`);
    expect((await stat(path.join(directory, 'encryption-key'))).mode & 0o777).toBe(0o600);
    const { status, body } = await call<{ data: { items: { name: string }[] } }>(
      dev.dashboardUrl,
      'GET',
      `/api/projects/${dev.projectId}/collections`,
      { token: dev.dashboardToken },
    );
    expect(status).toBe(200);
    expect(body.data.items.map(({ name }) => name).sort()).toEqual(['notes', 'posts', 'todos', 'users']);
    const login = await call(dev.dashboardUrl, 'POST', '/api/auth/login', { body: dev.developer });
    expect(login).toMatchObject({ status: 200, body: { data: { developer: { emailVerified: true } } } });
    const shown = [dev.publishableKey, dev.secretKey, dev.developer.password, dev.inboxUrl, `ready ${dev.baseUrl}`];
    for (const value of shown) {
      expect(one.output()).toContain(value);
    }
    await write(dev, 1);

    const second = start({ PORT: String(await freePorts()) }, ['--bundled']);
    expect(await second.ended).toBe(1);
    expect(second.output()).not.toContain('Bundled');
    expect(second.output()).toContain(`already running on port ${port}`);
    expect(second.output()).toContain('BASALT_DIR=');

    const children = descendantsOf(idOf(one));
    one.child.kill('SIGTERM');
    expect(await one.ended).toBe(0);
    // The shell that kills DynamoDB may end a moment later.
    await expect.poll(() => stillRunning(children)).toEqual([]);

    const other = await freePorts();
    await start({ PORT: String(other) }).ready();
    expect(await devFile()).toMatchObject({
      example: dev.example,
      baseUrl: `http://127.0.0.1:${other}`,
      dashboardUrl: `http://127.0.0.1:${other + 1}`,
    });
    expect(await countNotes({ ...dev, baseUrl: `http://127.0.0.1:${other}` })).toBe(1);
  });

  test('keeps keys and documents when it was killed, leaves no child, and stops when a part of it ends', async () => {
    const one = start();
    await one.ready();
    const before = await devFile();
    await write(before, 20);
    const children = descendantsOf(idOf(one));
    expect(children.length).toBeGreaterThanOrEqual(3);
    one.child.kill('SIGKILL');
    await one.ended;
    await expect.poll(() => stillRunning(children)).toEqual([]);

    const next = start();
    await next.ready();
    const { dashboardToken, ...after } = await devFile();
    expect({ ...after, dashboardToken: before.dashboardToken }).toEqual(before);
    expect(dashboardToken).not.toBe(before.dashboardToken);
    expect(await countNotes(before)).toBe(20);

    const parts = descendantsOf(idOf(next));
    const commands = await Promise.all(parts.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8')));
    process.kill(parts[commands.findIndex((command) => command.includes('host.mjs'))] ?? 0, 'SIGKILL');
    expect(await next.ended).toBe(1);
    expect(next.output()).toContain('MongoDB ended (SIGKILL)');
    await expect.poll(() => stillRunning(parts)).toEqual([]);
  });
});

describe('npm start fails with advice', () => {
  const outputOf = async (one: LocalStart): Promise<string> => {
    expect(await one.ended).toBe(1);
    return one.output();
  };

  test.for([
    ['its own port', 0],
    ['the dashboard port', 1],
  ] as const)('when %s is used by another program', async ([, offset]) => {
    const other = createServer();
    await listen(other, port + offset);
    const output = await outputOf(start());
    other.close();
    expect(output).toContain(`Port ${port + offset} is used by another program`);
    expect(output).toMatch(/PORT=\d+ npm start/);
    expect(output).not.toMatch(/^ +at /m);
  });

  test('without a stack trace when a setting is invalid', async () => {
    const output = await outputOf(start({ PORT: 'http' }));
    expect(output.trim()).toBe('PORT must be a whole number from 0 to 65533, not "http".');
  });

  test.for(['file', 'file/below'])('when the data folder is a %s', async (name) => {
    await writeFile(path.join(directory, 'file'), '');
    const output = await outputOf(start({ BASALT_DIR: path.join(directory, name) }));
    expect(output).toContain('cannot hold the data: a file has that name');
    expect(output).toContain('BASALT_DIR=');
    expect(output).not.toMatch(/^ +at /m);
  });

  test.for(['/proc/basalt/data', '/proc'])('when the system allows no folder at %s', async (name) => {
    const output = await outputOf(start({ BASALT_DIR: name }));
    expect(output).toContain(`The folder ${name} cannot hold the data: the system allows no folder there.`);
    expect(output).not.toMatch(/^ +at /m);
  });

  test('without the password when MONGODB_URI does not respond', async () => {
    const output = await outputOf(start({ MONGODB_URI: 'mongodb://user:geheim@127.0.0.1:1/' }));
    expect(output).toContain('MONGODB_URI');
    expect(output).not.toContain('geheim');
  });

  test('when AWS_ENDPOINT_URL_DYNAMODB does not respond', async () => {
    const output = await outputOf(start({ AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1' }));
    expect(output).toContain('AWS_ENDPOINT_URL_DYNAMODB');
  });
});
