import { ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { clock } from '../../../shared/core/clock.ts';
import { runCollectionEffects } from '../../../shared/documents/effects/run-effects.ts';
import { mailLogs } from '../../../shared/mail/log.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { newProviderKey } from '../../support/fixtures/mail-project.ts';
import { type ConnectedDatabase, openConnectedDatabase } from '../../support/fixtures/own-project.ts';
import { stillQueue } from '../../support/fixtures/still-queue.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

/* Effects in a customer's database: first on a standalone server, then on one with transactions. */

process.env.RATE_LIMIT = '0';

const number = (key: string, more: object = {}) => ({ key, type: 'Number', ...more });
const product = { key: 'product', type: 'Ref', ref: 'products' };
const due = { key: 'due', type: 'Date' };
const takes = { op: 'update', collection: 'products', id: { $doc: 'product' }, changes: { $inc: { stock: -1 } } };
const to = `effects-${new ObjectId()}@example.com`;
const collections = [
  { name: 'products', schema: [number('price'), number('stock', { min: 0 })] },
  {
    name: 'orders',
    schema: [product, number('price')],
    effects: [{ on: 'create', set: { price: { $doc: 'product.price' } }, writes: [takes] }],
  },
  {
    name: 'holds',
    schema: [product, due, number('runs')],
    effects: [{ at: 'due', set: { runs: { $add: [{ $doc: 'runs' }, 1] } }, writes: [takes] }],
  },
  { name: 'mailed', effects: [{ on: 'create', mail: { template: 'hello', to } }] },
  { name: 'reminders', schema: [due], effects: [{ at: 'due', mail: { template: 'reminder', to } }] },
];

let made: UsersProject;
let connected: ConnectedDatabase;

/** How far the clock of the job is ahead. It never goes back, because a lease ends at its time. */
let minutes = 0;

const now = (): number => Date.now() + minutes * 60_000;

const create = (collectionName: string, body: object) =>
  invoke(createDocument, { method: 'POST', key: made.secretKey, params: { collectionName }, body });

const add = async (name: string, body: object): Promise<string> => {
  const answer = await create(name, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return String(answer.body._id);
};

const stored = (name: string, id: string) => connected.db.collection(name).findOne({ _id: new ObjectId(id) });

const run = async (name: string, later: number): Promise<void> => {
  minutes += later;
  vi.spyOn(clock, 'now').mockImplementation(now);
  await runCollectionEffects(made.id, name);
  vi.restoreAllMocks();
};

const newHold = async (stock: number) => {
  const target = await add('products', { price: 2, stock });
  const hold = await add('holds', { product: target, runs: 0, due: new Date(now() - 60_000).toISOString() });
  return {
    target,
    hold,
    state: async () => [(await stored('holds', hold))?.runs, (await stored('products', target))?.stock],
  };
};

beforeAll(async () => {
  // Only the test takes the tasks.
  process.env.WORK_QUEUE_URL = await stillQueue(process.env.AWS_ENDPOINT_URL ?? '');
  made = await newUsersProject({ settings: { providerApiKey: newProviderKey() } });
  for (const each of collections) await made.addCollection(each);
  connected = await openConnectedDatabase(made, 'effects');
});

afterEach(() => {
  vi.restoreAllMocks();
});

afterAll(async () => {
  await connected?.close();
});

describe('on a standalone server', () => {
  test('an effect at a time writes its document and another one, one time', async () => {
    const { state } = await newHold(5);
    for (let times = 0; times < 3; times += 1) await run('holds', 11);
    expect(await state()).toEqual([1, 4]);
  });

  test('a rejected effect at a time is undone, and not retried', async () => {
    const { state } = await newHold(0);
    for (let times = 0; times < 2; times += 1) await run('holds', 11);
    expect(await state()).toEqual([0, 0]);
  });

  test.each(['mailed', 'reminders'])('an email of %s is queued one time', async (name) => {
    const id = await add(name, name === 'reminders' ? { due: new Date(now() - 60_000).toISOString() } : {});
    for (let times = 0; times < 3; times += 1) await run(name, 11);
    const templateUsed = name === 'mailed' ? 'hello' : 'reminder';
    const logs = await mailLogs.find({ projectId: new ObjectId(made.id), templateUsed });
    expect(logs.map((log) => log.to)).toEqual([[to]]);
    expect((await stored(name, id))?._effects?.mails).toEqual([]);
  });
});

describe('on a server with transactions', () => {
  let standIn: Awaited<ReturnType<ConnectedDatabase['useTransactions']>>;

  beforeAll(async () => {
    standIn = await connected.useTransactions();
  });

  test('an insert and the writes of its effects are one commit', async () => {
    const target = await add('products', { price: 2, stock: 1 });
    const commits = standIn.commits();
    const order = await add('orders', { product: target });
    expect(standIn.commits()).toBe(commits + 1);
    expect([await stored('orders', order), await stored('products', target)]).toMatchObject([
      { price: 2 },
      { stock: 0 },
    ]);
  });

  test('409 EFFECT_REFUSED commits nothing', async () => {
    const target = await add('products', { price: 2, stock: 0 });
    const commits = standIn.commits();
    expect(await create('orders', { product: target })).toMatchObject({
      status: 409,
      body: { code: 'EFFECT_REFUSED', errors: [{ effect: 0, write: 0, field: 'stock' }] },
    });
    expect(standIn.commits()).toBe(commits);
    const orders = connected.db.collection('orders');
    expect(await orders.countDocuments({ product: new ObjectId(target) })).toBe(0);
  });

  test('an effect at a time and its writes are one commit', async () => {
    const { state } = await newHold(1);
    const commits = standIn.commits();
    for (let times = 0; times < 2; times += 1) await run('holds', 11);
    expect([await state(), standIn.commits()]).toEqual([[1, 0], commits + 1]);
  });

  test('a rejected effect at a time commits nothing, and is not retried', async () => {
    const { state } = await newHold(0);
    const commits = standIn.commits();
    for (let times = 0; times < 2; times += 1) await run('holds', 11);
    expect([await state(), standIn.commits()]).toEqual([[0, 0], commits]);
  });
});
