import { ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { clock } from '../../../shared/core/clock.ts';
import { runCollectionEffects } from '../../../shared/documents/effects/run-effects.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { endWriters, requestAndKill } from '../../support/clients/killed-writes.ts';
import { type ConnectedDatabase, openConnectedDatabase } from '../../support/fixtures/own-project.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

/* `kill -9` before each command of a run of effects at a time, whose `writes` change another document. */

process.env.RATE_LIMIT = '0';

const product = { key: 'product', type: 'Ref', ref: 'products' };
const collections = [
  { name: 'logs' },
  { name: 'products', schema: [{ key: 'stock', type: 'Number', min: 0 }] },
  {
    name: 'holds',
    schema: [product, { key: 'due', type: 'Date' }, { key: 'runs', type: 'Number' }],
    effects: [
      {
        at: 'due',
        set: { runs: { $add: [{ $doc: 'runs' }, 1] } },
        writes: [
          { op: 'update', collection: 'products', id: { $doc: 'product' }, changes: { $inc: { stock: -1 } } },
          { op: 'insert', collection: 'logs', document: { hold: { $doc: '_id' } } },
        ],
      },
    ],
  },
];

let made: TestProject;
let connected: ConnectedDatabase;

/** How far the clock of the job is ahead. It never goes back, because a lease ends at its time. */
let minutes = 0;

const now = (): number => Date.now() + minutes * 60_000;

const add = async (collectionName: string, body: object): Promise<string> => {
  const answer = await invoke(createDocument, {
    method: 'POST',
    key: made.secretKey,
    params: { collectionName },
    body,
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return String(answer.body._id);
};

const runLater = async (): Promise<void> => {
  minutes += 11;
  vi.spyOn(clock, 'now').mockImplementation(now);
  await runCollectionEffects(made.id, 'holds');
  vi.restoreAllMocks();
};

/** Kills a run before each of its commands. Returns what was left behind, and what later runs made of it. */
const killEach = async () => {
  const [left, ends] = [new Set<string>(), new Set<string>()];
  for (let at = 0; ; at += 1) {
    const target = await add('products', { stock: 5 });
    const hold = await add('holds', { product: target, runs: 0, due: new Date(now() - 60_000).toISOString() });
    const state = async (): Promise<string> => {
      const db = connected.db;
      const [held, taken, logs] = await Promise.all([
        db.collection('holds').findOne({ _id: new ObjectId(hold) }),
        db.collection('products').findOne({ _id: new ObjectId(target) }),
        db.collection('logs').countDocuments({ hold }),
      ]);
      return `${held?.runs} runs, ${taken?.stock} left, ${logs} logs`;
    };
    minutes += 1;
    const job = { projectId: made.id, name: 'holds', aheadMs: minutes * 60_000, key: made.secretKey, at };
    const ended = await requestAndKill(job);
    left.add(await state());
    for (let times = 0; times < 2; times += 1) await runLater();
    ends.add(await state());
    if (ended) return { left: [...left].sort(), ends: [...ends].sort() };
  }
};

beforeAll(async () => {
  made = await newProject(collections);
  connected = await openConnectedDatabase(made, 'effects');
});

afterEach(() => {
  vi.restoreAllMocks();
});

afterAll(async () => {
  endWriters();
  await connected?.close();
});

const none = '0 runs, 5 left, 0 logs';
const all = '1 runs, 4 left, 1 logs';

test('without transactions a killed run leaves a beginning of its writes, and no later run repeats or ends it', async () => {
  const beginnings = [none, '1 runs, 4 left, 0 logs', all, '1 runs, 5 left, 0 logs'];
  const { left, ends } = await killEach();
  expect(left).toEqual(beginnings.toSorted());
  expect(ends).toEqual(beginnings.filter((each) => each !== none).toSorted());
});

describe('with transactions', () => {
  beforeAll(async () => {
    await connected.useTransactions();
  });

  test('a killed run leaves all or nothing, and a later run does what was left', async () => {
    const { left, ends } = await killEach();
    expect([left, ends]).toEqual([[none, all], [all]]);
  });
});
