import { beforeAll, describe, expect, test } from 'vitest';
import type { Answer } from '../../support/clients/client.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

/* The dashboard API saves, shows and checks the effects of a collection. */

const text = (key: string, more: object = {}) => ({ key, type: 'String', ...more });
const number = (key: string, more: object = {}) => ({ key, type: 'Number', ...more });

const schema = [
  text('title'),
  number('price', { min: 0, write: 'server' }),
  number('total'),
  { key: 'product', type: 'Ref', ref: 'products', write: 'create' },
  { key: 'author', type: 'Ref', ref: 'users', write: 'create' },
  { key: 'due', type: 'Date' },
  { key: 'dates', type: 'Array', items: { type: 'Date' } },
  { key: 'lines', type: 'Array', items: { type: 'Object', fields: [{ key: 'on', type: 'Date' }] } },
];
const copied = { on: 'create', set: { price: { $doc: 'product.price' } } };

let project: UsersProject;

const collections = <Body = Record<string, unknown>>(method: string, name = '', body?: object): Promise<Answer<Body>> =>
  project.developer.dashboard<Body>(method, `/api/projects/${project.id}/collections${name}`, body);

beforeAll(async () => {
  project = await newUsersProject();
  await project.addCollection({
    name: 'products',
    schema: [text('name'), number('price', { min: 0, write: 'server' }), number('weight')],
  });
});

test('times and texts are values of each type that JSON writes as a text', async () => {
  const made = { title: { $now: 0 }, due: { $concat: ['2026-01-0', '1'] }, total: null };
  const rls = { enabled: true, mode: 'public-read' };
  const effects = [{ on: 'create', set: made }];
  expect(await collections('POST', '', { name: 'timed', schema, rls, effects })).toMatchObject({ status: 201 });
  const { status, body } = await project.api('POST', '/api/data/timed', { body: {} });
  expect([status, body]).toMatchObject([
    201,
    { title: expect.stringMatching(/^\d{4}-.*Z$/) as unknown, due: '2026-01-01T00:00:00.000Z', total: null },
  ]);
});

test('a collection shows its effects as they were sent, an edit replaces them, and an empty list ends them', async () => {
  const rls = { enabled: true, mode: 'public-read' };
  const made = await collections('POST', '', { name: 'shown', schema, rls, effects: [copied] });
  expect(made).toMatchObject({ status: 201, body: { data: { effects: [copied] } } });
  expect(made.body).not.toHaveProperty('hints');
  expect((await collections('GET', '/shown')).body).toMatchObject({ data: { effects: [copied] } });
  expect((await collections('PUT', '/shown', { closed: true })).body).toMatchObject({ data: { effects: [copied] } });
  const other = { on: ['create', 'update'], where: { title: 'a' }, set: { total: 1 }, trusted: true };
  expect((await collections('PUT', '/shown', { effects: [other] })).body).toMatchObject({ data: { effects: [other] } });
  const ended = await collections<{ data: object }>('PUT', '/shown', { effects: [] });
  expect(ended.status).toBe(200);
  expect(ended.body.data).not.toHaveProperty('effects');
});

test('hints name a field that a publishable key may change later, and a Number without min', async () => {
  const rls = { enabled: true, mode: 'public-read' };
  const set = { total: { $add: [{ $doc: 'product.weight' }, { $doc: 'price' }] }, title: { $doc: 'title' } };
  const made = await collections<{ hints: readonly string[] }>('POST', '', {
    ...{ name: 'hinted', schema, rls },
    effects: [{ on: 'create', set }],
  });
  expect(made.status).toBe(201);
  expect(made.body.hints).toEqual([expect.stringMatching(/^effects\.0\.set\.total\.\$add\.0 .*without min/)]);
  const open = [...schema, text('note')];
  const edited = await collections<{ hints: readonly string[] }>('PUT', '/hinted', {
    schema: open,
    effects: [{ on: 'create', set: { title: { $doc: 'note' } } }],
  });
  expect(edited.body.hints).toEqual([expect.stringMatching(/^effects\.0\.set\.title .*publishable key may change/)]);
});

describe('400 INVALID_EFFECT', () => {
  const set = { total: 1 };
  const on = 'create';
  const collection = 'products';
  const id = { $doc: 'product' };
  const remove = { op: 'delete', collection, id };
  const update = (changes: object) => ({ op: 'update', collection, id, changes });
  const to = 'shop@example.com';
  const mail = { template: 'a', to };

  test.each<[string, unknown, string]>([
    ['a value that is no list', { on, set }, 'effects'],
    ['six effects', Array.from({ length: 6 }, () => ({ on, set })), 'effects'],
    ['too much JSON', [{ on, set: { title: 'x'.repeat(9000) } }], 'effects'],
    ['an effect that is no object', ['x'], 'effects.0'],
    ['an unknown member', [{ on, set, unless: true }], 'effects.0.unless'],
    ['at and on', [{ at: 'due', on, set }], 'effects.0.at'],
    ['at that is no text', [{ at: 5, set }], 'effects.0.at'],
    ['at an unknown field', [{ at: 'x', set }], 'effects.0.at'],
    ['at a field that is no Date', [{ at: 'title', set }], 'effects.0.at'],
    ['at a system field', [{ at: 'createdAt', set }], 'effects.0.at'],
    ['at dates of an array', [{ at: 'dates', set }], 'effects.0.at'],
    ['at a date inside of an array', [{ at: 'lines.on', set }], 'effects.0.at'],
    ['$stored in an effect at a time', [{ at: 'due', set: { total: { $stored: 'total' } } }], 'effects.0.set.total'],
    ['before in an effect at a time', [{ at: 'due', set, where: { before: { title: 'a' } } }], 'effects.0.where'],
    ['at without set, writes and mail', [{ at: 'due' }], 'effects.0.set'],
    ['a text for a Number', [{ on, set: { total: 'x' } }], 'effects.0.set.total'],
    ['a Number for a text', [{ on, set: { title: 5 } }], 'effects.0.set.title'],
    ['a computed Number for a text', [{ on, set: { title: { $add: [1, 2] } } }], 'effects.0.set.title'],
    ['a computed text for a Number', [{ on, set: { total: { $concat: ['a'] } } }], 'effects.0.set.total'],
    ['a time for a Number', [{ on, set: { total: { $now: 0 } } }], 'effects.0.set.total'],
    ['a list for a Number', [{ on, set: { total: [1] } }], 'effects.0.set.total'],
    ['an effect without on', [{ set }], 'effects.0.on'],
    ['an unknown event', [{ on: ['create', 'read'], set }], 'effects.0.on'],
    ['delete, after which nothing is set', [{ on: 'delete', set }], 'effects.0.on'],
    ['set in an effect of delete and create', [{ on: ['create', 'delete'], set, writes: [remove] }], 'effects.0.on'],
    ['an effect without set and writes', [{ on }], 'effects.0.set'],
    ['no write', [{ on, writes: [] }], 'effects.0.writes'],
    ['six writes', [{ on, writes: Array.from({ length: 6 }, () => remove) }], 'effects.0.writes'],
    ['a write that is no object', [{ on, writes: ['x'] }], 'effects.0.writes.0'],
    ['an unknown op', [{ on, writes: [remove, { ...remove, op: 'upsert' }] }], 'effects.0.writes.1.op'],
    ['an unknown member of a write', [{ on, writes: [{ ...remove, changes: {} }] }], 'effects.0.writes.0.changes'],
    ['a write without collection', [{ on, writes: [{ op: 'delete', id }] }], 'effects.0.writes.0.collection'],
    ['an unknown collection', [{ on, writes: [{ ...remove, collection: 'x' }] }], 'effects.0.writes.0.collection'],
    ['users as target', [{ on, writes: [{ ...remove, collection: 'users' }] }], 'effects.0.writes.0.collection'],
    ['a write without id', [{ on, writes: [{ op: 'delete', collection }] }], 'effects.0.writes.0.id'],
    ['an id that is a number', [{ on, writes: [{ ...remove, id: 5 }] }], 'effects.0.writes.0.id'],
    ['an id of an unknown field', [{ on, writes: [{ ...remove, id: { $doc: 'x' } }] }], 'effects.0.writes.0.id'],
    ['ifMatch that is no revision', [{ on, writes: [{ ...remove, ifMatch: 'x' }] }], 'effects.0.writes.0.ifMatch'],
    ['no changes', [{ on, writes: [update({})] }], 'effects.0.writes.0.changes'],
    ['changes of an unknown field', [{ on, writes: [update({ x: 1 })] }], 'effects.0.writes.0.changes.x'],
    ['changes of a system field', [{ on, writes: [update({ _id: 1 })] }], 'effects.0.writes.0.changes._id'],
    ['an unknown operator', [{ on, writes: [update({ $set: {} })] }], 'effects.0.writes.0.changes.$set'],
    [
      'an operator on an unknown field',
      [{ on, writes: [update({ $inc: { x: 1 } })] }],
      'effects.0.writes.0.changes.$inc.x',
    ],
    ['$unset that is no list', [{ on, writes: [update({ $unset: {} })] }], 'effects.0.writes.0.changes.$unset'],
    [
      'an unknown value in changes',
      [{ on, writes: [update({ $inc: { price: { $doc: 'x' } } })] }],
      'effects.0.writes.0.changes.$inc.price',
    ],
    ['an empty condition', [{ on, writes: [{ ...remove, where: {} }] }], 'effects.0.writes.0.where'],
    [
      'a condition on an unknown field',
      [{ on, writes: [{ ...remove, where: { x: 1 } }] }],
      'effects.0.writes.0.where.x',
    ],
    [
      'an unknown field in $and',
      [{ on, writes: [{ ...remove, where: { $and: [{ x: 1 }] } }] }],
      'effects.0.writes.0.where.$and.0.x',
    ],
    [
      'an unknown operator of a condition',
      [{ on, writes: [{ ...remove, where: { price: { $near: 1 } } }] }],
      'effects.0.writes.0.where.price.$near',
    ],
    [
      'a document with an unknown field',
      [{ on, writes: [{ op: 'insert', collection, document: { x: 1 } }] }],
      'effects.0.writes.0.document.x',
    ],
    [
      '$stored in a write of create',
      [{ on, writes: [update({ price: { $stored: 'price' } })] }],
      'effects.0.writes.0.changes.price',
    ],
    [
      'a text for a Number of a document to insert',
      [{ on, writes: [{ op: 'insert', collection, document: { weight: 'x' } }] }],
      'effects.0.writes.0.document.weight',
    ],
    ['a text for a Number to change', [{ on, writes: [update({ weight: 'x' })] }], 'effects.0.writes.0.changes.weight'],
    ['an empty set beside mail', [{ on, set: {}, mail }], 'effects.0.set'],
    ['a mail that is no object', [{ on, mail: 'x' }], 'effects.0.mail'],
    ['a mail without a template', [{ on, mail: { to } }], 'effects.0.mail.template'],
    ['an unknown member of a mail', [{ on, mail: { ...mail, cc: to } }], 'effects.0.mail.cc'],
    ['a mail to nobody', [{ on, mail: { template: 'a' } }], 'effects.0.mail.to'],
    ['a mail to no address', [{ on, mail: { template: 'a', to: 'x' } }], 'effects.0.mail.to'],
    ['a mail to two addresses', [{ on, mail: { template: 'a', to: [to, to] } }], 'effects.0.mail.to'],
    [
      'a mail to another field of the user',
      [{ on, mail: { template: 'a', to: { $user: 'name' } } }],
      'effects.0.mail.to',
    ],
    [
      'a mail to a user whose id no Ref has',
      [{ on, mail: { template: 'a', to: { $emailOf: 'product' } } }],
      'effects.0.mail.to.$emailOf',
    ],
    [
      'an address of the document that is not open',
      [{ on, mail: { template: 'a', to: { $doc: 'title' } } }],
      'effects.0.mail.to.open',
    ],
    [
      'an address in a field that does not exist',
      [{ on, mail: { template: 'a', to: { $doc: 'x', open: true } } }],
      'effects.0.mail.to.$doc',
    ],
    [
      'an address in a Number',
      [{ on, mail: { template: 'a', to: { $doc: 'price', open: true } } }],
      'effects.0.mail.to.$doc',
    ],
    ['an empty set', [{ on, set: {} }], 'effects.0.set'],
    ['trusted that is no Boolean', [{ on, set, trusted: 1 }], 'effects.0.trusted'],
    ['a system field', [{ on, set: { createdAt: { $now: 0 } } }], 'effects.0.set.createdAt'],
    ['an unknown field', [{ on, set: { prize: 1 } }], 'effects.0.set.prize'],
    ['a path', [{ on, set: { 'a.b': 1 } }], 'effects.0.set.a.b'],
    ['the owner field', [{ on, set: { userId: 'x' } }], 'effects.0.set.userId'],
    ['an unknown operator', [{ on, set: { total: { $power: [1, 2] } } }], 'effects.0.set.total.$power'],
    ['two operators', [{ on, set: { total: { $add: [1], $minus: 1 } } }], 'effects.0.set.total'],
    ['one operand of two', [{ on, set: { total: { $divide: [1] } } }], 'effects.0.set.total.$divide'],
    ['an empty list', [{ on, set: { total: { $add: [] } } }], 'effects.0.set.total.$add'],
    ['an unknown field of the document', [{ on, set: { total: { $doc: 'x' } } }], 'effects.0.set.total'],
    [
      'an unknown field behind a Ref',
      [{ on, set: { total: { $add: [{ $doc: 'product.x' }] } } }],
      'effects.0.set.total.$add.0',
    ],
    ['a hidden field', [{ on, set: { total: { $doc: '_rev' } } }], 'effects.0.set.total'],
    ['an email behind a Ref', [{ on, set: { title: { $doc: 'author.email' } } }], 'effects.0.set.title'],
    ['a password', [{ on, set: { title: { $user: 'password' } } }], 'effects.0.set.title'],
    ['an unknown field of the user', [{ on, set: { title: { $user: 'x' } } }], 'effects.0.set.title'],
    ['$stored on create', [{ on, set: { total: { $stored: 'total' } } }], 'effects.0.set.total'],
    ['$now with a text', [{ on, set: { title: { $now: 'x' } } }], 'effects.0.set.title'],
    ['a condition on an unknown field', [{ on, set, where: { x: 1 } }], 'effects.0.where.x'],
    ['an empty condition', [{ on, set, where: {} }], 'effects.0.where'],
    ['before and after on create', [{ on, set, where: { before: { title: 'a' } } }], 'effects.0.where'],
    [
      '$stored in a condition of create',
      [{ on, set, where: { title: { $stored: 'title' } } }],
      'effects.0.where.title',
    ],
  ])('for %s', async (_title, effects, field) => {
    const rls = { enabled: true, mode: 'public-read' };
    expect(await collections('POST', '', { name: 'wrong', schema, rls, effects })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_EFFECT', errors: [{ field }] },
    });
  });

  test('for effects of users, and in an edit', async () => {
    expect(await collections('PUT', '/users', { effects: [{ on, set: { name: 'a' } }] })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_EFFECT', errors: [{ field: 'effects' }] },
    });
    await project.addCollection({ name: 'edited', schema });
    expect(await collections('PUT', '/edited', { effects: [{ on, set: { none: 1 } }] })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_EFFECT', errors: [{ field: 'effects.0.set.none' }] },
    });
  });

  test('for a Ref into a collection that does not exist', async () => {
    const fields = [{ key: 'lost', type: 'Ref', ref: 'nowhere' }, text('title')];
    const effects = [{ on, set: { title: { $doc: 'lost.name' } } }];
    expect(await collections('POST', '', { name: 'lost', schema: fields, effects })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_EFFECT', errors: [{ field: 'effects.0.set.title' }] },
    });
  });
});

describe('409 SCHEMA_CONFLICT', () => {
  beforeAll(async () => {
    await project.addCollection({ name: 'sold', schema, effects: [copied] });
  });

  const conflict = (field: string) => ({ status: 409, body: { code: 'SCHEMA_CONFLICT', errors: [{ field }] } });

  test('for an edit that removes a field which an effect reads or sets', async () => {
    const without = (key: string) => schema.filter((field) => field.key !== key);
    expect(await collections('PUT', '/sold', { schema: without('price') })).toMatchObject(
      conflict('sold: effects.0.set.price'),
    );
    expect(await collections('PUT', '/products', { schema: [text('name')] })).toMatchObject(
      conflict('sold: effects.0.set.price'),
    );
  });

  test('for an edit or deletion that removes what an effect writes', async () => {
    await project.addCollection({ name: 'counts', schema: [number('n')] });
    const writes = [{ op: 'update', collection: 'counts', id: 'a'.repeat(24), changes: { $inc: { n: 1 } } }];
    const made = await collections('PUT', '/sold', { effects: [copied, { on: 'delete', writes }] });
    expect(made).toMatchObject({ status: 200, body: { data: { effects: [copied, { on: 'delete', writes }] } } });
    expect(await collections('PUT', '/counts', { schema: [text('m')] })).toMatchObject(
      conflict('sold: effects.1.writes.0.changes.$inc.n'),
    );
    expect(await collections('DELETE', '/counts')).toMatchObject(conflict('sold: effects.1.writes.0.collection'));
    await collections('PUT', '/sold', { effects: [copied] });
    expect(await collections('DELETE', '/counts')).toMatchObject({ status: 200 });
  });

  test('for the deletion of a collection that an effect reads, until the effects end', async () => {
    expect(await collections('DELETE', '/products')).toMatchObject(conflict('sold: effects.0.set.price'));
    for (const name of ['sold', 'hinted', 'shown']) await collections('PUT', `/${name}`, { effects: [] });
    expect(await collections('DELETE', '/products')).toMatchObject({ status: 200 });
  });
});

test('400 INVALID_EFFECT for an effect of updates that sets the partition, 200 for one of inserts', async () => {
  const team = text('team');
  const made = await collections('POST', '', { name: 'parted', schema: [team], changes: true, partition: 'team' });
  expect(made.status).toBe(201);
  const edit = (on: unknown) =>
    collections('PUT', '/parted', { effects: [{ on, set: { team: { $lower: { $doc: 'team' } } } }] });
  const field = 'effects.0.set.team';
  expect(await edit(['create', 'update'])).toMatchObject({
    status: 400,
    body: { code: 'INVALID_EFFECT', errors: [{ field }] },
  });
  expect(await edit('create')).toMatchObject({ status: 200 });
});

test('the audit trail names effects among the changed fields', async () => {
  const at = `/api/projects/${project.id}/audit`;
  interface Entry {
    readonly action: string;
    readonly target: { readonly collectionName?: string };
    readonly fields: readonly string[];
  }
  await collections('POST', '', { name: 'audited', schema });
  await collections('PUT', '/audited', { effects: [] });
  const { body } = await project.developer.dashboard<{ data: { items: readonly Entry[] } }>('GET', at);
  const found = body.data.items.find(({ target }) => target.collectionName === 'audited');
  expect(found).toMatchObject({ action: 'update-collection', fields: ['effects'] });
});
