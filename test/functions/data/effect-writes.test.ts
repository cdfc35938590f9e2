import { beforeAll, describe, expect, test } from 'vitest';
import { runTransfer } from '../../../shared/transfers/run-transfer.ts';
import type { RequestOptions } from '../../support/clients/client.ts';
import { heldImport, idOf, recordOf } from '../../support/fixtures/transfers.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

/* Writes of effects: stock, counters and logs that follow a write of a document, all or none. */

const text = (key: string, more: object = {}) => ({ key, type: 'String', ...more });
const number = (key: string, more: object = {}) => ({ key, type: 'Number', ...more });
const ref = (key: string, target: string, more: object = {}) => ({ key, type: 'Ref', ref: target, ...more });
const doc = (path: string) => ({ $doc: path });
const rls = { enabled: true, mode: 'rules', rules: { read: true, create: { $user: {} }, update: { $user: {} } } };
const all = { ...rls, rules: { ...rls.rules, delete: { $user: {} }, recover: { $user: {} }, purge: { $user: {} } } };
const change = (collection: string, id: unknown, changes: object, more: object = {}) => ({
  ...{ op: 'update', collection, id, changes },
  ...more,
});

interface Doc extends Readonly<Record<string, unknown>> {
  readonly _id: string;
}

let project: UsersProject;
let ann: RequestOptions;

const api = <Body = Doc>(method: string, path: string, who: RequestOptions = {}, body?: unknown) =>
  project.api<Body>(method, `/api/data/${path}`, { ...who, ...(body === undefined ? {} : { body }) });

const stored = async (name: string, id: string): Promise<Doc> => (await api('GET', `${name}/${id}`)).body;
const add = async (name: string, document: object): Promise<string> => (await api('POST', name, {}, document)).body._id;
const batch = (writes: readonly object[], who: RequestOptions = ann) =>
  project.api<{ data: { results: readonly { document?: Doc }[] } }>('POST', '/api/batch', { ...who, body: { writes } });

const takesStock = {
  on: 'create',
  set: { total: { $multiply: [doc('product.price'), doc('quantity')] } },
  writes: [change('products', doc('product'), { $inc: { stock: { $minus: doc('quantity') } } })],
};
const givesStock = {
  on: 'delete',
  writes: [change('products', doc('product'), { $inc: { stock: doc('quantity') } })],
};
const movesStock = {
  on: 'update',
  writes: [
    change('products', doc('product'), {
      $inc: { stock: { $subtract: [{ $stored: 'quantity' }, doc('quantity')] } },
    }),
  ],
};

const orderSchema = [
  ref('product', 'products', { exists: true, required: true, write: 'create' }),
  number('quantity', { min: 1, integer: true, required: true }),
  number('total'),
  text('note'),
  text('code', { unique: true }),
];

beforeAll(async () => {
  project = await newUsersProject();
  ann = { key: project.publishableKey, token: (await project.newUser()).accessToken };
  await project.addCollection({
    name: 'products',
    schema: [
      text('name'),
      number('price', { min: 0 }),
      number('stock', { min: 0, write: 'server' }),
      number('edits'),
      number('margin', { min: 0, read: 'server' }),
    ],
    rls: { ...rls, rules: { read: true } },
  });
  await project.addCollection({ name: 'logs' });
  await project.addCollection({
    name: 'orders',
    schema: orderSchema,
    rls: all,
    effects: [takesStock, givesStock, movesStock],
  });
});

const product = (stock: number) => add('products', { name: 'Cup', price: 12.5, stock });
const stockOf = async (id: string) => (await stored('products', id)).stock;
const refused = (error: object, extra: object = {}) => ({
  status: 409,
  body: { code: 'EFFECT_REFUSED', errors: [error], ...extra },
});

describe('writes of create', () => {
  test('an insert decreases the stock, and its response is the document alone', async () => {
    const id = await product(5);
    const order = await api('POST', 'orders', ann, { product: id, quantity: 2 });
    expect(order).toMatchObject({ status: 201, body: { total: 25, quantity: 2 } });
    expect(await stockOf(id)).toBe(3);
    expect(await stored('orders', order.body._id)).toEqual(order.body);
  });

  test('409 EFFECT_REFUSED when a write is rejected, and nothing is stored', async () => {
    const id = await product(5);
    const answer = await api('POST', 'orders', ann, { product: id, quantity: 6, note: 'too many' });
    expect(answer).toMatchObject(
      refused({ index: 0, effect: 0, write: 0, field: 'stock', message: 'stock must be at least 0' }),
    );
    expect(await stockOf(id)).toBe(5);
    const left = await api<{ data: { total: number } }>('GET', `orders?product=${id}`);
    expect(left.body.data.total).toBe(0);
  });

  test('130 inserts in a row each take one piece, and one more is rejected while the product is in the trash', async () => {
    const id = await product(200);
    for (let sold = 0; sold < 130; sold += 1) {
      expect((await api('POST', 'orders', ann, { product: id, quantity: 1 })).status).toBe(201);
    }
    expect(await stored('products', id)).toMatchObject({ stock: 70, price: 12.5, name: 'Cup' });
    expect((await api('DELETE', `products/${id}`)).status).toBe(200);
    await project.addCollection({
      name: 'blind',
      schema: orderSchema.map((field) => (field.key === 'product' ? ref('product', 'products') : field)),
      rls: all,
      effects: [{ ...takesStock, set: { total: 1 } }],
    });
    expect(await api('POST', 'blind', {}, { product: id, quantity: 1 })).toMatchObject(refused({ write: 0 }));
    expect((await api('PATCH', `products/${id}/recover`)).status).toBe(200);
    expect((await api('POST', 'blind', {}, { product: id, quantity: 1 })).status).toBe(201);
    expect(await stockOf(id)).toBe(69);
  });

  test('a bulk insert, an own id, an upsert, a batch and the dashboard run them too', async () => {
    const id = await product(100);
    const order = (quantity: number, more: object = {}) => ({ product: id, quantity, ...more });
    expect((await api('POST', 'orders/bulk', ann, [order(1), order(2)])).status).toBe(201);
    expect(await stockOf(id)).toBe(97);
    const own = { ...ann, headers: { 'if-none-match': '*' } };
    expect((await api('PUT', `orders/6${id.slice(1)}`, own, order(3))).status).toBe(201);
    expect(await stockOf(id)).toBe(94);
    const code = `code ${id}`;
    expect((await api('POST', 'orders?onConflict=code', ann, order(4, { code }))).status).toBe(201);
    expect(await stockOf(id)).toBe(90);
    expect((await api('POST', 'orders?onConflict=code', ann, { quantity: 6, code, product: id })).status).toBe(200);
    expect(await stockOf(id)).toBe(88);
    const many = [order(1, { code }), order(2, { code: `${code} b` })];
    expect((await api('POST', 'orders/bulk?onConflict=code', ann, many)).status).toBe(200);
    expect(await stockOf(id)).toBe(91);
    const both = [1, 1].map((quantity) => ({ op: 'insert', collection: 'orders', document: order(quantity) }));
    expect((await batch(both)).status).toBe(200);
    expect(await stockOf(id)).toBe(89);
    const each = await project.api('POST', '/api/batch', { ...ann, body: { writes: both, each: true } });
    expect(each.status).toBe(200);
    expect(await stockOf(id)).toBe(87);
    const base = `/api/projects/${project.id}/collections/orders/documents`;
    expect((await project.developer.dashboard('POST', base, order(7))).status).toBe(201);
    expect(await stockOf(id)).toBe(80);
  });

  test('409 EFFECT_REFUSED in bulk names the index, and no document of it is stored', async () => {
    const id = await product(3);
    const bodies = [2, 1, 1].map((quantity) => ({ product: id, quantity }));
    expect(await api('POST', 'orders/bulk', ann, bodies)).toMatchObject(
      refused({ index: 2, effect: 0, write: 0, field: 'stock' }),
    );
    const upserts = bodies.map((body, index) => ({ ...body, code: `bulk ${id} ${index}` }));
    expect(await api('POST', 'orders/bulk?onConflict=code', ann, upserts)).toMatchObject(refused({ index: 2 }));
    const writes = bodies.map((document) => ({ op: 'insert', collection: 'orders', document }));
    expect(await batch(writes)).toMatchObject(refused({ index: 2, effect: 0, write: 0, field: 'stock' }));
    expect(await stockOf(id)).toBe(3);
    const left = await api<{ data: { total: number } }>('GET', `orders?product=${id}`);
    expect(left.body.data.total).toBe(0);
  });

  test('an import inserts without them', async () => {
    const id = await product(5);
    const held = await heldImport(project.id, 'orders', JSON.stringify({ product: id, quantity: 2 }));
    await runTransfer(idOf(held));
    expect(await recordOf(held)).toMatchObject({ inserted: 1, rejected: 0 });
    expect(await stockOf(id)).toBe(5);
    const left = await api<{ data: { items: readonly Doc[] } }>('GET', `orders?product=${id}`);
    expect(left.body.data.items).toMatchObject([{ total: 25 }]);
  });
});

describe('writes of update and delete', () => {
  const order = async (stock: number, quantity: number) => {
    const id = await product(stock);
    const made = await api('POST', 'orders', ann, { product: id, quantity });
    expect(made.status).toBe(201);
    return { id, order: made.body._id };
  };

  test('an update, one of many and one of the dashboard see the document before and after it', async () => {
    const { id, order: one } = await order(10, 2);
    expect((await api('PATCH', `orders/${one}`, ann, { quantity: 5 })).status).toBe(200);
    expect(await stockOf(id)).toBe(5);
    expect((await api('PATCH', `orders/${one}`, ann, { $inc: { quantity: -1 } })).status).toBe(200);
    expect(await stockOf(id)).toBe(6);
    const many = await api<{ data: object }>('PATCH', 'orders', ann, { where: { _id: one }, changes: { quantity: 1 } });
    expect(many.body.data).toMatchObject({ matched: 1, changed: 1, errors: [] });
    expect(await stockOf(id)).toBe(9);
    const at = `/api/projects/${project.id}/collections/orders/documents/${one}`;
    expect((await project.developer.dashboard('PUT', at, { quantity: 3 })).status).toBe(200);
    expect(await stockOf(id)).toBe(7);
  });

  test('409 EFFECT_REFUSED when a write of update is rejected, and the document stays as it was', async () => {
    const { id, order: one } = await order(3, 2);
    const before = await stored('orders', one);
    expect(await api('PATCH', `orders/${one}`, ann, { quantity: 4, note: 'x' })).toMatchObject(
      refused({ index: 0, effect: 2, write: 0, field: 'stock', message: 'stock must be at least 0' }),
    );
    const { updatedAt: _then, ...rest } = before;
    expect(await stored('orders', one)).toMatchObject(rest);
    expect(await stockOf(id)).toBe(1);
    const where = { _id: one };
    const many = await api<{ data: object }>('PATCH', 'orders', ann, { where, changes: { quantity: 9 } });
    expect(many.body.data).toMatchObject({ matched: 1, changed: 0, errors: [{ id: one, code: 'EFFECT_REFUSED' }] });
  });

  test('a move to the trash gives back once, and a recovery takes again', async () => {
    const { id, order: one } = await order(3, 2);
    expect((await api('DELETE', `orders/${one}`, ann)).status).toBe(200);
    expect(await stockOf(id)).toBe(3);
    expect((await api('PATCH', `orders/${one}/recover`, ann)).status).toBe(200);
    expect(await stockOf(id)).toBe(1);
    expect((await api('DELETE', `orders/${one}`, ann)).status).toBe(200);
    expect((await api('DELETE', `orders/${one}?permanent=true`, ann)).status).toBe(200);
    expect(await stockOf(id)).toBe(3);
  });

  test('409 EFFECT_REFUSED for a recovery when the stock is used up, and the document stays in the trash', async () => {
    const { id, order: one } = await order(3, 2);
    await api('DELETE', `orders/${one}`, ann);
    await api('PATCH', `products/${id}`, {}, { stock: 1 });
    expect(await api('PATCH', `orders/${one}/recover`, ann)).toMatchObject(refused({ effect: 0, field: 'stock' }));
    expect((await api('GET', `orders/${one}`, ann)).status).toBe(404);
    expect(await stockOf(id)).toBe(1);
  });

  test('a permanent deletion of an active document gives back once', async () => {
    const { id, order: one } = await order(3, 2);
    expect((await api('DELETE', `orders/${one}?permanent=true`, ann)).status).toBe(200);
    expect(await stockOf(id)).toBe(3);
    expect((await api('GET', `orders/${one}?include_deleted=true`)).status).toBe(404);
    const other = await order(3, 1);
    const at = `/api/projects/${project.id}/collections/orders/documents/${other.order}?permanent=true`;
    expect((await project.developer.dashboard('DELETE', at)).status).toBe(200);
    expect(await stockOf(other.id)).toBe(3);
  });

  test('deletions of many give back, emptying the trash does not', async () => {
    const { id, order: one } = await order(5, 2);
    const answer = await api<{ data: object }>('POST', 'orders/delete', ann, { where: { _id: one } });
    expect(answer.body.data).toMatchObject({ changed: 1 });
    expect(await stockOf(id)).toBe(5);
    const gone = await project.developer.dashboard(
      'DELETE',
      `/api/projects/${project.id}/collections/orders/trash/${one}`,
    );
    expect(gone.status).toBe(200);
    expect(await stockOf(id)).toBe(5);
  });
});

describe('the target of a write', () => {
  const writing = (name: string, writes: readonly object[], more: object = {}) =>
    project.addCollection({
      name,
      schema: [
        ref('to', 'secrets'),
        ref('product', 'products'),
        number('n'),
        text('tag'),
        { key: 'any', type: 'Object' },
      ],
      rls: all,
      effects: [{ on: 'create', writes, ...more }],
    });

  let secret: string;

  beforeAll(async () => {
    await project.addCollection({
      name: 'secrets',
      schema: [number('n', { max: 3 }), text('code', { unique: true }), { key: 'tags', type: 'Array' }],
      rls: { enabled: true, mode: 'rules', rules: {} },
      effects: [
        { on: ['create', 'update'], set: { code: { $concat: ['code ', doc('code')] } }, where: { code: 'new' } },
        { on: ['create', 'update'], writes: [{ op: 'insert', collection: 'logs', document: { of: 'secrets' } }] },
      ],
    });
    await writing('hiding', [change('secrets', doc('to'), { $inc: { n: doc('n') } })]);
    await writing('trusting', [change('secrets', doc('to'), { $inc: { n: doc('n') } })], { trusted: true });
    await writing('margins', [change('products', doc('product'), { $inc: { margin: doc('n') } })]);
    await writing('setting', [{ op: 'insert', collection: 'secrets', document: { code: doc('tag') } }], {
      trusted: true,
    });
    await writing('checking', [
      { op: 'check', collection: 'secrets', id: doc('to'), where: { n: { $gte: doc('n') } } },
      change('secrets', doc('to'), { $push: { tags: doc('any') } }, { where: { code: doc('tag') } }),
    ]);
    await writing('removing', [
      { op: 'delete', collection: 'secrets', id: doc('to'), where: { n: { $lt: doc('n') } } },
    ]);
    secret = await add('secrets', { n: 1, code: 'a' });
  });

  const hidden = { code: 'EFFECT_REFUSED', errors: [{ index: 0, effect: 0, write: 0 }] };

  test('409 EFFECT_REFUSED without field and message when the caller may not read it, missing or not', async () => {
    const answers = [await api('POST', 'hiding', ann, { to: secret, n: 1 })];
    answers.push(await api('POST', 'hiding', ann, { to: '1'.repeat(24), n: 1 }));
    for (const { status, body } of answers) {
      expect(status).toBe(409);
      const { requestId: _id, message, ...rest } = body;
      expect(rest).toMatchObject(hidden);
      expect(rest.errors).toEqual(hidden.errors);
      expect(message).toBe('An effect of the collection could not run.');
    }
    expect(await api('POST', 'hiding', {}, { to: secret, n: 1 })).toMatchObject({ status: 201 });
    expect(await stored('secrets', secret)).toMatchObject({ n: 2 });
  });

  test('201 for a trusted effect, whose rejection still shows neither field nor message', async () => {
    expect(await api('POST', 'trusting', ann, { to: secret, n: 1 })).toMatchObject({ status: 201 });
    const answer = await api('POST', 'trusting', ann, { to: secret, n: 1 });
    expect([answer.status, answer.body.errors]).toEqual([409, hidden.errors]);
    const server = await api('POST', 'trusting', {}, { to: secret, n: 1 });
    expect(server).toMatchObject(
      refused({ index: 0, effect: 0, write: 0, field: 'n', message: 'n must be at most 3' }),
    );
    expect(await stored('secrets', secret)).toMatchObject({ n: 3 });
  });

  test('201 for a field that the caller may not read, but its rejection names no field', async () => {
    const id = await add('products', { name: 'Pen', margin: 1 });
    expect((await api('POST', 'margins', ann, { product: id, n: 2 })).status).toBe(201);
    expect(await stored('products', id)).toMatchObject({ margin: 3 });
    const answer = await api('POST', 'margins', ann, { product: id, n: -4 });
    expect([answer.status, answer.body.errors]).toEqual([409, hidden.errors]);
  });

  test('runs only the set of the effects of the target', async () => {
    const logs = async () => (await api<{ data: { total: number } }>('GET', 'logs')).body.data.total;
    const before = await logs();
    expect((await api('POST', 'setting', ann, { tag: 'new' })).status).toBe(201);
    const found = await api<{ data: { items: readonly Doc[] } }>('GET', 'secrets?code=code new');
    expect(found.body.data.items).toHaveLength(1);
    expect(await logs()).toBe(before);
    await add('secrets', { code: 'logged' });
    expect(await logs()).toBe(before + 1);
  });

  test('a check and conditions decide, and their values come from the document', async () => {
    const id = await add('secrets', { n: 2, code: 'checked' });
    const post = (n: number, tag: string, any: object = { x: 1 }) =>
      api('POST', 'checking', {}, { to: id, n, tag, any });
    expect(await post(3, 'checked')).toMatchObject(refused({ effect: 0, write: 0 }));
    expect(await post(2, 'other')).toMatchObject(refused({ effect: 0, write: 1 }));
    expect((await post(2, 'checked')).status).toBe(201);
    expect(await stored('secrets', id)).toMatchObject({ tags: [{ x: 1 }] });
    expect(await api('POST', 'removing', {}, { to: id, n: 2 })).toMatchObject(refused({ write: 0 }));
    expect((await api('POST', 'removing', {}, { to: id, n: 3 })).status).toBe(201);
    expect((await api('GET', `secrets/${id}`)).status).toBe(404);
  });

  test('409 EFFECT_REFUSED when a value is missing, or would be read as an operator', async () => {
    const id = await add('secrets', { n: 2, code: 'plain' });
    const post = (body: object) => api('POST', 'checking', {}, { to: id, n: 1, tag: 'plain', ...body });
    expect(await post({ any: { $each: [1, 2] } })).toMatchObject(refused({ write: 1, field: 'any' }));
    expect(await post({ any: { x: 1 }, tag: null })).toMatchObject(refused({ write: 1 }));
    expect(await post({ to: null, any: {} })).toMatchObject(refused({ write: 0, field: 'to' }));
    expect(await stored('secrets', id)).not.toHaveProperty('tags');
    await project.addCollection({
      name: 'open',
      rls: all,
      effects: [{ on: 'create', writes: [{ op: 'delete', collection: 'secrets', id, where: { code: doc('code') } }] }],
    });
    expect(await api('POST', 'open', {}, { code: { $ne: 'x' } })).toMatchObject(refused({ field: 'code' }));
    expect((await api('GET', `secrets/${id}`)).status).toBe(200);
  });
});

test('100 attempts to forge stock or a counter change neither', async () => {
  await project.addCollection({
    name: 'posts',
    schema: [text('title'), number('comments', { min: 0, write: 'server', default: 0 })],
    rls: all,
  });
  const counted = (by: number) => [change('posts', doc('post'), { $inc: { comments: by } })];
  await project.addCollection({
    name: 'comments',
    schema: [ref('post', 'posts', { required: true, exists: true, write: 'create' }), text('body')],
    rls: all,
    effects: [
      { on: 'create', writes: counted(1) },
      { on: 'delete', writes: counted(-1) },
    ],
  });
  const post = (await api('POST', 'posts', ann, { title: 'One' })).body._id;
  const other = (await api('POST', 'posts', ann, { title: 'Two' })).body._id;
  const comment = (await api('POST', 'comments', ann, { post })).body._id;
  const id = await product(20);
  const amounts = [-1, 0, 1e9, '5', null, { $inc: 1 }, [1], true, -0.5, { $numberLong: '9' }];
  const update = (collection: string, at: string, changes: object) => () =>
    batch([{ op: 'update', collection, id: at, changes }]);
  const forms = (value: unknown): readonly (() => Promise<{ readonly status: number }>)[] => [
    () => api('PATCH', `products/${id}`, ann, { stock: value }),
    () => api('PATCH', `posts/${post}`, ann, { comments: value }),
    () => api('PATCH', `posts/${post}`, ann, { $inc: { comments: value } }),
    () => api('POST', 'posts/bulk', ann, [{ title: 'x', comments: value === null ? 1 : value }]),
    () => api('POST', 'posts', ann, { title: 'x', comments: value === null ? 1 : value }),
    update('posts', post, { $mul: { comments: value } }),
    update('products', id, { $inc: { stock: value } }),
    () => api('PATCH', `comments/${comment}`, ann, { post: other, body: value }),
    () => api('POST', 'orders', ann, { product: id, quantity: value === true ? -3 : value, stock: value }),
    () => api('PUT', `posts/${post}`, ann, { title: 'x', $unset: ['comments'], note: value }),
  ];
  const attempts = amounts.flatMap(forms);
  expect(attempts).toHaveLength(100);
  for (const [at, attempt] of attempts.entries()) {
    expect((await attempt()).status, String(at)).toBeGreaterThanOrEqual(400);
  }
  expect(await stockOf(id)).toBe(20);
  expect(await stored('posts', post)).toMatchObject({ comments: 1, title: 'One' });
  expect(await stored('posts', other)).toMatchObject({ comments: 0 });
  await Promise.all([1, 2, 3].map(() => api('DELETE', `comments/${comment}`, ann)));
  expect(await stored('posts', post)).toMatchObject({ comments: 0 });
});

describe('50 buyers of 20 pieces', () => {
  test('get 20 orders, 20 are sold and the totals are right', async () => {
    const id = await product(20);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => api('POST', 'orders', ann, { product: id, quantity: 1 })),
    );
    const codes = answers.map(({ status, body }) => [status, status === 201 ? body.total : body.code]);
    expect(codes.filter(([status]) => status === 201)).toEqual(Array.from({ length: 20 }, () => [201, 12.5]));
    expect(codes.filter(([status]) => status !== 201)).toEqual(
      Array.from({ length: 30 }, () => [409, 'EFFECT_REFUSED']),
    );
    expect(await stockOf(id)).toBe(0);
    const left = await api<{ data: { items: readonly Doc[] } }>('GET', `orders?product=${id}&limit=100`);
    expect(left.body.data.items.map(({ total }) => total)).toEqual(Array.from({ length: 20 }, () => 12.5));
  });
});
