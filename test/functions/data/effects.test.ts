import { beforeAll, describe, expect, test } from 'vitest';
import { runTransfer } from '../../../shared/transfers/run-transfer.ts';
import type { RequestOptions } from '../../support/clients/client.ts';
import { heldImport, idOf, recordOf } from '../../support/fixtures/transfers.ts';
import { newUsersProject, users as standardUsers, type UsersProject } from '../../support/fixtures/users.ts';

/* Effects of a collection set fields of documents that are written: prices, totals, names and dates. */

const text = (key: string, more: object = {}) => ({ key, type: 'String', ...more });
const number = (key: string, more: object = {}) => ({ key, type: 'Number', ...more });
const ref = (key: string, target: string, more: object = {}) => ({ key, type: 'Ref', ref: target, ...more });
const me = { $user: '_id' };
const doc = (path: string) => ({ $doc: path });
const anyone = { read: true, create: { $user: {} }, update: { $user: {} } };
const ruled = (rules: object = anyone) => ({ enabled: true, mode: 'rules', rules });

interface Doc extends Readonly<Record<string, unknown>> {
  readonly _id: string;
}

let project: UsersProject;
let ann: RequestOptions;
let annId: string;
let product: string;
let hidden: string;

const stranger = (): RequestOptions => ({ key: project.publishableKey });

const api = <Body = Doc>(method: string, path: string, who: RequestOptions = {}, body?: unknown) =>
  project.api<Body>(method, `/api/data/${path}`, { ...who, ...(body === undefined ? {} : { body }) });

const stored = async (name: string, id: string): Promise<Doc> => (await api('GET', `${name}/${id}`)).body;

const total = { $multiply: [doc('product.price'), doc('quantity')] };

const orders = {
  schema: [
    ref('product', 'products', { exists: true, required: true, write: 'create' }),
    number('quantity', { min: 1, integer: true, required: true, write: 'create' }),
    number('price', { required: true }),
    number('total', { max: 1000 }),
    text('name'),
    { key: 'at', type: 'Date' },
    text('status', { write: 'server', default: 'new' }),
    text('note'),
  ],
  rls: ruled({ ...anyone, create: { price: { $gte: 1 } } }),
  effects: [
    {
      on: 'create',
      set: {
        price: doc('product.price'),
        total,
        name: { $lower: { $concat: [doc('product.name'), ' x'] } },
        at: { $now: 0 },
      },
    },
  ],
};

beforeAll(async () => {
  project = await newUsersProject({
    collection: { name: 'users', schema: [...(standardUsers.schema ?? []), text('nick')] },
  });
  const signed = await project.newUser({ nick: 'Ann' });
  ann = { key: project.publishableKey, token: signed.accessToken };
  annId = signed.userId;
  await project.addCollection({
    name: 'products',
    schema: [text('name'), number('price', { min: 0 }), number('cost', { read: 'server' })],
    rls: { enabled: true, mode: 'public-read' },
  });
  await project.addCollection({ name: 'secrets', schema: [number('price')], rls: ruled({}) });
  await project.addCollection({ name: 'orders', ...orders });
  product = (await api('POST', 'products', {}, { name: 'Cup', price: 12.5, cost: 3 })).body._id;
  hidden = (await api('POST', 'secrets', {}, { price: 7 })).body._id;
});

describe('set on create', () => {
  test('201 with values of the referenced document, the schema and the rule seeing them', async () => {
    const order = await api('POST', 'orders', ann, { product, quantity: 2, note: 'hi' });
    expect(order).toMatchObject({
      status: 201,
      body: { price: 12.5, total: 25, name: 'cup x', status: 'new', note: 'hi' },
    });
    expect(Math.abs(Date.parse(String(order.body.at)) - Date.now())).toBeLessThan(60_000);
    expect(await stored('orders', order.body._id)).toEqual(order.body);
  });

  test('201 for the secret key, whose value is overwritten', async () => {
    const body = { product, quantity: 4, price: 1, total: 1, name: 'mine' };
    expect(await api('POST', 'orders', {}, body)).toMatchObject({
      status: 201,
      body: { price: 12.5, total: 50, name: 'cup x' },
    });
  });

  test('201 for a dashboard insert, a bulk insert and an id of the client', async () => {
    const base = `/api/projects/${project.id}/collections/orders/documents`;
    const made = await project.developer.dashboard('POST', base, { product, quantity: 3 });
    expect(made).toMatchObject({ status: 201, body: { data: { total: 37.5 } } });
    const bulk = await api<{ data: { ids: string[] } }>('POST', 'orders/bulk', ann, [
      { product, quantity: 1 },
      { product, quantity: 2 },
    ]);
    expect(bulk.status).toBe(201);
    const totals = await Promise.all(bulk.body.data.ids.map(async (id) => (await stored('orders', id)).total));
    expect(totals).toEqual([12.5, 25]);
    const id = `6${product.slice(1)}`;
    const put = await api(
      'PUT',
      `orders/${id}`,
      { ...ann, headers: { 'if-none-match': '*' } },
      { product, quantity: 2 },
    );
    expect(put).toMatchObject({ status: 201, body: { data: { _id: id, total: 25 } } });
  });

  test.each([
    ['price', { price: 1 }],
    ['total', { total: 25 }],
    ['name', { name: 'cup x' }],
    ['at', { at: null }],
  ])('403 FIELD_PROTECTED for a user who sends %s, before the effect could reject it', async (field, extra) => {
    const body = { product: '1'.repeat(24), quantity: 2, ...extra };
    expect(await api('POST', 'orders', ann, body)).toMatchObject({
      status: 403,
      body: { code: 'FIELD_PROTECTED', errors: [{ field }] },
    });
    expect(await api('POST', 'orders/bulk', ann, [{ product, quantity: 2 }, body])).toMatchObject({
      status: 403,
      body: { code: 'FIELD_PROTECTED', errors: [{ index: 1, field }] },
    });
  });

  test('400 VALIDATION_FAILED for a value that breaks the schema, whether it was sent or computed', async () => {
    const failed = (field: string) => ({ status: 400, body: { code: 'VALIDATION_FAILED', errors: [{ field }] } });
    expect(await api('POST', 'orders', ann, { product, quantity: 0.5 })).toMatchObject(failed('quantity'));
    expect(await api('POST', 'orders', ann, { product, quantity: '2' })).toMatchObject(failed('quantity'));
    expect(await api('POST', 'orders', ann, { product, quantity: 100 })).toMatchObject(failed('total'));
    expect(await api('POST', 'orders', ann, { product })).toMatchObject(failed('quantity'));
    const bulk = [
      { product, quantity: 1 },
      { product, quantity: 100 },
    ];
    expect(await api('POST', 'orders/bulk', ann, bulk)).toMatchObject({
      status: 400,
      body: { errors: [{ index: 1, field: 'total' }] },
    });
  });

  test('403 RULE_DENIED when the create rule rejects what the effect set', async () => {
    const free = (await api('POST', 'products', {}, { name: 'Free', price: 0 })).body._id;
    expect(await api('POST', 'orders', ann, { product: free, quantity: 1 })).toMatchObject({
      status: 403,
      body: { code: 'RULE_DENIED' },
    });
  });

  test('100 attempts to forge price or total store no order with another total', async () => {
    const amounts = [0, -1, 0.01, '1', null, 1e15, true, [1], { $inc: 1 }, { $numberDecimal: '1' }];
    const forms = [
      (value: unknown) => ({ price: value }),
      (value: unknown) => ({ total: value }),
      (value: unknown) => ({ price: value, total: value }),
      (value: unknown) => ({ 'price.x': value }),
      (value: unknown) => ({ $set: { total: value } }),
      (value: unknown) => ({ $inc: { total: value } }),
      (value: unknown) => ({ $max: { total: value } }),
      (value: unknown) => ({ $unset: ['total'], note: value }),
      (value: unknown) => ({ quantity: value, total: value }),
      (value: unknown) => ({ $mul: { price: value }, status: 'paid' }),
    ];
    const order = (await api('POST', 'orders', ann, { product, quantity: 2 })).body;
    const attempts = amounts.flatMap((value) => forms.map((form) => form(value)));
    expect(attempts).toHaveLength(100);
    for (const [index, forged] of attempts.entries()) {
      const isInsert = index % 2 === 0;
      const body = isInsert ? { product, quantity: 2, ...forged } : forged;
      const answer = await api(isInsert ? 'POST' : 'PATCH', isInsert ? 'orders' : `orders/${order._id}`, ann, body);
      expect(answer.status, JSON.stringify(body)).toBeGreaterThanOrEqual(400);
    }
    expect(await stored('orders', order._id)).toEqual(order);
    const all = await api<{ data: { items: readonly Doc[] } }>('GET', 'orders?limit=100');
    expect(all.body.data.items.length).toBeGreaterThan(5);
    expect(all.body.data.items.filter((each) => each.total !== Number(each.price) * Number(each.quantity))).toEqual([]);
  });

  test('an import sets fields of each line and reports lines whose effect cannot run', async () => {
    const lines = [
      { product, quantity: 2, total: 1 },
      { product: '1'.repeat(24), quantity: 1 },
      { product, quantity: 3 },
    ];
    const held = await heldImport(project.id, 'orders', lines.map((line) => JSON.stringify(line)).join('\n'));
    await runTransfer(idOf(held));
    expect(await recordOf(held)).toMatchObject({
      inserted: 2,
      rejected: 1,
      errors: [{ line: 2, field: 'product.price' }],
    });
  });
});

describe('409 EFFECT_REFUSED', () => {
  const refused = (field: string) => ({ status: 409, body: { code: 'EFFECT_REFUSED', errors: [{ field }] } });

  beforeAll(async () => {
    const schema = [
      ref('product', 'products'),
      ref('secret', 'secrets'),
      number('quantity'),
      number('out'),
      text('who'),
    ];
    const add = (name: string, set: object, more: object = {}) =>
      project.addCollection({ name, schema, rls: ruled(), effects: [{ on: 'create', set, ...more }] });
    await add('copies', { out: doc('product.price') });
    await add('costs', { out: doc('product.cost') });
    await add('trusting', { out: { $add: [doc('product.cost'), doc('secret.price')] } }, { trusted: true });
    await add('peeking', { out: doc('secret.price') });
    await add('divided', { out: { $divide: [1, doc('quantity')] } });
    await add('named', { who: { $user: 'nick' } });
    await add('guarded', { who: me }, { where: { $user: {} } });
  });

  test('for a Ref that is missing, leads nowhere or to the trash', async () => {
    expect(await api('POST', 'copies', ann, {})).toMatchObject(refused('product.price'));
    expect(await api('POST', 'copies', ann, { product: '1'.repeat(24) })).toMatchObject(refused('product.price'));
    const gone = (await api('POST', 'products', {}, { price: 1 })).body._id;
    await api('DELETE', `products/${gone}`);
    expect(await api('POST', 'copies', {}, { product: gone })).toMatchObject(refused('product.price'));
    const bulk = await api('POST', 'copies/bulk', ann, [{ product }, { product: gone }]);
    expect(bulk).toMatchObject({ status: 409, body: { errors: [{ index: 1, field: 'product.price' }] } });
  });

  test('for a document or field that the caller may not read, unless the effect is trusted or it is the server', async () => {
    expect(await api('POST', 'costs', ann, { product })).toMatchObject(refused('product.cost'));
    expect(await api('POST', 'costs', {}, { product })).toMatchObject({ status: 201, body: { out: 3 } });
    expect(await api('POST', 'peeking', ann, { secret: hidden })).toMatchObject(refused('secret.price'));
    const missing = await api('POST', 'peeking', ann, { secret: '1'.repeat(24) });
    const unreadable = await api('POST', 'peeking', ann, { secret: hidden });
    expect(missing.body).toMatchObject({ message: unreadable.body.message });
    expect(await api('POST', 'trusting', ann, { product, secret: hidden })).toMatchObject({
      status: 201,
      body: { out: 10 },
    });
  });

  test('for a division by zero', async () => {
    expect(await api('POST', 'divided', ann, { quantity: 0 })).toMatchObject(refused('effects.0.set.out'));
    expect(await api('POST', 'divided', ann, { quantity: 4 })).toMatchObject({ body: { out: 0.25 } });
  });

  test('for $user without a user, but not if the condition needs one', async () => {
    expect(await api('POST', 'named', {}, {})).toMatchObject(refused('$user.nick'));
    expect(await api('POST', 'named', ann, {})).toMatchObject({ status: 201, body: { who: 'Ann' } });
    const server = await api('POST', 'guarded', {}, {});
    expect([server.status, server.body.who]).toEqual([201, undefined]);
    expect(await api('POST', 'guarded', ann, {})).toMatchObject({ status: 201, body: { who: annId } });
    expect(await api('POST', 'guarded', ann, { who: annId })).toMatchObject({ status: 403 });
    expect(await api('POST', 'guarded', stranger(), {})).toMatchObject({ status: 401 });
  });

  test('400 VALIDATION_FAILED for a value of the wrong type and an overflow, not 409', async () => {
    const failed = (field: string) => ({ status: 400, body: { code: 'VALIDATION_FAILED', errors: [{ field }] } });
    expect(await api('POST', 'divided', ann, {})).toMatchObject(failed('quantity'));
    await project.addCollection({
      name: 'large',
      rls: ruled(),
      effects: [{ on: 'create', set: { out: { $multiply: [doc('a'), doc('a')] } } }],
    });
    expect(await api('POST', 'large', ann, { a: 2 ** 40 })).toMatchObject(failed('out'));
    expect(await api('POST', 'large', ann, { a: 'x' })).toMatchObject(failed('a'));
    expect(await api('POST', 'large', ann, { a: -3 })).toMatchObject({ status: 201, body: { out: 9 } });
  });
});

describe('set on update', () => {
  beforeAll(async () => {
    await project.addCollection({
      name: 'posts',
      schema: [
        text('title'),
        text('slug', { unique: true }),
        text('status', { default: 'draft' }),
        number('edits'),
        number('likes', { min: 0 }),
        { key: 'publishedAt', type: 'Date' },
      ],
      rls: ruled(),
      effects: [
        {
          on: ['create', 'update'],
          set: { slug: { $lower: doc('title') }, edits: { $add: [{ $stored: 'edits' }, 1] } },
        },
        {
          on: 'update',
          where: { before: { status: 'draft' }, after: { status: 'live' } },
          set: { publishedAt: { $now: 0 } },
        },
      ],
    });
  });

  const post = async (title: string): Promise<Doc> => (await api('POST', 'posts', ann, { title })).body;

  test('200 with values of the new and of the stored document', async () => {
    const made = await post('Hello');
    expect(made).toMatchObject({ slug: 'hello', edits: 1 });
    const changed = await api('PATCH', `posts/${made._id}`, ann, { title: 'Hello B', likes: 1 });
    expect(changed).toMatchObject({ status: 200, body: { data: { slug: 'hello b', edits: 2, likes: 1 } } });
    const counted = await api('PATCH', `posts/${made._id}`, ann, { $inc: { likes: 2 } });
    expect(counted).toMatchObject({ status: 200, body: { data: { slug: 'hello b', edits: 3, likes: 3 } } });
    expect(await stored('posts', made._id)).toMatchObject({ slug: 'hello b', edits: 3, likes: 3 });
  });

  test('200 for the server, whose values and operators on such a field are overwritten', async () => {
    const made = await post('Server');
    const changed = await api('PATCH', `posts/${made._id}`, {}, { slug: 'mine', $inc: { edits: 40 } });
    expect(changed).toMatchObject({ status: 200, body: { data: { slug: 'server', edits: 2 } } });
  });

  test('200 with publishedAt only when the transition of before and after holds', async () => {
    const made = await post('Publish');
    const change = async (body: object) =>
      (await api<{ data: Doc }>('PATCH', `posts/${made._id}`, ann, body)).body.data;
    expect((await change({ likes: 1 })).publishedAt).toBeUndefined();
    const live = await change({ status: 'live' });
    expect(live.publishedAt).toEqual(expect.any(String));
    expect((await change({ likes: 2 })).publishedAt).toBe(live.publishedAt);
  });

  test.each([
    [{ slug: 'x' }],
    [{ $inc: { edits: 1 } }],
    [{ $unset: ['publishedAt'] }],
    [{ publishedAt: '2026-01-01T00:00:00Z' }],
  ])('403 FIELD_PROTECTED for %j by a user with any condition', async (body) => {
    const made = await post(`Protected ${JSON.stringify(body).length}`);
    expect(await api('PATCH', `posts/${made._id}`, ann, body)).toMatchObject({
      status: 403,
      body: { code: 'FIELD_PROTECTED' },
    });
    expect(await stored('posts', made._id)).toEqual(made);
  });

  test('200 for a user who sends the stored value back', async () => {
    const made = await post('Back');
    expect(await api('PATCH', `posts/${made._id}`, ann, { ...made, likes: 5 })).toMatchObject({
      status: 200,
      body: { data: { slug: 'back', edits: 2, likes: 5 } },
    });
  });

  test('409 DUPLICATE_VALUE when the computed value is taken', async () => {
    const made = await post('One');
    await post('Two');
    expect(await api('PATCH', `posts/${made._id}`, ann, { title: 'TWO' })).toMatchObject({
      status: 409,
      body: { code: 'DUPLICATE_VALUE', errors: [{ field: 'slug' }] },
    });
  });

  test('200 for a write of many documents, each with its own values', async () => {
    const made = await Promise.all(['Many a', 'Many b'].map(post));
    const where = { _id: { $in: made.map(({ _id }) => _id) } };
    const answer = await api<{ data: object }>('PATCH', 'posts', ann, { where, changes: { likes: 7 } });
    expect(answer.body.data).toMatchObject({ changed: 2 });
    const after = await Promise.all(made.map(({ _id }) => stored('posts', _id)));
    expect(after.map(({ slug, edits }) => [slug, edits])).toEqual([
      ['many a', 2],
      ['many b', 2],
    ]);
  });

  test('every one of 50 concurrent updates counts', async () => {
    const made = await post('Busy');
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => api('PATCH', `posts/${made._id}`, ann, { $inc: { likes: 1 } })),
    );
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(await stored('posts', made._id)).toMatchObject({ likes: 50, edits: 51 });
  });
});

describe('upserts', () => {
  beforeAll(async () => {
    await project.addCollection({
      name: 'carts',
      schema: [text('code', { unique: true }), text('slug', { unique: true }), number('count'), number('twice')],
      rls: ruled(),
      effects: [
        {
          on: ['create', 'update'],
          set: { twice: { $multiply: [2, doc('count')] }, slug: { $concat: ['s-', doc('code')] } },
        },
      ],
    });
  });

  test('201 and 200 with the computed values, one and many', async () => {
    const put = (body: object) => api('POST', 'carts?onConflict=code', ann, body);
    expect(await put({ code: 'a', count: 1 })).toMatchObject({ status: 201, body: { twice: 2, slug: 's-a' } });
    expect(await put({ code: 'a', count: 5 })).toMatchObject({ status: 200, body: { twice: 10, slug: 's-a' } });
    const bulk = await api<{ data: { ids: string[] } }>('POST', 'carts/bulk?onConflict=code', ann, [
      { code: 'a', count: 6 },
      { code: 'b', count: 7 },
    ]);
    expect(bulk).toMatchObject({ status: 200, body: { data: { inserted: 1, updated: 1 } } });
    const twice = await Promise.all(bulk.body.data.ids.map(async (id) => (await stored('carts', id)).twice));
    expect(twice).toEqual([12, 14]);
  });

  test('403 FIELD_PROTECTED and 400 INVALID_QUERY for a field that an effect sets', async () => {
    expect(await api('POST', 'carts?onConflict=code', ann, { code: 'c', count: 1, twice: 9 })).toMatchObject({
      status: 403,
      body: { code: 'FIELD_PROTECTED' },
    });
    expect(await api('POST', 'carts?onConflict=slug', {}, { slug: 's-a', count: 1 })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_QUERY' },
    });
  });
});

describe('what describes the collection', () => {
  test('TypeScript types of a publishable key leave fields of effects out of inserts', async () => {
    const types = await project.api<string>('GET', '/api/types.ts', { key: project.publishableKey });
    const source = String(types.body);
    const at = source.indexOf("'orders': {");
    const insert = source.slice(source.indexOf('insert:', at), source.indexOf('update:', at));
    expect(insert).toContain('quantity');
    expect(insert).not.toContain('total');
  });

  test('the trial of a rule sees what effects set, and names a protected field', async () => {
    const at = `/api/projects/${project.id}/collections/orders/rules/try`;
    const trial = (document: object) =>
      project.developer.dashboard('POST', at, { operation: 'create', userId: annId, document });
    expect(await trial({ product, quantity: 1 })).toMatchObject({ status: 200, body: { data: { allowed: true } } });
    expect(await trial({ product, quantity: 1, price: 5 })).toMatchObject({
      status: 200,
      body: { data: { allowed: false, status: 403, code: 'FIELD_PROTECTED' } },
    });
  });
});
