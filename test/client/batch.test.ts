import { beforeAll, describe, expect, inject, test } from 'vitest';
import { type Basalt, BasaltError, type QueuedWrite } from '../../client/src/index.ts';
import { HttpProxy } from '../support/faults/http-proxy.ts';
import type { UsersProject } from '../support/fixtures/users.ts';
import type { Schema } from './schema.ts';
import { asApp, asServer, newShop } from './shop.ts';

let project: UsersProject;
let app: Basalt<Schema>;

beforeAll(async () => {
  project = await newShop();
  app = asServer(project);
});

/** A proxy that loses the first response of each batch. */
const losing = async (): Promise<HttpProxy> => {
  const proxy = await HttpProxy.start(inject('stack').baseUrl);
  const lost = new Set<unknown>();
  proxy.meet(({ headers }) => {
    const key = headers['idempotency-key'];
    if (lost.has(key)) return undefined;
    lost.add(key);
    return 'lose the answer';
  });
  return proxy;
};

describe('a batch of the client', () => {
  test('writes several collections and returns a result for each write, in order', async () => {
    const { _id: ware } = await app.notes.insert({ stock: 2 });
    const { _id: cart } = await app.notes.insert({ n: 1 });
    const { results, atomic } = await app.batch([
      { op: 'insert', collection: 'tasks', document: { title: 'order' } },
      { op: 'insert', collection: 'notes', document: { order: { $id: 0 } } },
      {
        op: 'update',
        collection: 'notes',
        id: ware,
        changes: { $inc: { stock: -1 } },
        where: { stock: { $gte: 1 } },
        rev: 1,
      },
      { op: 'delete', collection: 'notes', id: cart },
      { op: 'check', collection: 'tasks', id: { $id: 0 }, where: { title: 'order' } },
    ]);
    const [order, line, sold, ...others] = results;
    expect(atomic).toBe(false);
    expect(order).toMatchObject({ status: 201, document: { title: 'order' } });
    expect(line).toMatchObject({ status: 201, document: { order: order.document?._id } });
    expect(sold).toMatchObject({ status: 200, document: { _id: ware, stock: 1 } });
    expect(others).toEqual([{ status: 200 }, { status: 200 }]);
    expect(await app.tasks.get(order.document?._id ?? '')).toMatchObject({ title: 'order' });
    await expect(app.notes.get(cart)).rejects.toMatchObject({ status: 404 });
  });

  test('throws the error of the first rejected write and leaves nothing behind', async () => {
    const { _id: ware } = await app.notes.insert({ stock: 0 });
    const order = app.newId();
    const writes = [
      { op: 'insert', collection: 'tasks', id: order, document: { title: 'order' } },
      { op: 'update', collection: 'notes', id: ware, changes: { stock: -1 }, where: { stock: { $gte: 1 } } },
    ] as const;
    const rejected = app.batch(writes);
    await expect(rejected).rejects.toBeInstanceOf(BasaltError);
    await expect(rejected).rejects.toMatchObject({
      ...{ status: 412, code: 'CONDITION_FAILED', data: { _id: ware, stock: 0 } },
      errors: [{ index: 1 }],
    });
    await expect(app.tasks.get(order)).rejects.toMatchObject({ code: 'DOCUMENT_NOT_FOUND' });
    await app.notes.update(ware, { stock: 1 });
    const { results } = await app.batch(writes);
    expect(results[0].document?._id).toBe(order);
  });

  test('rejects an undefined revision instead of writing without a condition', async () => {
    const { _id } = await app.notes.insert({ n: 1 });
    const [item] = (await app.notes.list({ where: { _id } })).items;
    const write = { op: 'update', collection: 'notes', id: _id, changes: { n: 2 }, rev: item?._rev } as const;
    await expect(app.batch([write])).rejects.toMatchObject({ status: 400, code: 'INVALID_BODY' });
    expect(await app.notes.get(_id)).toMatchObject({ n: 1, _rev: 1 });
    await expect(app.batch([{ ...write, rev: 7 }])).rejects.toMatchObject({ status: 412, code: 'REVISION_MISMATCH' });
    expect((await app.batch([{ ...write, rev: 1 }])).results[0].document).toMatchObject({ n: 2 });
  });

  test('is carried out once when its response is lost', async () => {
    const proxy = await losing();
    const { _id } = await app.notes.insert({ n: 0 });
    const { results } = await asServer(project, proxy.url).batch([
      { op: 'update', collection: 'notes', id: _id, changes: { $inc: { n: 1 } } },
      { op: 'insert', collection: 'notes', document: { of: _id } },
    ]);
    expect(results[0].document).toMatchObject({ n: 1 });
    expect(await app.notes.get(_id)).toMatchObject({ n: 1, _rev: 2 });
    expect(await app.notes.count({ where: { of: _id } })).toBe(1);
    await proxy.close();
  });

  test('writes as the signed-in user of an app, and throws TOKEN_MISSING without one', async () => {
    const page = asApp(project);
    const writes = [{ op: 'insert', collection: 'tasks', document: { title: 'mine' } }] as const;
    await expect(page.batch(writes)).rejects.toMatchObject({ status: 401, code: 'TOKEN_MISSING' });
    await page.auth.signup({ email: `batch-${project.id}@example.com`, password: 'correct horse', name: 'Lin' });
    const { _id: userId } = await page.auth.me();
    expect((await page.batch(writes)).results[0]).toMatchObject({ status: 201, document: { title: 'mine', userId } });
  });

  test('throws ABORTED when its signal aborts', async () => {
    const signal = AbortSignal.abort();
    const aborted = app.batch([{ op: 'insert', collection: 'notes', document: { aborted: true } }], { signal });
    await expect(aborted).rejects.toMatchObject({ code: 'ABORTED' });
    expect(await app.notes.count({ where: { aborted: true } })).toBe(0);
  });
});

describe('a batch of the client with each', () => {
  test('carries out every write on its own and returns the code of a rejected one', async () => {
    const { results, ...others } = await app.batch(
      [
        { op: 'insert', collection: 'tasks', document: { title: 'a' } },
        { op: 'check', collection: 'notes', id: app.newId() },
        { op: 'update', collection: 'tasks', id: { $id: 0 }, changes: { title: 'b' } },
      ],
      { each: true },
    );
    expect(others).toEqual({});
    expect(results[0]).toMatchObject({ status: 201, document: { title: 'a' } });
    expect(results[1]).toEqual({ status: 404, code: 'DOCUMENT_NOT_FOUND', message: expect.any(String) });
    expect(results[2].document?.title).toBe('b');
  });

  test('repeats a queue whose response never arrived, and carries out each write once', async () => {
    const { _id } = await app.notes.insert({ n: 0 });
    const key = `queue-${_id}`;
    const queue: QueuedWrite<Schema>[] = [
      { op: 'update', collection: 'notes', id: _id, changes: { $inc: { n: 1 } }, idempotencyKey: `${key}-1` },
      { op: 'insert', collection: 'notes', id: app.newId(), document: { of: _id }, idempotencyKey: `${key}-2` },
    ];
    const first = await app.batch(queue, { each: true });
    const again = await app.batch(queue, { each: true });
    expect(first.results.map(({ status }) => status)).toEqual([200, 201]);
    expect(again.results).toEqual(first.results);
    expect(await app.notes.get(_id)).toMatchObject({ n: 1, _rev: 2 });
    expect(await app.notes.count({ where: { of: _id } })).toBe(1);
  });
});
