import { Collection, MongoNetworkError } from 'mongodb';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as runBatch } from '../../../functions/data/run-batch.ts';
import type { RequestOptions } from '../../support/clients/client.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { beforeChange } from '../../support/faults/before-change.ts';
import { killAfter } from '../../support/faults/killed.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

listenToCommands();
process.env.RATE_LIMIT = '0';

interface Body {
  readonly code?: string;
  readonly message: string;
  readonly errors?: readonly { readonly index?: number; readonly field?: string; readonly collection?: string }[];
  readonly data: {
    readonly results: readonly {
      readonly status: number;
      readonly code?: string;
      readonly document?: Record<string, unknown>;
    }[];
    readonly atomic?: boolean;
    readonly truncated?: boolean;
    readonly stock?: number;
  };
}

let project: UsersProject;
let [ann, bob]: (RequestOptions & { readonly id: string })[] = [];

const collections = [
  { name: 'orders', schema: [{ key: 'total', type: 'Number', min: 0 }] },
  {
    name: 'items',
    schema: [
      { key: 'order', type: 'Ref', ref: 'orders', exists: true },
      { key: 'code', type: 'String', unique: true },
    ],
  },
  {
    name: 'products',
    schema: [
      { key: 'stock', type: 'Number', min: 0 },
      { key: 'tags', type: 'Array', items: { type: 'String' } },
    ],
  },
  {
    name: 'fed',
    changes: true,
    schema: [
      { key: 'n', type: 'Number' },
      { key: 'code', type: 'String', unique: true },
    ],
  },
  { name: 'open' },
  { name: 'notes', rls: { enabled: true, mode: 'private' } },
  {
    name: 'teams',
    rls: {
      enabled: true,
      mode: 'rules',
      rules: { read: { $user: {} }, create: { $user: {} }, update: false, delete: false, purge: false },
    },
  },
];

beforeAll(async () => {
  project = await newUsersProject();
  for (const collection of collections) await project.addCollection(collection);
  const people = await Promise.all([project.newUser(), project.newUser()]);
  [ann, bob] = people.map(({ userId, accessToken }) => ({
    id: userId,
    key: project.publishableKey,
    token: accessToken,
  }));
});

afterEach(() => {
  vi.restoreAllMocks();
});

const batch = (writes: readonly unknown[], who: RequestOptions = {}, more: object = {}) =>
  project.api<Body>('POST', '/api/batch', { ...who, body: { writes, ...more } });

/** The same in this process, so that its commands are seen. */
const batchHere = async (writes: readonly unknown[], { key = project.secretKey, token }: RequestOptions = {}) => {
  const { status, body } = await invoke(runBatch, { key, ...(token && { token }), body: { writes } });
  return { status, body: body as unknown as Body };
};

const insert = async (name: string, document: object, who: RequestOptions = {}): Promise<string> => {
  const { body } = await project.api<{ _id: string }>('POST', `/api/data/${name}`, { ...who, body: document });
  return body._id;
};

const get = async (name: string, id: unknown, who: RequestOptions = {}) => {
  const { status, body } = await project.api<Record<string, unknown>>('GET', `/api/data/${name}/${id}`, who);
  return status === 200 ? body : undefined;
};

const countOf = async (name: string): Promise<number> => {
  const { body } = await project.api<{ data: { count: number } }>('GET', `/api/data/${name}?count=true`);
  return body.data.count;
};

const stockOf = async (id: string) => (await get('products', id))?.stock;

const update = (name: string, id: unknown, changes: object, more: object = {}) => ({
  op: 'update',
  collection: name,
  id,
  changes,
  ...more,
});
const inserting = (name: string, document: object, more: object = {}) => ({
  op: 'insert',
  collection: name,
  document,
  ...more,
});

describe('a batch', () => {
  test('200 carries out writes of several collections and fills in the ids of earlier inserts', async () => {
    const cart = await insert('open', { n: 1 });
    const product = await insert('products', { stock: 5 });
    const coupon = await insert('open', { used: false });
    const { status, body } = await batch([
      inserting('orders', { total: 20 }),
      inserting('items', { order: { $id: 0 }, more: { deep: [{ $id: 0 }] } }),
      update('products', product, { $inc: { stock: -1 } }, { where: { stock: { $gte: 1 } } }),
      { op: 'delete', collection: 'open', id: cart },
      { op: 'check', collection: 'open', id: coupon, where: { used: false } },
      update('orders', { $id: 0 }, { total: 21 }, { ifMatch: 1 }),
    ]);
    expect(status, JSON.stringify(body)).toBe(200);
    const [order, item, ...others] = body.data.results;
    expect(body.data.results.map((each) => each.status)).toEqual([201, 201, 200, 200, 200, 200]);
    expect(body.data.atomic).toBe(false);
    expect(item?.document).toMatchObject({ order: order?.document?._id, more: { deep: [order?.document?._id] } });
    expect(others[0]?.document).toMatchObject({ _id: product, stock: 4 });
    expect(others[1]).toEqual({ status: 200 });
    expect(others[2]).toEqual({ status: 200 });
    expect(await get('orders', order?.document?._id)).toMatchObject({ total: 21 });
    expect(await get('open', cart)).toBeUndefined();
  });

  const malformed: [string, unknown][] = [
    ['a text', 'insert'],
    ['an unknown op', { op: 'upsert', collection: 'orders', document: {} }],
    ['an unknown member', inserting('orders', {}, { permanent: true })],
    ['ifMatch of a check', { op: 'check', collection: 'orders', id: 'a'.repeat(24), ifMatch: 1 }],
    ['a key without each', inserting('orders', {}, { idempotencyKey: 'a' })],
    ['no document', { op: 'insert', collection: 'orders' }],
    ['no collection', { op: 'insert', document: {} }],
    ['a revision as a text', update('orders', 'a'.repeat(24), { total: 1 }, { ifMatch: '1' })],
    ['a negative revision', update('orders', 'a'.repeat(24), { total: 1 }, { ifMatch: -1 })],
    ['where as a text', update('orders', 'a'.repeat(24), { total: 1 }, { where: 'total' })],
    ['$id of itself', inserting('orders', { a: { $id: 1 } })],
    ['$id of a later write', inserting('orders', { a: { $id: 2 } })],
    ['$id as a text', inserting('orders', { a: { $id: '0' } })],
    ['$id beside another member', inserting('orders', { a: { $id: 0, b: 1 } })],
    ['a number as id', update('orders', 7, { total: 1 })],
  ];

  test.each(malformed)('400 INVALID_BODY for %s, and no write is done', async (_title, write) => {
    const orders = await countOf('orders');
    const { status, body } = await batch([inserting('orders', { total: 1 }), write]);
    expect({ status, code: body.code }, body.message).toEqual({ status: 400, code: 'INVALID_BODY' });
    expect(body.errors).toEqual([expect.objectContaining({ index: 1 })]);
    expect(await countOf('orders')).toBe(orders);
  });

  test.each([0, 51])('400 INVALID_BODY for %i writes', async (count) => {
    const { status, body } = await batch(Array.from({ length: count }, () => inserting('open', {})));
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'INVALID_BODY' });
  });

  test('400 VALIDATION_FAILED for writes that are no list and for other members', async () => {
    for (const sent of [{ writes: {} }, { writes: [inserting('open', {})], all: true }, {}]) {
      const { status, body } = await project.api<Body>('POST', '/api/batch', { body: sent });
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'VALIDATION_FAILED' });
    }
  });

  const missing = 'f'.repeat(24);
  const refused: [number, string, unknown][] = [
    [400, 'VALIDATION_FAILED', inserting('orders', { total: 'a' })],
    [400, 'INVALID_ID', update('orders', 'x', { total: 1 })],
    [400, 'INVALID_ID', inserting('orders', {}, { id: 'A' })],
    [400, 'INVALID_FILTER', { op: 'check', collection: 'orders', id: missing, where: { total: { $no: 1 } } }],
    [400, 'NOTHING_TO_UPDATE', update('orders', missing, {})],
    [403, 'USERS_RESERVED', inserting('users', {})],
    [404, 'COLLECTION_NOT_FOUND', inserting('none', {})],
    [404, 'DOCUMENT_NOT_FOUND', update('orders', missing, { total: 1 })],
    [404, 'DOCUMENT_NOT_FOUND', { op: 'delete', collection: 'orders', id: missing }],
    [404, 'DOCUMENT_NOT_FOUND', { op: 'check', collection: 'orders', id: missing }],
    [400, 'VALIDATION_FAILED', inserting('items', { order: missing })],
  ];

  test.each(refused)('%i %s of one write undoes the others and names its index', async (status, code, write) => {
    const counts = [await countOf('fed'), await countOf('orders')];
    const sent = [inserting('fed', { n: 1 }), inserting('orders', { total: 1 }), write];
    const { body, ...answer } = await batch(sent);
    expect({ status: answer.status, code: body.code }, body.message).toEqual({ status, code });
    expect(body.errors?.[0]).toMatchObject({ index: 2 });
    expect([await countOf('fed'), await countOf('orders')]).toEqual(counts);
  });

  test('409 DUPLICATE_VALUE undoes inserts, updates and deletions', async () => {
    const [product, order] = [
      await insert('products', { stock: 3, tags: ['a'] }),
      await insert('orders', { total: 1 }),
    ];
    await insert('items', { code: 'taken' });
    const items = await countOf('items');
    const { status, body } = await batch([
      update('products', product, { stock: 1, other: { a: 1 }, $push: { tags: 'b' } }),
      update('products', product, { $inc: { stock: 5 } }),
      { op: 'delete', collection: 'orders', id: order },
      inserting('items', { code: 'new' }),
      update('items', { $id: 3 }, { code: 'newer' }),
      inserting('items', { code: 'taken' }),
    ]);
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'DUPLICATE_VALUE' });
    expect(body.errors).toEqual([expect.objectContaining({ index: 5, field: 'code' })]);
    const restored = await get('products', product);
    expect(restored).toMatchObject({ stock: 3, tags: ['a'] });
    expect(restored).not.toHaveProperty('other');
    expect(await get('orders', order)).toMatchObject({ total: 1, isDeleted: false, deletedAt: null });
    expect(await countOf('items')).toBe(items);
  });

  test('412 CONDITION_FAILED comes before the first write, as if earlier writes were done', async () => {
    const product = await insert('products', { stock: 2 });
    const writes = vi.spyOn(Collection.prototype, 'findOneAndUpdate');
    const take = (count: number) =>
      update('products', product, { $inc: { stock: -count } }, { where: { stock: { $gte: count } } });
    const { status, body } = await batchHere([take(1), take(2)]);
    expect({ status, code: body.code }).toEqual({ status: 412, code: 'CONDITION_FAILED' });
    expect(body.errors?.[0]).toMatchObject({ index: 1 });
    expect(body.data.stock).toBe(1);
    expect(writes).not.toHaveBeenCalled();
    writes.mockRestore();
    expect((await batch([take(1), take(1)])).status).toBe(200);
    expect(await stockOf(product)).toBe(0);
  });

  test('412 CONDITION_FAILED of a check sees the earlier writes of the batch', async () => {
    const check = (total: number) => ({ op: 'check', collection: 'orders', id: { $id: 0 }, where: { total } });
    expect((await batch([inserting('orders', { total: 4 }), check(4)])).status).toBe(200);
    const { status, body } = await batch([inserting('orders', { total: 4 }), check(5)]);
    expect({ status, code: body.code }).toEqual({ status: 412, code: 'CONDITION_FAILED' });
  });

  test('412 REVISION_MISMATCH counts the earlier writes of the batch', async () => {
    const order = await insert('orders', { total: 1 });
    const change = (ifMatch: number) => update('orders', order, { total: 2 }, { ifMatch });
    const { status, body } = await batch([change(1), change(1)]);
    expect({ status, code: body.code }).toEqual({ status: 412, code: 'REVISION_MISMATCH' });
    expect(body.errors?.[0]).toMatchObject({ index: 1 });
    expect((await batch([change(1), change(2)])).status).toBe(200);
  });

  test('the rejected write with the lowest index decides', async () => {
    const { status, body } = await batch([
      inserting('orders', { total: 1 }),
      update('orders', missing, { total: 1 }),
      inserting('orders', { total: 'a' }),
      'malformed',
    ]);
    expect({ status, index: body.errors?.[0]?.index }).toEqual({ status: 404, index: 1 });
  });

  test('412 DOCUMENT_EXISTS for an id that is taken; an undone one can be used again with a higher revision', async () => {
    const id = `${Math.floor(Date.now() / 1000).toString(16)}${'ab'.repeat(8)}`;
    await insert('fed', { code: 'kept' });
    const refusedBatch = await batch([inserting('fed', { n: 1 }, { id }), inserting('fed', { code: 'kept' })]);
    expect(refusedBatch.body.code).toBe('DUPLICATE_VALUE');
    expect(await get('fed', id)).toBeUndefined();
    const again = await batch([inserting('fed', { n: 2 }, { id })]);
    expect(again.status, again.body.message).toBe(200);
    const { headers, body } = await project.api<{ n: number }>('GET', `/api/data/fed/${id}`);
    expect([headers.get('etag'), body.n]).toEqual(['"3"', 2]);
    const taken = await batch([inserting('open', {}), inserting('fed', { n: 3 }, { id })]);
    expect({ status: taken.status, code: taken.body.code }).toEqual({ status: 412, code: 'DOCUMENT_EXISTS' });
  });

  test('200 leaves the documents out when they are larger than 5 MiB', async () => {
    const text = 'x'.repeat(1_300_000);
    const ids = await Promise.all([1, 2, 3, 4, 5].map((n) => insert('open', { n })));
    for (const id of ids.slice(0, 4)) {
      expect((await batch([update('open', id, { text: text.slice(0, 900_000) })])).status).toBe(200);
    }
    const large = await insert('open', { n: 6 });
    await batch([update('open', large, { text })]);
    await batch([update('open', ids[4], { text })]);
    const { status, body } = await batch([...ids, large].map((id) => update('open', id, { seen: true })));
    expect({ status, data: body.data }).toEqual({
      status: 200,
      data: { results: Array(6).fill({ status: 200 }), atomic: false, truncated: true },
    });
  });

  test('413 BODY_TOO_LARGE above 4 MiB', async () => {
    const { status, body } = await batch([inserting('open', { text: 'x'.repeat(4 * 1024 * 1024) })]);
    expect({ status, code: body.code }).toEqual({ status: 413, code: 'BODY_TOO_LARGE' });
  });

  test('repeats the response of its Idempotency-Key and writes nothing again', async () => {
    const orders = await countOf('orders');
    const headers = { 'idempotency-key': `batch-${Date.now()}` };
    const first = await batch([inserting('orders', { total: 7 })], { headers });
    const second = await batch([inserting('orders', { total: 7 })], { headers });
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(await countOf('orders')).toBe(orders + 1);
  });

  test('50 concurrent batches sell 20 pieces 20 times, with one order each', async () => {
    const product = await insert('products', { stock: 20 });
    const orders = await countOf('orders');
    const answers = await Promise.all(
      Array.from({ length: 50 }, () =>
        batch([
          inserting('orders', { total: 1 }),
          update('products', product, { $inc: { stock: -1 } }, { where: { stock: { $gte: 1 } } }),
        ]),
      ),
    );
    const sold = answers.filter(({ status }) => status === 200).length;
    expect([sold, await stockOf(product)]).toEqual([20, 0]);
    expect(await countOf('orders')).toBe(orders + 20);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 412]));
  });
});

describe('the undo of a batch', () => {
  const clash = inserting('items', { code: 'clash' });

  beforeAll(async () => {
    await insert('items', { code: 'clash' });
  });

  test('keeps the writes of other callers when a batch only added', async () => {
    const product = await insert('products', { stock: 10, tags: ['a'] });
    beforeChange('insertOne', 1, () =>
      project.api('PATCH', `/api/data/products/${product}`, { body: { $inc: { stock: -4 }, $push: { tags: 'x' } } }),
    );
    const { status, body } = await batchHere([
      update('products', product, { $inc: { stock: -1 }, $push: { tags: 'b' } }),
      clash,
    ]);
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'DUPLICATE_VALUE' });
    expect(await get('products', product)).toMatchObject({ stock: 6, tags: ['a', 'x'] });
  });

  test('409 BATCH_PARTLY_DONE lists the rejected write, then those that stay', async () => {
    const product = await insert('products', { stock: 10 });
    beforeChange('insertOne', 2, () =>
      project.api('PATCH', `/api/data/products/${product}`, { body: { note: 'theirs' } }),
    );
    const { status, body } = await batchHere([
      inserting('orders', { total: 1 }),
      update('products', product, { stock: 3 }),
      clash,
    ]);
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'BATCH_PARTLY_DONE' });
    expect(body.errors).toEqual([
      expect.objectContaining({ index: 2, field: 'code' }),
      expect.objectContaining({ index: 1, collection: 'products' }),
    ]);
    expect(await get('products', product)).toMatchObject({ stock: 3, note: 'theirs' });
  });

  test('409 BATCH_PARTLY_DONE when taking back would break a bound', async () => {
    const product = await insert('products', { stock: 0 });
    beforeChange('insertOne', 1, () =>
      project.api('PATCH', `/api/data/products/${product}`, { body: { $inc: { stock: -5 } } }),
    );
    const { body } = await batchHere([update('products', product, { $inc: { stock: 5 } }), clash]);
    expect([body.code, await stockOf(product)]).toEqual(['BATCH_PARTLY_DONE', 0]);
  });

  test('50 failing batches and 50 single updates at the same time leave the sum of the updates', async () => {
    const product = await insert('products', { stock: 1000 });
    const single = () => project.api('PATCH', `/api/data/products/${product}`, { body: { $inc: { stock: 1 } } });
    const failing = () => batch([update('products', product, { $inc: { stock: -3 } }), clash]);
    const answers = await Promise.all([...Array.from({ length: 50 }, single), ...Array.from({ length: 50 }, failing)]);
    const done = answers.slice(0, 50).filter(({ status }) => status === 200).length;
    const codes = new Set(answers.slice(50).map(({ body }) => (body as Body).code));
    expect(codes.has('BATCH_PARTLY_DONE')).toBe(false);
    expect(await stockOf(product)).toBe(1000 + done);
  });

  /** From a number of inserts on, every change fails as if the database were down. */
  const downAfter = (inserts: number): void => {
    const { insertOne } = Collection.prototype;
    let done = 0;
    const down = async () => {
      throw new MongoNetworkError('connection closed');
    };
    vi.spyOn(Collection.prototype, 'insertOne').mockImplementation(function (this: Collection, ...given) {
      done += 1;
      if (done <= inserts) return insertOne.apply(this, given);
      for (const name of ['findOneAndUpdate', 'updateOne', 'deleteOne', 'bulkWrite'] as const) {
        vi.spyOn(Collection.prototype, name).mockImplementation(down);
      }
      return down();
    });
  };

  test('503 DATABASE_UNAVAILABLE when the database fails during the first write and its undo', async () => {
    downAfter(0);
    const { status, body } = await batchHere([inserting('orders', { total: 1 })]);
    vi.restoreAllMocks();
    expect({ status, code: body.code }).toEqual({ status: 503, code: 'DATABASE_UNAVAILABLE' });
  });

  test('409 BATCH_PARTLY_DONE with the writes that may have stayed when the database fails later', async () => {
    const orders = await countOf('orders');
    downAfter(1);
    const { status, body } = await batchHere([inserting('orders', { total: 1 }), inserting('fed', { n: 1 })]);
    vi.restoreAllMocks();
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'BATCH_PARTLY_DONE' });
    expect(body.errors).toMatchObject([
      { index: 1 },
      { index: 0, collection: 'orders', message: expect.stringContaining('may have stayed') },
      { index: 1, collection: 'fed', message: expect.stringContaining('may have stayed') },
    ]);
    expect(await countOf('orders')).toBe(orders + 1);
  });

  test('a process that dies at any step leaves a beginning of the writes, and nothing else', async () => {
    const left = new Set<string>();
    for (let step = 0, isFinished = false; !isFinished; step += 1) {
      const product = await insert('products', { stock: 10 });
      const [orders, code] = [await countOf('orders'), `step ${step} ${product}`];
      const killed = killAfter(step);
      await batchHere([
        inserting('orders', { total: 1 }),
        update('products', product, { $inc: { stock: -1 } }),
        inserting('items', { code }),
      ]);
      isFinished = killed.hit() === undefined;
      vi.restoreAllMocks();
      const items = await project.api<{ data: { count: number } }>(
        'GET',
        `/api/data/items?count=true&code=${encodeURIComponent(code)}`,
      );
      const done = [(await countOf('orders')) - orders, 10 - Number(await stockOf(product)), items.body.data.count];
      expect(['0,0,0', '1,0,0', '1,1,0', '1,1,1']).toContain(String(done));
      left.add(String(done));
    }
    expect(left.has('1,0,0') && left.has('1,1,0') && left.has('1,1,1')).toBe(true);
  });
});

describe('the rights of a batch', () => {
  test('401 TOKEN_MISSING without a user', async () => {
    const { status, body } = await batch([inserting('notes', { a: 1 })], { key: project.publishableKey });
    expect({ status, code: body.code }).toEqual({ status: 401, code: 'TOKEN_MISSING' });
  });

  test('401 TOKEN_INVALID with an invalid token', async () => {
    const { status, body } = await batch([inserting('notes', {})], { key: project.publishableKey, token: 'x' });
    expect({ status, code: body.code }).toEqual({ status: 401, code: 'TOKEN_INVALID' });
  });

  test('403 RLS_REQUIRED and RULE_DENIED of a user undo their earlier writes', async () => {
    const note = await insert('notes', { a: 1 }, ann);
    for (const [write, code] of [
      [inserting('open', { a: 1 }), 'RLS_REQUIRED'],
      [update('teams', await insert('teams', { n: 1 }), { n: 2 }), 'RULE_DENIED'],
    ] as const) {
      const { status, body } = await batch([update('notes', note, { a: 2 }), write], ann);
      expect({ status, code: body.code }).toEqual({ status: 403, code });
      expect(await get('notes', note, ann)).toMatchObject({ a: 1 });
    }
  });

  test('403 NOT_OWNER for the document of another user with any condition', async () => {
    const note = await insert('notes', { a: 1 }, ann);
    for (const a of [1, 2]) {
      const { status, body } = await batch([update('notes', note, { b: 1 }, { where: { a } })], bob);
      expect({ status, code: body.code }).toEqual({ status: 403, code: 'NOT_OWNER' });
    }
    const check = await batch([{ op: 'check', collection: 'notes', id: note }], bob);
    expect(check.status).toBe(404);
  });

  test('200 gives a user their own documents', async () => {
    const { status, body } = await batch([inserting('notes', { a: 1 }), update('notes', { $id: 0 }, { b: 2 })], ann);
    expect(status, body.message).toBe(200);
    expect(body.data.results[1]?.document).toMatchObject({ a: 1, b: 2, userId: ann?.id });
  });
});

describe('a batch with each', () => {
  const each = (writes: readonly unknown[], who: RequestOptions = {}) => batch(writes, who, { each: true });

  test('200 carries out every write on its own, in order', async () => {
    const order = await insert('orders', { total: 1 });
    const { status, body } = await each([
      inserting('orders', { total: 1 }),
      'malformed',
      inserting('orders', { total: -1 }),
      update('items', { $id: 2 }, { code: 'a' }),
      update('orders', { $id: 0 }, { total: 9 }),
      update('orders', order, { total: 2 }, { where: { total: 5 } }),
    ]);
    expect(status).toBe(200);
    expect(body.data).not.toHaveProperty('atomic');
    expect(body.data.results.map((each) => each.code ?? each.status)).toEqual([
      201,
      'INVALID_BODY',
      'VALIDATION_FAILED',
      'INVALID_BODY',
      200,
      'CONDITION_FAILED',
    ]);
    expect(body.data.results[4]?.document).toMatchObject({ total: 9 });
  });

  test('200 carries out a keyed write once, also beside others', async () => {
    const product = await insert('products', { stock: 5 });
    const key = `each-${Date.now()}`;
    const writes = [
      inserting('orders', { total: 1 }, { idempotencyKey: `${key}-a` }),
      update('products', product, { $inc: { stock: -1 }, order: { $id: 0 } }, { idempotencyKey: `${key}-b` }),
    ];
    const first = await each(writes);
    const second = await each([...writes, inserting('orders', { total: 2 })]);
    expect(second.body.data.results.slice(0, 2)).toEqual(first.body.data.results);
    expect(await stockOf(product)).toBe(4);
    const other = await each([inserting('orders', { total: 3 }, { idempotencyKey: `${key}-a` })]);
    expect(other.body.data.results[0]).toMatchObject({ status: 409, code: 'IDEMPOTENCY_KEY_REUSED' });
  });

  test('50 concurrent repeats of one keyed write carry it out once', async () => {
    const product = await insert('products', { stock: 100 });
    const write = update('products', product, { $inc: { stock: -1 } }, { idempotencyKey: `many-${Date.now()}` });
    const answers = await Promise.all(Array.from({ length: 50 }, () => each([write])));
    const codes = new Set(answers.map(({ body }) => body.data.results[0]?.code ?? 'done'));
    expect([...codes].every((code) => ['done', 'IDEMPOTENCY_IN_PROGRESS'].includes(code))).toBe(true);
    expect(await stockOf(product)).toBe(99);
  });
});

describe('the commands of a batch', () => {
  const commandsFor = async (act: () => Promise<unknown>): Promise<string[]> => {
    await act();
    // Work of an earlier test can fall into one of the runs, so the one with the fewest commands counts.
    const runs = [await commandsOf(act), await commandsOf(act)].map((commands) =>
      commands.filter((command) => command.startsWith('mongodb')),
    );
    return runs.toSorted((one, other) => one.length - other.length)[0] ?? [];
  };

  test('two updates of one collection take one look-up together, and two commands each', async () => {
    const ids = [await insert('open', { n: 1 }), await insert('open', { n: 2 })];
    const commands = await commandsFor(() => batchHere(ids.map((id) => update('open', id, { $inc: { n: 1 } }))));
    expect(commands.toSorted()).toEqual(
      [...Array(3).fill('mongodb find'), ...Array(2).fill('mongodb findAndModify')].toSorted(),
    );
  });
});
