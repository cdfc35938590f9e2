import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Document, ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { handler as createDocuments } from '../../../functions/data/create-documents.ts';
import { handler as deleteDocuments } from '../../../functions/data/delete-documents.ts';
import { handler as runBatch } from '../../../functions/data/run-batch.ts';
import { handler as updateDocuments } from '../../../functions/data/update-documents.ts';
import { forgetProjects } from '../../../shared/collections/find-project-by-key.ts';
import { clock } from '../../../shared/core/clock.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import { type InvokeOptions, invoke } from '../../support/clients/invoke.ts';
import {
  type Acknowledged,
  endWriters,
  type KilledRequest,
  requestAndKill,
} from '../../support/clients/killed-writes.ts';
import { type ConnectedDatabase, openConnectedDatabase } from '../../support/fixtures/own-project.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';

process.env.RATE_LIMIT = '0';

/** The rounds of all tests together. */
const allRounds = 120;

const handlers = { createDocument, createDocuments, deleteDocuments, runBatch, updateDocuments };
const collections = [
  {
    name: 'orders',
    changes: true,
    schema: [
      { key: 'code', type: 'String', unique: true },
      { key: 'mark', type: 'String' },
    ],
  },
  { name: 'open' },
  { name: 'products', schema: [{ key: 'stock', type: 'Number', min: 0 }] },
];
const names = collections.map(({ name }) => name);

let managed: TestProject;
let external: TestProject;
let connected: ConnectedDatabase;
let standIn: Awaited<ReturnType<ConnectedDatabase['useTransactions']>>;
let cache: string;
let rounds = 0;

beforeAll(async () => {
  cache = await mkdtemp(path.join(tmpdir(), 'basalt-cache-'));
  process.env.NODE_COMPILE_CACHE = cache;
  managed = await newProject(collections);
  external = await newProject(collections);
  connected = await openConnectedDatabase(external, 'kills');
  standIn = await connected.useTransactions();
});

afterEach(() => {
  vi.restoreAllMocks();
});

afterAll(async () => {
  endWriters();
  await connected.close();
  await rm(cache, { recursive: true, force: true });
});

/** Documents of a project that are not deleted, as they are stored. */
const stored = async (project: TestProject, name: string, filter: Document): Promise<Document[]> => {
  const active = { ...filter, isDeleted: { $ne: true } };
  if (project === external) return connected.db.collection(name).find(active).toArray();
  return onProject(await domainProject(project), (db) => db.collection(name).find(active).toArray());
};

const insert = async (project: TestProject, name: string, body: object): Promise<string> => {
  const made = await invoke(createDocument, { key: project.secretKey, params: { collectionName: name }, body });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return String(made.body._id);
};

let passed = 0;

/** Sends a request again after the first run of it has surely ended. */
const repeat = async ({ route, options }: Pick<KilledRequest, 'route' | 'options'>): Promise<Acknowledged> => {
  passed += 36_000;
  const now = Date.now() + passed;
  vi.spyOn(clock, 'now').mockReturnValue(now);
  forgetProjects();
  const { status, body } = await invoke(handlers[route], options);
  vi.restoreAllMocks();
  forgetProjects();
  return { status, body };
};

/** One request, and what must hold after its process was killed. */
interface Round {
  readonly route: KilledRequest['route'];
  readonly options: InvokeOptions;
  readonly verify: (response: Acknowledged | undefined) => Promise<string>;
}

/** Kills a request before each of its commands and before its response. Returns what was left behind. */
const killEach = async (prepare: () => Promise<Round>): Promise<ReadonlySet<string>> => {
  const left = new Set<string>();
  for (let at = 0; ; at += 1) {
    const { route, options, verify } = await prepare();
    const response = await requestAndKill({ route, options, at, collections: names });
    rounds += 1;
    left.add(await verify(response));
    if (response) return left;
  }
};

interface Marked {
  readonly mark: string;
  readonly product: string;
  readonly cart: string;
}

const prepareBatch = async (project: TestProject): Promise<Marked> => ({
  mark: randomUUID(),
  product: await insert(project, 'products', { stock: 10 }),
  cart: await insert(project, 'open', { cart: true }),
});

const inserting = (collection: string, document: object) => ({ op: 'insert', collection, document });

const writesOf = ({ mark, product, cart }: Marked) => [
  inserting('orders', { mark, code: `${mark} a` }),
  inserting('orders', { mark, code: `${mark} b` }),
  { op: 'update', collection: 'products', id: product, changes: { $inc: { stock: -1 } } },
  { op: 'delete', collection: 'open', id: cart },
  inserting('open', { mark, n: 1 }),
  inserting('open', { mark, n: 2 }),
];

/** Which writes of a batch are stored, in order. A write is never done twice. */
const doneOf = async (project: TestProject, { mark, product, cart }: Marked): Promise<readonly boolean[]> => {
  const orders = await stored(project, 'orders', { mark });
  const open = await stored(project, 'open', { mark });
  const carts = await stored(project, 'open', { _id: new ObjectId(cart) });
  const [{ stock } = { stock: undefined }] = await stored(project, 'products', { _id: new ObjectId(product) });
  expect([9, 10]).toContain(stock);
  expect([orders.length <= 2, open.length <= 2]).toEqual([true, true]);
  const has = (code: string) => orders.some((each) => each.code === `${mark} ${code}`);
  const hasOpen = (n: number) => open.some((each) => each.n === n);
  return [has('a'), has('b'), stock === 9, carts.length === 0, hasOpen(1), hasOpen(2)];
};

const textOf = (done: readonly boolean[]): string => done.map((each) => (each ? '1' : '0')).join('');

const batchOf = (
  project: TestProject,
  writes: readonly unknown[],
  more: InvokeOptions = {},
): Omit<Round, 'verify'> => ({
  route: 'runBatch',
  options: { method: 'POST', key: project.secretKey, body: { writes }, ...more },
});

const [all, none] = ['111111', '000000'];
/** A beginning of the writes. */
const beginnings = Array.from({ length: 7 }, (_, n) => '1'.repeat(n).padEnd(6, '0'));

describe('kill -9 at each command without transactions', () => {
  test('a batch leaves a beginning of its writes, and everything if it was acknowledged', async () => {
    const left = await killEach(async () => {
      const marked = await prepareBatch(managed);
      const verify = async (response: Acknowledged | undefined) => {
        const done = textOf(await doneOf(managed, marked));
        if (response) expect([response.status, done]).toEqual([200, all]);
        expect(beginnings).toContain(done);
        return done;
      };
      return { ...batchOf(managed, writesOf(marked)), verify };
    });
    // The inserts of a collection are one command.
    expect([...left].sort()).toEqual(['000000', '110000', '111000', '111100', '111111']);
  });

  test('a batch with an Idempotency-Key is not carried out again after its process died in between', async () => {
    const ends = new Set<string>();
    await killEach(async () => {
      const marked = await prepareBatch(managed);
      const request = batchOf(managed, writesOf(marked), { headers: { 'idempotency-key': randomUUID() } });
      const verify = async (response: Acknowledged | undefined) => {
        const before = textOf(await doneOf(managed, marked));
        const again = await repeat(request);
        const after = textOf(await doneOf(managed, marked));
        if (response) expect([response.status, again.status]).toEqual([200, 200]);
        if (again.status === 200) expect(after).toBe(all);
        else expect([again.body.code, after]).toEqual(['IDEMPOTENCY_OUTCOME_UNKNOWN', before]);
        ends.add(String(again.status));
        return after;
      };
      return { ...request, verify };
    });
    expect([...ends].sort()).toEqual(['200', '409']);
  });

  test('a batch that undoes its writes leaves a beginning of them, and nothing once its error was acknowledged', async () => {
    await insert(managed, 'orders', { code: 'taken' });
    const left = await killEach(async () => {
      const marked = await prepareBatch(managed);
      const verify = async (response: Acknowledged | undefined) => {
        const done = textOf(await doneOf(managed, marked));
        if (response) expect([response.status, response.body.code, done]).toEqual([409, 'DUPLICATE_VALUE', none]);
        expect(beginnings).toContain(done);
        return done;
      };
      return { ...batchOf(managed, [...writesOf(marked), inserting('orders', { code: 'taken' })]), verify };
    });
    // The undo takes back one write after the other.
    expect([...left].sort()).toEqual(beginnings.toSorted());
  });

  test.each([
    ['an upsert of a new document', 'createDocument', false],
    ['an upsert of a stored document', 'createDocument', true],
    ['a bulk upsert', 'createDocuments', true],
  ] as const)('%s with an Idempotency-Key is applied at most one time', async (_title, route, isThere) => {
    const ends = new Set<string>();
    await killEach(async () => {
      const code = randomUUID();
      if (isThere) await insert(managed, 'orders', { code });
      const body = { code, mark: 'x' };
      const request = {
        route,
        options: {
          method: 'POST',
          key: managed.secretKey,
          params: { collectionName: 'orders' },
          query: 'onConflict=code',
          headers: { 'idempotency-key': randomUUID() },
          body: route === 'createDocuments' ? [body] : body,
        },
      };
      const verify = async (response: Acknowledged | undefined) => {
        const find = () => stored(managed, 'orders', { code });
        const before = await find();
        if (response) expect([response.status < 300, before[0]?.mark]).toEqual([true, 'x']);
        const again = await repeat(request);
        const after = await find();
        expect(after.length).toBeLessThanOrEqual(1);
        expect(after[0]?._rev ?? 0).toBeLessThanOrEqual(isThere ? 2 : 1);
        if (again.status < 300) expect(after[0]?.mark).toBe('x');
        else expect([again.body.code, after]).toEqual(['IDEMPOTENCY_OUTCOME_UNKNOWN', before]);
        ends.add(again.status < 300 ? 'done' : 'unknown');
        return String(again.status);
      };
      return { ...request, verify };
    });
    expect(ends.has('done')).toBe(true);
  });

  const many = 6;
  const insertMany = async (mark: string): Promise<void> => {
    for (let n = 0; n < many; n += 1) await insert(managed, 'open', { mark, n: 0 });
  };

  test('an update of many documents writes each at most one time, and the next call does the rest', async () => {
    const left = await killEach(async () => {
      const mark = randomUUID();
      await insertMany(mark);
      const request = {
        route: 'updateDocuments' as const,
        options: {
          method: 'PATCH',
          key: managed.secretKey,
          params: { collectionName: 'open' },
          body: { where: { mark, n: 0 }, changes: { $inc: { n: 1 } } },
        },
      };
      const numbers = async () => (await stored(managed, 'open', { mark })).map(({ n }) => n as number);
      const verify = async (response: Acknowledged | undefined) => {
        const before = await numbers();
        expect(before.every((n) => n === 0 || n === 1)).toBe(true);
        if (response) expect([response.status, before]).toEqual([200, Array(many).fill(1)]);
        expect((await repeat(request)).status).toBe(200);
        expect(await numbers()).toEqual(Array(many).fill(1));
        return String(before.filter((n) => n === 1).length);
      };
      return { ...request, verify };
    });
    expect(left.has('0') && left.has(String(many)) && left.size > 2).toBe(true);
  });

  test('a deletion of many documents deletes no other ones, and the next call does the rest', async () => {
    const left = await killEach(async () => {
      const [mark, other] = [randomUUID(), randomUUID()];
      await insertMany(mark);
      await insert(managed, 'open', { mark: other });
      const request = {
        route: 'deleteDocuments' as const,
        options: {
          method: 'POST',
          key: managed.secretKey,
          params: { collectionName: 'open' },
          body: { where: { mark }, permanent: true },
        },
      };
      const countOf = async (of: string) => (await stored(managed, 'open', { mark: of })).length;
      const verify = async (response: Acknowledged | undefined) => {
        const before = await countOf(mark);
        if (response) expect([response.status, before]).toEqual([200, 0]);
        expect((await repeat(request)).status).toBe(200);
        expect([await countOf(mark), await countOf(other)]).toEqual([0, 1]);
        return String(before);
      };
      return { ...request, verify };
    });
    expect(left.has('0') && left.has(String(many)) && left.size > 2).toBe(true);
  });
});

describe('kill -9 at each command with transactions', () => {
  test('a batch is done as a whole or not at all', async () => {
    const commits = standIn.commits();
    const left = await killEach(async () => {
      const marked = await prepareBatch(external);
      const verify = async (response: Acknowledged | undefined) => {
        const done = textOf(await doneOf(external, marked));
        if (response)
          expect([response.status, response.body.data, done]).toEqual([
            200,
            expect.objectContaining({ atomic: true }),
            all,
          ]);
        return done;
      };
      return { ...batchOf(external, writesOf(marked)), verify };
    });
    expect([...left].sort()).toEqual([none, all]);
    expect(standIn.commits()).toBeGreaterThan(commits);
  });

  test('a batch whose last write is rejected leaves nothing', async () => {
    await insert(external, 'orders', { code: 'taken' });
    const left = await killEach(async () => {
      const marked = await prepareBatch(external);
      const verify = async (response: Acknowledged | undefined) => {
        if (response) expect([response.status, response.body.code]).toEqual([409, 'DUPLICATE_VALUE']);
        return textOf(await doneOf(external, marked));
      };
      return { ...batchOf(external, [...writesOf(marked), inserting('orders', { code: 'taken' })]), verify };
    });
    expect([...left]).toEqual([none]);
  });

  test('a bulk upsert is done as a whole or not at all', async () => {
    const left = await killEach(async () => {
      const mark = randomUUID();
      await insert(external, 'orders', { code: `${mark} a` });
      const body = ['a', 'b', 'c'].map((each) => ({ code: `${mark} ${each}`, mark }));
      const options = { method: 'POST', key: external.secretKey, params: { collectionName: 'orders' }, body };
      const verify = async (response: Acknowledged | undefined) => {
        const { length } = await stored(external, 'orders', { mark });
        if (response) expect([response.status, length]).toEqual([200, 3]);
        return String(length);
      };
      return { route: 'createDocuments', options: { ...options, query: 'onConflict=code' }, verify };
    });
    expect([...left].sort()).toEqual(['0', '3']);
  });
});

test(`batches killed at random commands leave a beginning of their writes, up to ${allRounds} rounds in all`, async () => {
  for (; rounds < allRounds; rounds += 1) {
    const marked = await prepareBatch(managed);
    const at = Math.floor(Math.random() * 10);
    const response = await requestAndKill({ ...batchOf(managed, writesOf(marked)), at, collections: names });
    const done = textOf(await doneOf(managed, marked));
    expect(response ? [all] : beginnings).toContain(done);
  }
  process.stdout.write(`${rounds} rounds of kill -9\n`);
});
