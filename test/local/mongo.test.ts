import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MongoClient } from 'mongodb';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LocalService } from '../../infra/local/local-service.ts';
import { startMongo } from '../../infra/local/mongo/engine.ts';
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

const kill = async (): Promise<void> => {
  for (const pid of await descendantsOf(process.pid)) {
    if ((await readFile(`/proc/${pid}/cmdline`, 'utf8')).includes(directory)) process.kill(pid, 'SIGKILL');
  }
};

test('what MongoDB counts of a collection is right again after it was killed', async () => {
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

test('what MongoDB has confirmed outlives a kill -9 that follows at once, even what asked for no journal', async () => {
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

test('two engines never open one directory', async () => {
  const { client } = await start();
  await client.close();
  await expect(start()).rejects.toThrow('MongoDB did not start');
});
