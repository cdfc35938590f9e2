import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MongoClient } from 'mongodb';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LocalService } from '../../infra/local/helper-process.ts';
import { startMongo } from '../../infra/local/mongo/engine.ts';
import { StartProblem, textOf } from '../../infra/local/problem.ts';
import { requireDiskSpace } from '../../infra/local/state-directory.ts';
import { descendantsOf } from '../support/clients/local-start.ts';

let directory: string;
let parts: LocalService[];

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'basalt-mongo-'));
  parts = [];
});
afterEach(async () => {
  for (const part of parts) await part.stop();
  await rm(directory, { recursive: true, force: true });
});

const start = async (): Promise<{ readonly client: MongoClient; readonly died: Promise<string> }> => {
  const died = Promise.withResolvers<string>();
  const part = await startMongo(directory, undefined, { report: () => undefined, onExit: died.resolve });
  parts.push(part);
  return { client: new MongoClient(part.address), died: died.promise };
};

const engines = async (): Promise<number[]> => {
  const found: number[] = [];
  for (const pid of descendantsOf(process.pid)) {
    if ((await readFile(`/proc/${pid}/cmdline`, 'utf8')).includes(directory)) found.push(pid);
  }
  return found;
};

const kill = async (): Promise<void> => {
  for (const pid of await engines()) process.kill(pid, 'SIGKILL');
};

test('document counts of MongoDB are correct when it starts after a kill', async () => {
  const first = await start();
  const numbers = Array.from({ length: 12_000 }, (_, n) => ({ n }));
  await first.client
    .db('test')
    .collection('many')
    .insertMany(numbers, { writeConcern: { w: 'majority', journal: true } });
  await first.client.close();
  await kill();
  expect(await first.died).toContain('SIGKILL');

  const { client } = await start();
  expect(await client.db('test').collection('many').estimatedDocumentCount()).toBe(12_000);
  await client.close();
});

test('confirmed writes survive when MongoDB is killed immediately, even without a journal request', async () => {
  const confirmed: number[] = [];
  for (const round of [0, 1, 2]) {
    const { client, died } = await start();
    const numbers = client.db('test').collection('numbers');
    expect((await numbers.distinct('n')).toSorted((a, b) => a - b)).toEqual(confirmed);
    const many = Array.from({ length: 50 }, (_, n) => round * 50 + n);
    await Promise.all(many.map((n) => numbers.insertOne({ n }, { writeConcern: { w: 1 } })));
    await kill();
    confirmed.push(...many);
    expect(await died).toContain('SIGKILL');
    await client.close();
  }
});

test('second engine fails when it opens the same directory', async () => {
  const { client } = await start();
  await client.close();
  await expect(start()).rejects.toThrow('MongoDB did not start');
});

test('start fails with advice when the data are damaged', async () => {
  const { client } = await start();
  await client.close();
  await parts.pop()?.stop();
  await writeFile(path.join(directory, 'WiredTiger.turtle'), '');
  const again = start();
  await expect(again).rejects.toThrow(StartProblem);
  await expect(again).rejects.toThrow(`Its data in ${directory} may be damaged`);
  await expect(again).rejects.toThrow(`delete ${path.dirname(directory)}`);
});

test('start fails with the reason when the folder is a file', async () => {
  await rm(directory, { recursive: true });
  await writeFile(directory, '');
  await expect(start()).rejects.toThrow('a file has that name');
});

test('start fails with the free space when the disk is nearly full', async () => {
  const left = (bytes: number): Promise<void> => requireDiskSpace(directory, async () => bytes);
  await expect(left(30.5 * 2 ** 20)).rejects.toThrow('has 30 MiB of free space, and MongoDB needs 600.');
  await expect(left(2 ** 30)).resolves.toBeUndefined();
});

test('unexpected error is printed with its cause', () => {
  const cause = new TypeError('no room for an index');
  expect(textOf(new Error('The database cannot be reached', { cause }))).toMatch(
    /^Error: The database cannot be reached\n.*Caused by TypeError: no room for an index$/s,
  );
  expect(textOf(new StartProblem('Make room', { cause }))).toBe('Make room');
});

test('files of collections are closed when they were unused for half a minute', async () => {
  const { client } = await start();
  const [pid = 0] = await engines();
  for (let n = 0; n < 800; n += 1) {
    await client.db(`project${n}`).collection('notes').createIndex({ at: 1 });
  }
  const openFiles = async (): Promise<number> => (await readdir(`/proc/${pid}/fd`)).length;
  expect(await openFiles()).toBeGreaterThan(2000);
  await expect.poll(openFiles, { interval: 1000 }).toBeLessThan(1500);
  await client.close();
});
