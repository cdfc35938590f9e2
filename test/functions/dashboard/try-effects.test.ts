import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { handler as tryEffects } from '../../../functions/dashboard/collections/try-effects.ts';
import { mailLogs } from '../../../shared/mail/log.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import type { Answer } from '../../support/clients/client.ts';
import { eventually } from '../../support/clients/eventually.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { changeStoredUsers, domainProject } from '../../support/fixtures/stored-users.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

/* A dry run shows what effects would do, with the computations of real writes, and changes nothing. */

listenToCommands();

const number = (key: string, more: object = {}) => ({ key, type: 'Number', ...more });
const text = (key: string, more: object = {}) => ({ key, type: 'String', ...more });
const rls = { enabled: true, mode: 'private' };
const product = { key: 'product', type: 'Ref', ref: 'products', required: true, write: 'create' };
const stock = (change: unknown) => ({
  op: 'update',
  collection: 'products',
  id: { $doc: 'product' },
  changes: { $inc: { stock: change } },
});
const quantity = { $doc: 'quantity' };
const effects = [
  { on: 'create', set: { total: { $multiply: [{ $doc: 'product.price' }, quantity] } } },
  { on: 'create', where: { quantity: { $gt: 1 } }, writes: [stock({ $minus: quantity })] },
  { on: 'create', mail: { template: 'order-confirmation', to: { $user: 'email' } } },
  { on: 'update', set: { edits: { $add: [{ $stored: 'edits' }, 1] } } },
  {
    on: 'delete',
    writes: [stock(quantity), { op: 'insert', collection: 'log', document: { order: quantity } }],
    mail: { template: 'order-confirmation', to: { $user: 'email' } },
  },
];
/** Each writes a value that must be unique, or deletes the document that has it. */
const label = (value: unknown) => ({ op: 'insert', collection: 'labels', document: { name: value } });
const named = { $doc: 'note' };

interface Tried {
  readonly refused?: { readonly status: number; readonly code: string; readonly message: string };
  readonly effects: readonly (Readonly<Record<string, unknown>> & { readonly state: string })[];
}

let project: UsersProject;
let cup: string;
let order: string;
let buyer: { readonly userId: string; readonly email: string };

const attempt = (body: object, collection = 'orders'): Promise<Answer<{ data: Tried; code?: string }>> =>
  project.developer.dashboard('POST', `/api/projects/${project.id}/collections/${collection}/effects/try`, body);

const tried = async (body: object, collection?: string): Promise<Tried> => {
  const answer = await attempt(body, collection);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data;
};

/** All documents of the project and its mail log. */
const everything = async (): Promise<unknown> => {
  const found = await domainProject(project);
  const names = ['products', 'orders', 'log', 'users'];
  return {
    documents: await Promise.all(names.map((name) => onProject(found, (db) => db.collection(name).find().toArray()))),
    mails: await mailLogs.find({ projectId: new ObjectId(project.id) }, { limit: 100 }),
  };
};

beforeAll(async () => {
  project = await newUsersProject();
  await project.addCollection({
    name: 'products',
    schema: [number('price', { min: 0 }), number('stock', { min: 0, integer: true })],
  });
  await project.addCollection({ name: 'log', schema: [number('order')] });
  await project.addCollection({
    name: 'labels',
    schema: [text('name', { unique: true }), text('shop'), text('code')],
    unique: [{ fields: ['shop', 'code'], ignoreCase: true }],
  });
  await project.addCollection({
    name: 'orders',
    rls,
    schema: [product, number('quantity', { min: 1 }), number('total', { max: 100 }), number('edits'), text('note')],
    effects,
  });
  buyer = await project.newUser();
  await changeStoredUsers(project, { email: buyer.email }, { emailVerified: true });
  const make = async (name: string, body: object) =>
    (await project.api<{ _id: string }>('POST', `/api/data/${name}`, { body })).body._id;
  cup = await make('products', { price: 10, stock: 5 });
  // As server, so that no email is pending for a user.
  order = await make('orders', { product: cup, quantity: 2, note: 'first' });
});

const bought = (count: number) => ({
  operation: 'create',
  userId: buyer.userId,
  document: { product: cup, quantity: count },
});

describe('a dry run', () => {
  test('of an insert shows fields, writes, emails and the effects that do not run', async () => {
    const { refused, effects: found } = await tried(bought(3));
    expect(refused).toBeUndefined();
    const mail = { template: 'order-confirmation', hasTemplate: false, to: buyer.email };
    expect(found).toMatchObject([
      { at: 'effects.0', state: 'runs', set: [{ field: 'total', after: 30 }], writes: [], mails: [] },
      {
        at: 'effects.1',
        state: 'runs',
        writes: [{ op: 'update', collection: 'products', id: cup, fields: [{ field: 'stock', before: 3, after: 0 }] }],
      },
      { at: 'effects.2', state: 'runs', mails: [mail] },
      { at: 'effects.3', state: 'otherWrite', set: [] },
      { at: 'effects.4', state: 'otherWrite', writes: [] },
    ]);
    expect((await tried(bought(1))).effects[1]).toMatchObject({ state: 'skipped', writes: [] });
  });

  test('of an existing document inserts its fields again, updates it and deletes it', async () => {
    const created = await tried({ operation: 'create', documentId: order });
    expect(created.effects[0]).toMatchObject({ state: 'runs', set: [{ field: 'total', after: 20 }] });
    expect(created.effects[2]).toMatchObject({
      mails: [{ reason: 'There is no address: the field is empty, or there is no user' }],
    });
    for (const changes of [undefined, {}, { note: 'second' }]) {
      const { effects: found } = await tried({ operation: 'update', documentId: order, changes });
      expect(found.map(({ state }) => state)).toEqual([
        ...['otherWrite', 'otherWrite', 'otherWrite', 'runs', 'otherWrite'],
      ]);
      expect(found[3]).toMatchObject({ set: [{ field: 'edits', after: 1 }] });
    }
    const { effects: deleted } = await tried({ operation: 'delete', documentId: order });
    expect(deleted[4]).toMatchObject({
      state: 'runs',
      writes: [
        { op: 'update', collection: 'products', fields: [{ field: 'stock', before: 3, after: 5 }] },
        { op: 'insert', collection: 'log', fields: [{ field: 'order', after: 2 }] },
      ],
      mails: [{ template: 'order-confirmation', reason: expect.stringContaining('is no address') }],
    });
    const onlyMail = [{ on: 'delete', where: { quantity: 2 }, mail: { template: 'x', to: 'shop@example.org' } }];
    const trial = { operation: 'delete', documentId: order };
    expect((await tried({ ...trial, effects: onlyMail })).effects).toMatchObject([
      { state: 'runs', mails: [{ template: 'x', hasTemplate: false, to: 'shop@example.org' }] },
    ]);
    const [other] = (await tried({ ...trial, effects: [{ ...onlyMail[0], where: { quantity: 3 } }] })).effects;
    expect(other).toMatchObject({ state: 'skipped', mails: [] });
  });

  test('shows what would reject the write, at its effect and its write', async () => {
    const short = await tried(bought(4));
    expect(short.refused).toEqual({ status: 409, code: 'EFFECT_REFUSED', message: 'stock must be at least 0' });
    expect(short.effects[1]).toMatchObject({
      state: 'refused',
      writes: [{ op: 'update', collection: 'products', fields: [], refused: short.refused }],
    });
    expect(short.effects[2]).toMatchObject({ state: 'runs' });
    const unknown = { operation: 'create', document: { product: 'a'.repeat(24), quantity: 2 } };
    const lost = await tried(unknown);
    expect(lost.refused).toMatchObject({ status: 409, code: 'EFFECT_REFUSED' });
    expect(lost.effects.slice(0, 2)).toMatchObject([
      { state: 'refused', refused: { message: expect.stringContaining('product.price leads to no document') } },
      { state: 'notReached' },
    ]);
    const many = await tried(bought(11));
    expect(many.refused).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
    expect(many.effects[0]).toMatchObject({ state: 'runs', set: [{ field: 'total', after: 110 }] });
    const forged = await tried({ ...bought(2), document: { product: cup, quantity: 2, total: 1 } });
    expect(forged.refused).toMatchObject({ status: 403, code: 'FIELD_PROTECTED' });
    const stranger = await tried({ operation: 'update', documentId: order, userId: buyer.userId });
    expect(stranger.refused).toMatchObject({ status: 403, code: 'NOT_OWNER' });
  });

  test('reports unique values that another document has, or that an earlier write has stored', async () => {
    const free = { shop: 'North', code: 'A' };
    const { body } = await project.api<{ _id: string }>('POST', '/api/data/labels', { body: { name: 'one', ...free } });
    const { refused: none } = await tried({ ...bought(2), effects: [{ on: 'create', writes: [label('two')] }] });
    expect(none).toBeUndefined();
    const gone = { op: 'delete', collection: 'labels', id: body._id };
    const freed = await tried({ ...bought(2), effects: [{ on: 'create', writes: [gone, label('one')] }] });
    expect(freed.refused).toBeUndefined();
    const twice = [label(named), label(named)];
    const lists = ['north', 'NORTH'].map((shop) => ({
      ...label('list'),
      document: { name: shop, shop, code: 'a' },
    }));
    const clashes: readonly [readonly object[], string][] = [
      [[label('one')], 'name already exists'],
      [twice, 'name already exists'],
      [lists.slice(0, 1), 'shop, code already exist together'],
      [[gone, ...lists], 'shop, code already exist together'],
    ];
    for (const [writes, message] of clashes) {
      const { refused, effects: found } = await tried({
        ...bought(2),
        document: { product: cup, quantity: 2, note: 'new' },
        effects: [{ on: 'create', writes }],
      });
      expect(refused).toEqual({ status: 409, code: 'EFFECT_REFUSED', message });
      expect(found[0]).toMatchObject({ state: 'refused' });
      const last = (found[0]?.writes as readonly object[] | undefined)?.at(-1);
      expect(last).toMatchObject({ op: 'insert', collection: 'labels', refused });
    }
    const of = (trial: object) => tried(trial, 'labels');
    const own = { status: 409, code: 'DUPLICATE_VALUE', message: 'name already exists; its value must be unique.' };
    expect((await of({ operation: 'create', document: { name: 'one' } })).refused).toEqual(own);
    expect((await of({ operation: 'create', documentId: body._id })).refused).toBeUndefined();
    expect((await of({ operation: 'update', documentId: body._id })).refused).toBeUndefined();
    const other = (await project.api<{ _id: string }>('POST', '/api/data/labels', { body: { name: 'two' } })).body._id;
    const changes = { shop: 'NORTH', code: 'a' };
    expect((await of({ operation: 'update', documentId: other, changes })).refused).toEqual({
      ...own,
      message: 'Another document has the same values of shop, code; together they must be unique.',
    });
    const real = await project.api('PATCH', `/api/data/labels/${other}`, { body: changes });
    expect(real).toMatchObject({ status: 409, body: { errors: [{ message: 'shop, code already exist together' }] } });
  });

  test('decides by rules that look up other documents', async () => {
    const rules = { read: true, create: false, update: { $ref: { product: { stock: { $gte: 1 } } } } };
    await project.addCollection({
      name: 'ruled',
      rls: { enabled: true, mode: 'rules', rules },
      schema: [{ key: 'product', type: 'Ref', ref: 'products' }, text('note'), text('title')],
      effects: [{ on: 'update', set: { note: 'seen' } }],
    });
    const made = async (stockLeft: number) => {
      const product = await project.api<{ _id: string }>('POST', '/api/data/products', { body: { stock: stockLeft } });
      const body = { product: product.body._id };
      return (await project.api<{ _id: string }>('POST', '/api/data/ruled', { body })).body._id;
    };
    const trial = { operation: 'update', userId: buyer.userId, changes: { title: 'x' } };
    const [some, none] = [await made(1), await made(0)];
    expect((await tried({ ...trial, documentId: some }, 'ruled')).refused).toBeUndefined();
    expect((await tried({ ...trial, documentId: none }, 'ruled')).refused).toMatchObject({ code: 'RULE_DENIED' });
  });

  test('uses unsaved effects if the body has some', async () => {
    const draft = [{ on: 'create', set: { note: { $concat: ['Order of ', { $doc: 'product.price' }] } } }];
    const wrong = await tried({ ...bought(2), effects: draft });
    expect(wrong.refused).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
    expect(wrong.effects).toMatchObject([{ at: 'effects.0', state: 'refused' }]);
    const right = [{ on: 'create', set: { note: 'x'.repeat(3000) } }];
    expect((await tried({ ...bought(2), effects: right })).effects).toEqual([
      { at: 'effects.0', state: 'runs', set: [{ field: 'note', isLong: true }], writes: [], mails: [] },
    ]);
    expect((await tried({ ...bought(2), effects: [] })).effects).toEqual([]);
  });

  test('shows what the real write then stores', async () => {
    const { effects: found } = await tried({
      ...bought(2),
      document: { product: cup, quantity: 2, userId: buyer.userId },
    });
    const body = { product: cup, quantity: 2 };
    const made = await project.api('POST', '/api/data/orders', { body });
    expect(found[0]).toMatchObject({ set: [{ field: 'total', after: made.body.total }] });
    const { stock: left } = (await project.api('GET', `/api/data/products/${cup}`)).body;
    expect(found[1]).toMatchObject({ writes: [{ fields: [{ field: 'stock', after: left }] }] });
    await project.api('DELETE', `/api/data/orders/${made.body._id}`);
  });

  test('changes no document, no email and no counter of the project', async () => {
    const before = await eventually(async () => {
      const found = await everything();
      // The emails of earlier writes are queued.
      expect(JSON.stringify(found)).not.toContain('"kind":"user"');
      return found;
    });
    const writes = [
      ...[bought(3), bought(4), { operation: 'create', documentId: order }],
      { operation: 'update', documentId: order, changes: { note: 'x', quantity: 1 } },
      { operation: 'delete', documentId: order },
    ];
    const params = { projectId: project.id, collectionName: 'orders' };
    const { token } = project.developer;
    const run = (body: object) => invoke(tryEffects, { method: 'POST', params, token, body });
    for (const body of writes) expect(await run(body)).toMatchObject({ status: 200 });
    const commands = await commandsOf(async () => {
      for (const body of writes) expect(await run(body)).toMatchObject({ status: 200 });
    });
    // The rate limit counts the requests of the developer.
    const counted = commands.filter((command) => command === 'dynamodb UpdateItemCommand');
    expect(counted.length).toBeLessThanOrEqual(writes.length);
    const reads = ['mongodb find', 'mongodb aggregate', 'dynamodb GetItemCommand', 'dynamodb UpdateItemCommand'];
    expect([...new Set(commands)].filter((command) => !reads.includes(command))).toEqual([]);
    expect(await everything()).toEqual(before);
  });
});

describe('400', () => {
  test.each<[string, object, string]>([
    ['INVALID_ID when an update names no document', { operation: 'update' }, 'INVALID_ID'],
    ['INVALID_ID when the id is malformed', { operation: 'delete', documentId: 'x' }, 'INVALID_ID'],
    [
      'INVALID_EFFECT when unsaved effects do not fit',
      { effects: [{ on: 'create', set: { x: 1 } }] },
      'INVALID_EFFECT',
    ],
    ['INVALID_EFFECT when effects are no list', { effects: {} }, 'INVALID_EFFECT'],
    ['VALIDATION_FAILED when the operation is not known', { operation: 'read' }, 'VALIDATION_FAILED'],
  ])('%s', async (_title, body, code) => {
    expect(await attempt({ operation: 'create', ...body })).toMatchObject({ status: 400, body: { code } });
  });
});

test('404 DOCUMENT_NOT_FOUND when the document does not exist', async () => {
  expect(await attempt({ operation: 'delete', documentId: 'f'.repeat(24) })).toMatchObject({
    status: 404,
    body: { code: 'DOCUMENT_NOT_FOUND' },
  });
});

test('403 USERS_RESERVED when the collection is users', async () => {
  expect(await attempt({ operation: 'create' }, 'users')).toMatchObject({
    status: 403,
    body: { code: 'USERS_RESERVED' },
  });
});
