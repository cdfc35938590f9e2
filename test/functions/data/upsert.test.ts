import { randomUUID } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { onProject } from '../../../shared/persistence/mongo.ts';
import { type Answer, inParallel, tally } from '../../support/clients/client.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';

let project: TestProject;
let ada: string;
let alan: string;

const owned = (mode: string) => ({ enabled: true, mode, ownerField: 'userId' });
const text = (key: string, more: object = {}) => ({ key, type: 'String', ...more });

beforeAll(async () => {
  project = await newProject([
    {
      name: 'products',
      schema: [
        text('sku', { unique: true }),
        text('title', { required: true }),
        text('color', { default: 'red' }),
        { key: 'stock', type: 'Number', min: 0 },
        text('plain'),
      ],
    },
    {
      name: 'seats',
      schema: [text('row'), { key: 'seat', type: 'Number' }, text('guest'), text('zone', { default: 'a' })],
      unique: [
        ['row', 'seat'],
        ['zone', 'guest'],
      ],
    },
    { name: 'names', schema: [text('name')], unique: [{ fields: ['name'], ignoreCase: true, keepTrashed: true }] },
    {
      name: 'devices',
      schema: [text('clientId'), text('label'), text('secret', { unique: true, read: 'server' })],
      unique: [['userId', 'clientId']],
      rls: owned('public-read'),
    },
    { name: 'settings', schema: [text('theme')], unique: [['userId']], rls: owned('private') },
    { name: 'slugs', schema: [text('slug', { unique: true, uniquePer: 'owner' }), text('n')], rls: owned('private') },
    { name: 'codes', schema: [text('code', { unique: true }), text('note')], rls: owned('private') },
    {
      name: 'ruled',
      schema: [
        text('code', { unique: true }),
        text('state'),
        text('note'),
        text('origin', { write: 'create' }),
        text('locked', { write: 'server' }),
      ],
      rls: {
        enabled: true,
        mode: 'rules',
        ownerField: 'userId',
        rules: {
          read: { userId: { $user: '_id' } },
          create: { state: { $in: ['new', 'open'] } },
          update: { before: { state: { $ne: 'closed' } }, after: { note: { $ne: 'forbidden' } } },
          delete: false,
        },
      },
    },
  ]);
  [ada, alan] = [await project.tokenFor('ada'), await project.tokenFor('alan')];
});

type Doc = Readonly<Record<string, unknown>> & { readonly _id: string };

const upsert = (
  collection: string,
  onConflict: string,
  body: object,
  { token, headers }: { readonly token?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Answer<Doc>> =>
  project.api('POST', `/api/data/${collection}?onConflict=${encodeURIComponent(onConflict)}`, {
    body,
    ...(token && { key: project.publishableKey, token }),
    ...(headers && { headers }),
  });

const stored = async (collection: string, filter: object) =>
  onProject(await domainProject(project), (db) => db.collection(collection).find(filter).toArray());

const failsWith = (status: number, code: string, field?: string) => ({
  status,
  body: { success: false, code, ...(field !== undefined && { errors: [{ field }] }) },
});

describe('an upsert', () => {
  test('201 for a new value and 200 for the same one, each with the document and its ETag', async () => {
    const sku = randomUUID();
    const first = await upsert('products', 'sku', { sku, title: 'Cup', stock: 3 });
    expect([first.status, first.headers.get('etag')]).toEqual([201, '"1"']);
    expect(first.body).toMatchObject({ sku, title: 'Cup', stock: 3, color: 'red', isDeleted: false });
    const second = await upsert('products', 'sku', { sku, title: 'Mug' });
    expect([second.status, second.headers.get('etag')]).toEqual([200, '"2"']);
    expect(second.body).toEqual({ ...first.body, title: 'Mug', updatedAt: second.body.updatedAt });
    expect(await stored('products', { sku })).toHaveLength(1);
  });

  test('200 without defaults and required fields', async () => {
    const sku = randomUUID();
    await upsert('products', 'sku', { sku, title: 'Cup', color: 'blue' });
    const again = await upsert('products', 'sku', { sku, stock: 1 });
    expect(again).toMatchObject({ status: 200, body: { title: 'Cup', color: 'blue', stock: 1 } });
  });

  test('one of 50 concurrent calls with one value gets 201, and 49 get 200', async () => {
    const sku = randomUUID();
    const answers = await inParallel(50, (n) => upsert('products', 'sku', { sku, title: `${n}` }));
    expect(tally(answers)).toEqual({ 200: 49, 201: 1 });
    const [{ _rev } = { _rev: 0 }, ...others] = await stored('products', { sku });
    expect([others.length, _rev, new Set(answers.map(({ body }) => body._id)).size]).toEqual([0, 50, 1]);
  });

  test('5 of 50 concurrent calls with 5 values get 201', async () => {
    const mark = randomUUID();
    const answers = await inParallel(50, (n) => upsert('products', 'sku', { sku: `${mark} ${n % 5}`, title: `${n}` }));
    expect(tally(answers)).toEqual({ 200: 45, 201: 5 });
  });

  test('no upsert is lost or changes another value when 50 run while the document is renamed', async () => {
    const sku = randomUUID();
    const { body } = await upsert('products', 'sku', { sku, title: 'first' });
    const answers = await inParallel(50, (n) =>
      n % 2
        ? project.api<Doc>('PATCH', `/api/data/products/${body._id}`, { body: { sku: `${sku}-${n}` } })
        : upsert('products', 'sku', { sku, title: 'upserted' }),
    );
    expect(answers.filter(({ status }) => status >= 300 && status !== 409)).toEqual([]);
    const found = await stored('products', { sku: { $regex: `^${sku}` } });
    expect(found.filter((each) => each.sku === sku).length).toBeLessThanOrEqual(1);
    expect(found.length).toBeLessThanOrEqual(2);
  });

  test('a trashed document frees its value, unless its entry keeps it: then 409 DUPLICATE_VALUE', async () => {
    const sku = randomUUID();
    const { body } = await upsert('products', 'sku', { sku, title: 'Cup' });
    await project.api('DELETE', `/api/data/products/${body._id}`);
    const again = await upsert('products', 'sku', { sku, title: 'Cup' });
    expect(again.status).toBe(201);
    expect(again.body._id).not.toBe(body._id);
    const name = randomUUID();
    const kept = await upsert('names', 'name', { name });
    await project.api('DELETE', `/api/data/names/${kept.body._id}`);
    expect(await upsert('names', 'name', { name })).toMatchObject(failsWith(409, 'DUPLICATE_VALUE', 'name'));
  });

  test('values that ignoreCase makes equal match', async () => {
    const name = `n${randomUUID()}`;
    const first = await upsert('names', 'name', { name });
    const again = await upsert('names', 'name', { name: name.toUpperCase() });
    expect(again).toMatchObject({ status: 200, body: { _id: first.body._id, name: name.toUpperCase() } });
    const answers = await inParallel(50, (n) =>
      upsert('names', 'name', { name: n % 2 ? `${name}-x` : `${name}-x`.toUpperCase() }),
    );
    expect(tally(answers)).toEqual({ 200: 49, 201: 1 });
  });

  test('a unique list is named in any order and needs one value; a missing one counts as missing, or as its default', async () => {
    const row = randomUUID();
    const one = await upsert('seats', 'row,seat', { row, seat: 1 });
    expect(await upsert('seats', 'seat,row', { row, seat: 1, guest: 'Ann' })).toMatchObject({
      status: 200,
      body: { _id: one.body._id, guest: 'Ann' },
    });
    const none = await upsert('seats', 'row,seat', { row });
    expect([none.status, (await upsert('seats', 'row,seat', { row, seat: null })).status]).toEqual([201, 200]);
    const guest = randomUUID();
    const made = await upsert('seats', 'zone,guest', { guest });
    expect(await upsert('seats', 'zone,guest', { guest, row: guest })).toMatchObject({
      status: 200,
      body: { _id: made.body._id, zone: 'a' },
    });
  });

  test('400 INVALID_QUERY for a field or list that is not unique', async () => {
    for (const onConflict of ['plain', '', 'sku,title', 'sku,sku', 'nothing', '_id', 'title', ' sku', 'row']) {
      expect(await upsert('products', onConflict, { sku: 'x', title: 'x' }), onConflict).toMatchObject(
        failsWith(400, 'INVALID_QUERY', 'onConflict'),
      );
    }
    expect(await upsert('seats', 'row', { row: 'x' })).toMatchObject(failsWith(400, 'INVALID_QUERY'));
  });

  test('400 VALIDATION_FAILED for a body without the value, or with an invalid one', async () => {
    for (const body of [{ title: 'x' }, { sku: null, title: 'x' }, { sku: 5, title: 'x' }]) {
      expect(await upsert('products', 'sku', body)).toMatchObject(failsWith(400, 'VALIDATION_FAILED', 'sku'));
    }
    expect(await upsert('seats', 'row,seat', { guest: 'x' })).toMatchObject(failsWith(400, 'VALIDATION_FAILED', 'row'));
  });

  test('400 when an insert, or an update, would be rejected', async () => {
    const sku = randomUUID();
    const title = failsWith(400, 'VALIDATION_FAILED', 'title');
    expect(await upsert('products', 'sku', { sku })).toMatchObject(title);
    await upsert('products', 'sku', { sku, title: 'Cup' });
    expect(await upsert('products', 'sku', { sku, title: null })).toMatchObject(title);
    expect(await upsert('products', 'sku', { sku, stock: -1 })).toMatchObject(
      failsWith(400, 'VALIDATION_FAILED', 'stock'),
    );
    expect(await upsert('products', 'sku', { sku, $inc: { stock: 1 } })).toMatchObject(failsWith(400, 'INVALID_BODY'));
    expect(await upsert('products', 'sku', { sku, 'a.b': 1 })).toMatchObject(failsWith(400, 'INVALID_BODY'));
    expect(await upsert('products', 'sku', [] as object)).toMatchObject(failsWith(400, 'INVALID_BODY'));
  });

  test('409 DUPLICATE_VALUE when another unique value is taken', async () => {
    const [row, guest] = [randomUUID(), randomUUID()];
    await upsert('seats', 'zone,guest', { guest });
    expect(await upsert('seats', 'row,seat', { row, guest })).toMatchObject(
      failsWith(409, 'DUPLICATE_VALUE', 'zone, guest'),
    );
    await upsert('seats', 'row,seat', { row });
    expect(await upsert('seats', 'row,seat', { row, guest })).toMatchObject(
      failsWith(409, 'DUPLICATE_VALUE', 'zone, guest'),
    );
  });

  test('retries with a key return the first response', async () => {
    const sku = randomUUID();
    const headers = { 'idempotency-key': randomUUID() };
    const first = await upsert('products', 'sku', { sku, title: 'Cup' }, { headers });
    const again = await upsert('products', 'sku', { sku, title: 'Cup' }, { headers });
    expect([first.status, again.status, again.body]).toEqual([201, 201, first.body]);
    expect((await stored('products', { sku }))[0]?._rev).toBe(1);
    expect(await project.api('POST', '/api/data/products', { body: { sku, title: 'Cup' }, headers })).toMatchObject(
      failsWith(409, 'IDEMPOTENCY_KEY_REUSED'),
    );
  });
});

describe('an upsert under row security', () => {
  test('sets the caller as owner, and values are unique per owner', async () => {
    const clientId = randomUUID();
    const first = await upsert('devices', 'userId,clientId', { clientId }, { token: ada });
    expect(first).toMatchObject({ status: 201, body: { userId: 'ada' } });
    expect(await upsert('devices', 'clientId,userId', { clientId, label: 'x' }, { token: ada })).toMatchObject({
      status: 200,
      body: { _id: first.body._id, label: 'x' },
    });
    expect((await upsert('devices', 'userId,clientId', { clientId }, { token: alan })).status).toBe(201);
    expect(await upsert('devices', 'userId,clientId', { clientId, userId: 'ada' }, { token: ada })).toMatchObject({
      status: 200,
    });
  });

  test('400 VALIDATION_FAILED for the secret key without an owner', async () => {
    const clientId = randomUUID();
    expect(await upsert('devices', 'userId,clientId', { clientId })).toMatchObject(
      failsWith(400, 'VALIDATION_FAILED', 'userId'),
    );
    expect((await upsert('devices', 'userId,clientId', { clientId, userId: 'ada' })).status).toBe(201);
    expect((await upsert('devices', 'userId,clientId', { clientId }, { token: ada })).status).toBe(200);
    expect(await upsert('settings', 'userId', {})).toMatchObject(failsWith(400, 'VALIDATION_FAILED', 'userId'));
  });

  test('an owner alone selects the document, with an empty body', async () => {
    const grace = await project.tokenFor(`grace-${randomUUID()}`);
    expect((await upsert('settings', 'userId', {}, { token: grace })).status).toBe(201);
    expect(await upsert('settings', 'userId', {}, { token: grace })).toMatchObject({ status: 200 });
    expect(await upsert('settings', 'userId', { theme: 'dark' }, { token: grace })).toMatchObject({
      status: 200,
      body: { theme: 'dark' },
    });
  });

  test('the query names a field that is unique per owner with or without the owner', async () => {
    const slug = randomUUID();
    expect((await upsert('slugs', 'slug', { slug }, { token: ada })).status).toBe(201);
    expect((await upsert('slugs', 'slug,userId', { slug, n: 'x' }, { token: ada })).status).toBe(200);
    expect((await upsert('slugs', 'slug', { slug }, { token: alan })).status).toBe(201);
    expect(await stored('slugs', { slug })).toHaveLength(2);
  });

  test('403 NOT_OWNER for another owner in the body, and for another user’s readable document', async () => {
    const clientId = randomUUID();
    const notOwner = failsWith(403, 'NOT_OWNER');
    expect(await upsert('devices', 'userId,clientId', { clientId, userId: 'alan' }, { token: ada })).toMatchObject(
      notOwner,
    );
    const open = await newProject([
      { name: 'open', schema: [text('code', { unique: true })], rls: owned('public-read') },
    ]);
    const send = async (user: string) =>
      open.api('POST', '/api/data/open?onConflict=code', {
        body: { code: 'x' },
        key: open.publishableKey,
        token: await open.tokenFor(user),
      });
    expect((await send('ada')).status).toBe(201);
    expect(await send('alan')).toMatchObject(notOwner);
  });

  test('409 DUPLICATE_VALUE for another user’s unreadable document, as for an insert', async () => {
    const code = randomUUID();
    await upsert('codes', 'code', { code, note: 'mine' }, { token: ada });
    const body = { code, note: 'theirs' };
    const clash = await upsert('codes', 'code', body, { token: alan });
    expect(clash).toMatchObject(failsWith(409, 'DUPLICATE_VALUE', 'code'));
    const { requestId: _one, ...said } = clash.body as Record<string, unknown>;
    const inserted = await project.api('POST', '/api/data/codes', { body, key: project.publishableKey, token: alan });
    expect(inserted).toMatchObject({ status: 409, body: said });
    expect(await stored('codes', { code })).toMatchObject([{ note: 'mine' }]);
  });

  test('401 without a user, 403 RLS_REQUIRED without row security', async () => {
    const key = project.publishableKey;
    const sent = { body: { clientId: 'x' }, key };
    expect(await project.api('POST', '/api/data/devices?onConflict=userId,clientId', sent)).toMatchObject(
      failsWith(401, 'TOKEN_MISSING'),
    );
    expect(await project.api('POST', '/api/data/products?onConflict=sku', { ...sent, token: ada })).toMatchObject(
      failsWith(403, 'RLS_REQUIRED'),
    );
  });

  test('400 INVALID_QUERY for a field that the caller may not read; the secret key may use it', async () => {
    const secret = randomUUID();
    expect(await upsert('devices', 'secret', { secret }, { token: ada })).toMatchObject(
      failsWith(400, 'INVALID_QUERY', 'onConflict'),
    );
    expect((await upsert('devices', 'secret', { secret, userId: 'ada' })).status).toBe(201);
    expect((await upsert('devices', 'secret', { secret })).status).toBe(200);
  });
});

describe('an upsert under rules', () => {
  const put = (body: object, token = ada) => upsert('ruled', 'code', body, { token });
  const denied = (rule: string) => ({
    status: 403,
    body: { code: 'RULE_DENIED', message: expect.stringContaining(`"${rule}"`) as string },
  });

  test('403 RULE_DENIED for an insert when create, or update.after, does not allow it', async () => {
    const code = randomUUID();
    expect(await put({ code, state: 'other' })).toMatchObject(denied('create'));
    expect(await put({ code, state: 'new', note: 'forbidden' })).toMatchObject(denied('update'));
    expect(await stored('ruled', { code })).toEqual([]);
    expect((await put({ code, state: 'new' })).status).toBe(201);
  });

  test('403 RULE_DENIED for an update when update, or create, does not allow the result', async () => {
    const code = randomUUID();
    await put({ code, state: 'new' });
    expect(await put({ code, note: 'forbidden' })).toMatchObject(denied('update'));
    expect(await put({ code, state: 'other' })).toMatchObject(denied('create'));
    // The stored result keeps its state.
    expect(await put({ code, note: 'fine' })).toMatchObject({ status: 200, body: { state: 'new', note: 'fine' } });
    await project.api('PATCH', `/api/data/ruled/${(await stored('ruled', { code }))[0]?._id}`, {
      body: { state: 'closed' },
    });
    expect(await put({ code, state: 'open' })).toMatchObject(denied('update'));
  });

  test('409 DUPLICATE_VALUE for another user’s document', async () => {
    const code = randomUUID();
    await put({ code, state: 'new' }, alan);
    expect(await put({ code, state: 'new' })).toMatchObject(failsWith(409, 'DUPLICATE_VALUE', 'code'));
    // When create denies the document, the error does not reveal the value.
    expect(await put({ code, state: 'other' })).toMatchObject(denied('create'));
  });

  test('403 FIELD_PROTECTED for protected fields, depending on whether it inserts or updates', async () => {
    const code = randomUUID();
    const refused = failsWith(403, 'FIELD_PROTECTED');
    expect(await put({ code, state: 'new', locked: 'x' })).toMatchObject(refused);
    expect((await put({ code, state: 'new', origin: 'web' })).status).toBe(201);
    expect(await put({ code, origin: 'app' })).toMatchObject(refused);
    expect(await put({ code, locked: 'x' })).toMatchObject(refused);
    expect((await put({ code, origin: 'web' })).status).toBe(200);
  });

  test('one of 50 concurrent calls gets 201, and 49 get 200', async () => {
    const code = randomUUID();
    const answers = await inParallel(50, (n) => put({ code, state: 'new', note: `${n}` }));
    expect(tally(answers)).toEqual({ 200: 49, 201: 1 });
    expect(await stored('ruled', { code })).toHaveLength(1);
  });
});

test('documents with ids of another program are not updated: 409 DUPLICATE_VALUE', async () => {
  const sku = randomUUID();
  await onProject(await domainProject(project), (db) =>
    db
      .collection<{ _id: string; sku: string; deletedAt: null }>('products')
      .insertOne({ _id: 'own', sku, deletedAt: null }),
  );
  expect(await upsert('products', 'sku', { sku, title: 'x' })).toMatchObject(failsWith(409, 'DUPLICATE_VALUE'));
  expect(ObjectId.isValid('own')).toBe(false);
});
