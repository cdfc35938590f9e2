import { randomUUID } from 'node:crypto';
import { Collection, MongoNetworkError } from 'mongodb';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as createDocuments } from '../../../functions/data/create-documents.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import { type Answer, inParallel, tally } from '../../support/clients/client.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';

process.env.RATE_LIMIT = '1000000';
process.env.RATE_BLOCK = '1';

let project: TestProject;
let ada: string;
let alan: string;

const text = (key: string, more: object = {}) => ({ key, type: 'String', ...more });

beforeAll(async () => {
  project = await newProject([
    {
      name: 'products',
      schema: [
        text('sku', { unique: true }),
        text('code', { unique: true }),
        text('title', { required: true }),
        { key: 'stock', type: 'Number', min: 0 },
        text('batch'),
        { key: 'at', type: 'Date' },
      ],
      unique: [['batch', 'at']],
    },
    { name: 'names', schema: [text('name')], unique: [{ fields: ['name'], ignoreCase: true }] },
    { name: 'fed', schema: [text('sku', { unique: true })], changes: true },
    {
      name: 'ruled',
      schema: [text('code', { unique: true }), text('state'), text('locked', { write: 'server' })],
      rls: {
        enabled: true,
        mode: 'rules',
        ownerField: 'userId',
        rules: {
          read: { userId: { $user: '_id' } },
          create: { state: 'new' },
          update: { before: { locked: null }, after: true },
          delete: false,
        },
      },
    },
  ]);
  [ada, alan] = [await project.tokenFor('ada'), await project.tokenFor('alan')];
});
afterEach(() => {
  vi.restoreAllMocks();
});

interface Body {
  readonly data: { readonly ids: readonly string[]; readonly inserted: number; readonly updated: number };
  readonly code?: string;
  readonly errors?: readonly { readonly index: number; readonly field: string }[];
}

const upsert = (
  collection: string,
  onConflict: string,
  body: unknown,
  { token, headers }: { readonly token?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Answer<Body>> =>
  project.api('POST', `/api/data/${collection}/bulk?onConflict=${encodeURIComponent(onConflict)}`, {
    body,
    ...(token && { key: project.publishableKey, token }),
    ...(headers && { headers }),
  });

const stored = async (collection: string, filter: object) =>
  onProject(await domainProject(project), (db) => db.collection(collection).find(filter).sort({ _id: 1 }).toArray());

const failsAt = (status: number, code: string, index: number, field?: string) => ({
  status,
  body: { success: false, code, errors: [{ index, ...(field !== undefined && { field }) }] },
});

const skus = (count: number): string[] => Array.from({ length: count }, () => randomUUID());

describe('a bulk upsert', () => {
  test('200 with the ids in order, and the counts of inserts and updates', async () => {
    const [a = '', b = '', c = ''] = skus(3);
    const first = await upsert('products', 'sku', [
      { sku: a, title: 'A' },
      { sku: b, title: 'B' },
    ]);
    expect(first).toMatchObject({ status: 200, body: { success: true, data: { inserted: 2, updated: 0 } } });
    const second = await upsert('products', 'sku', [
      { sku: c, title: 'C' },
      { sku: b, title: 'B2', stock: 1 },
    ]);
    expect(second.body.data).toMatchObject({ inserted: 1, updated: 1 });
    expect(second.body.data.ids[1]).toBe(first.body.data.ids[1]);
    const found = await stored('products', { sku: { $in: [a, b, c] } });
    expect(found.map(({ title, _rev }) => [title, _rev])).toEqual([
      ['A', 1],
      ['B2', 2],
      ['C', 1],
    ]);
    expect(found.map(({ _id }) => _id.toHexString())).toEqual([...first.body.data.ids, second.body.data.ids[0]]);
  });

  test('200 for a unique list with a Date, and for names whose case differs', async () => {
    const batch = randomUUID();
    const at = '2026-01-31T00:00:00.000Z';
    const one = await upsert('products', 'batch,at', [{ batch, at, title: 'x', sku: randomUUID() }]);
    expect((await upsert('products', 'at,batch', [{ at: '2026-01-31', batch, stock: 2 }])).body.data).toEqual({
      ids: one.body.data.ids,
      inserted: 0,
      updated: 1,
    });
    const name = `n${randomUUID()}`;
    const named = await upsert('names', 'name', [{ name }]);
    expect((await upsert('names', 'name', [{ name: name.toUpperCase() }])).body.data.ids).toEqual(named.body.data.ids);
  });

  test('200 for an updated document, which can be updated again, deleted and found in the feed', async () => {
    const [sku = ''] = skus(1);
    const since = (await project.api<{ data: { next: string } }>('GET', '/api/data/fed/changes')).body.data.next;
    await upsert('fed', 'sku', [{ sku }]);
    const { ids } = (await upsert('fed', 'sku', [{ sku, note: 'x' }])).body.data;
    const path = `/api/data/fed/${ids[0]}`;
    const updated = await project.api('PATCH', path, { body: { note: 'y' } });
    expect([updated.status, updated.headers.get('etag')]).toEqual([200, '"3"']);
    const { changes } = (
      await project.api<{ data: { changes: readonly object[] } }>('GET', `/api/data/fed/changes?since=${since}`)
    ).body.data;
    expect(changes).toMatchObject([{ _id: ids[0], rev: 3, document: { note: 'y' } }]);
    expect((await project.api('DELETE', path)).status).toBe(200);
    expect((await upsert('fed', 'sku', [{ sku }])).body.data.inserted).toBe(1);
  });

  test('one of 50 concurrent calls with the same two values inserts, and the others update', async () => {
    const [a = '', b = ''] = skus(2);
    const answers = await inParallel(50, (n) =>
      upsert('products', 'sku', [
        { sku: a, title: `a${n}` },
        { sku: b, title: `b${n}` },
      ]),
    );
    expect(tally(answers)).toEqual({ 200: 50 });
    expect(answers.reduce((sum, { body }) => sum + body.data.inserted, 0)).toBe(2);
    expect(answers.reduce((sum, { body }) => sum + body.data.updated, 0)).toBe(98);
    expect((await stored('products', { sku: { $in: [a, b] } })).map(({ _rev }) => _rev)).toEqual([50, 50]);
  });

  test('400 VALIDATION_FAILED for the second item with the same value, and no document is stored', async () => {
    const [sku = '', other = ''] = skus(2);
    const again = [
      { sku: other, title: 'x' },
      { sku, title: 'x' },
      { sku, title: 'y' },
    ];
    expect(await upsert('products', 'sku', again)).toMatchObject(failsAt(400, 'VALIDATION_FAILED', 2, 'sku'));
    expect(await stored('products', { sku: { $in: [sku, other] } })).toEqual([]);
    const name = `n${sku}`;
    expect(await upsert('names', 'name', [{ name }, { name: name.toUpperCase() }])).toMatchObject(
      failsAt(400, 'VALIDATION_FAILED', 1, 'name'),
    );
  });

  test('400 for any item that is invalid as an insert or update, and no document is stored', async () => {
    const [known = '', sku = ''] = skus(2);
    await upsert('products', 'sku', [{ sku: known, title: 'x', stock: 1 }]);
    const valid = { sku: known, stock: 2 };
    for (const [wrong, code, field] of [
      [{ sku }, 'VALIDATION_FAILED', 'title'],
      [{ title: 'x' }, 'VALIDATION_FAILED', 'sku'],
      [{ sku, title: 'x', stock: -1 }, 'VALIDATION_FAILED', 'stock'],
      [{ sku, title: 'x', $set: {} }, 'INVALID_BODY', '$set'],
    ] as const) {
      expect(await upsert('products', 'sku', [valid, wrong])).toMatchObject(failsAt(400, code, 1, field));
    }
    expect(
      await upsert('products', 'sku', [
        { sku, title: 'x' },
        { sku: known, stock: -1 },
      ]),
    ).toMatchObject(failsAt(400, 'VALIDATION_FAILED', 1, 'stock'));
    expect(await stored('products', { sku: { $in: [known, sku] } })).toMatchObject([{ stock: 1, _rev: 1 }]);
  });

  test('400 INVALID_BODY for no item, 101 items and an object; 400 INVALID_QUERY for a field that is not unique', async () => {
    for (const body of [[], Array.from({ length: 101 }, (_, n) => ({ sku: `${n}`, title: 'x' })), {}]) {
      expect(await upsert('products', 'sku', body)).toMatchObject({ status: 400, body: { code: 'INVALID_BODY' } });
    }
    expect(await upsert('products', 'stock', [{ sku: 'x' }])).toMatchObject({
      status: 400,
      body: { code: 'INVALID_QUERY', errors: [{ field: 'onConflict' }] },
    });
  });

  test('409 DUPLICATE_VALUE with the index for another unique value, and no new document stays', async () => {
    const [taken = '', sku = '', code = ''] = skus(3);
    await upsert('products', 'sku', [{ sku: taken, title: 'x', code }]);
    const clash = failsAt(409, 'DUPLICATE_VALUE', 1, 'code');
    expect(
      await upsert('products', 'sku', [
        { sku, title: 'x' },
        { sku: `${sku}2`, title: 'y', code },
      ]),
    ).toMatchObject(clash);
    expect(await stored('products', { sku: { $regex: `^${sku}` } })).toEqual([]);
    await upsert('products', 'sku', [{ sku, title: 'x' }]);
    expect(
      await upsert('products', 'sku', [
        { sku: `${sku}3`, title: 'x' },
        { sku, code },
      ]),
    ).toMatchObject(clash);
    expect(await stored('products', { sku: { $regex: `^${sku}` } })).toMatchObject([{ sku, _rev: 1 }]);
  });

  test('409 IDEMPOTENCY_OUTCOME_UNKNOWN after a failure that may have written; otherwise a retry returns the first response', async () => {
    const [sku = '', other = ''] = skus(2);
    const headers = { 'idempotency-key': randomUUID() };
    const body = [{ sku, title: 'x' }];
    const first = await upsert('products', 'sku', body, { headers });
    expect(await upsert('products', 'sku', body, { headers })).toMatchObject({ status: 200, body: first.body });
    const cut = { 'idempotency-key': randomUUID() };
    const send = () =>
      invoke(createDocuments, {
        method: 'POST',
        key: project.secretKey,
        params: { collectionName: 'products' },
        query: 'onConflict=sku',
        body: [{ sku: other, title: 'x' }],
        headers: cut,
      });
    const insert = Collection.prototype.insertOne;
    vi.spyOn(Collection.prototype, 'insertOne').mockImplementationOnce(async function lost(this: Collection, doc) {
      await insert.call(this, doc);
      throw new MongoNetworkError('cut');
    });
    // Without transactions the request removes the document again, which fails too.
    vi.spyOn(Collection.prototype, 'deleteOne').mockRejectedValueOnce(new MongoNetworkError('cut'));
    expect((await send()).status).toBe(503);
    expect(await send()).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_OUTCOME_UNKNOWN' } });
    expect(await stored('products', { sku: other })).toHaveLength(1);
  });
});

describe('a bulk upsert under rules', () => {
  test('200 for own documents; 403 RULE_DENIED and FIELD_PROTECTED with the index, and no document is stored', async () => {
    const [a = '', b = ''] = skus(2);
    const put = (body: readonly object[], token = ada) => upsert('ruled', 'code', body, { token });
    expect((await put([{ code: a, state: 'new' }])).body.data.inserted).toBe(1);
    const own = { code: a, note: 'x' };
    expect(await put([own, { code: b, state: 'old' }])).toMatchObject(failsAt(403, 'RULE_DENIED', 1));
    expect(
      await put([
        { code: b, state: 'new' },
        { code: a, state: 'old' },
      ]),
    ).toMatchObject(failsAt(403, 'RULE_DENIED', 1));
    expect(await put([own, { code: b, state: 'new', locked: 'x' }])).toMatchObject(
      failsAt(403, 'FIELD_PROTECTED', 1, 'locked'),
    );
    expect(await put([{ code: a, locked: 'x' }])).toMatchObject(failsAt(403, 'FIELD_PROTECTED', 0, 'locked'));
    expect(await put([own, { code: b, state: 'new', userId: 'alan' }])).toMatchObject(failsAt(403, 'NOT_OWNER', 1));
    expect(await stored('ruled', { code: { $in: [a, b] } })).toMatchObject([{ code: a, _rev: 1 }]);
    expect((await put([own, { code: b, state: 'new' }])).body.data).toMatchObject({ inserted: 1, updated: 1 });
  });

  test('409 DUPLICATE_VALUE for another user’s document, and no new document stays', async () => {
    const [a = '', b = ''] = skus(2);
    await upsert('ruled', 'code', [{ code: a, state: 'new' }], { token: alan });
    const body = [
      { code: b, state: 'new' },
      { code: a, state: 'new' },
    ];
    expect(await upsert('ruled', 'code', body, { token: ada })).toMatchObject(
      failsAt(409, 'DUPLICATE_VALUE', 1, 'code'),
    );
    expect(await stored('ruled', { code: b })).toEqual([]);
  });

  test('401 TOKEN_MISSING without a user', async () => {
    const path = '/api/data/ruled/bulk?onConflict=code';
    const sent = { body: [{ code: 'x', state: 'new' }], key: project.publishableKey };
    expect(await project.api('POST', path, sent)).toMatchObject({ status: 401, body: { code: 'TOKEN_MISSING' } });
  });
});
