import { beforeAll, describe, expect, test } from 'vitest';
import type { RequestOptions } from '../../support/clients/client.ts';
import { newUsersProject, users as standardUsers, type UsersProject } from '../../support/fixtures/users.ts';

/*
 * Field read rights apply to every response with documents, and to everything that filters, sorts or computes with
 * fields.
 */

const text = (key: string, more: object = {}) => ({ key, type: 'String', ...more });
const object = (key: string, fields: readonly object[], more: object = {}) => ({
  key,
  type: 'Object',
  fields,
  ...more,
});
const me = { $user: '_id' };

const schema = [
  text('title'),
  text('cost', { read: 'server' }),
  text('phone', { read: 'owner' }),
  text('grade', { read: { $user: { role: 'editor' } } }),
  object('meta', [text('note'), text('key', { read: 'server' })]),
  { key: 'lines', type: 'Array', items: { type: 'Object', fields: [text('name'), text('price', { read: 'server' })] } },
  { key: 'boss', type: 'Ref', ref: 'users', read: 'server' },
  { key: 'author', type: 'Ref', ref: 'users' },
  { key: 'next', type: 'Ref', ref: 'open' },
];

const collections = [
  { name: 'open', schema, rls: { enabled: true, mode: 'public-read' }, changes: true },
  { name: 'mine', schema, rls: { enabled: true, mode: 'private' } },
  {
    name: 'ownRules',
    schema,
    rls: { enabled: true, mode: 'rules', ownerField: 'userId', rules: { read: { userId: me }, update: true } },
  },
  {
    name: 'anyRules',
    schema,
    rls: { enabled: true, mode: 'rules', ownerField: 'userId', rules: { read: true, create: true, update: true } },
  },
  {
    name: 'links',
    schema: [text('name'), { key: 'to', type: 'Ref', ref: 'open' }, { key: 'who', type: 'Ref', ref: 'users' }],
    rls: { enabled: true, mode: 'public-read' },
  },
];

const values = {
  ...{ title: 't', cost: 'secret-cost', phone: 'secret-phone', grade: 'secret-grade' },
  meta: { note: 'n', key: 'secret-key' },
  lines: [
    { name: 'one', price: 'secret-1' },
    { name: 'two', price: 'secret-2' },
  ],
};

let project: UsersProject;
let ann: RequestOptions;
let bob: RequestOptions;
let editor: RequestOptions;
let stranger: RequestOptions;
let annId: string;
let editorId: string;
const ids = new Map<string, string>();

type Doc = Record<string, unknown> & { readonly _id: string };

const api = <Body = Record<string, unknown>>(method: string, path: string, who: RequestOptions = {}, body?: unknown) =>
  project.api<Body>(method, `/api/data/${path}`, { ...who, ...(body === undefined ? {} : { body }) });

const idOf = (name: string): string => ids.get(name) ?? '';

/** Returns the protected values that a response contains. */
const seen = (answer: { readonly body: unknown }): string =>
  [...new Set(JSON.stringify(answer.body).match(/secret-[a-z0-9]+/g) ?? [])].sort().join(' ');

const everything = 'secret-1 secret-2 secret-cost secret-grade secret-key secret-phone';

beforeAll(async () => {
  project = await newUsersProject({
    collection: {
      name: 'users',
      schema: [
        ...(standardUsers.schema ?? []).filter(({ key }) => key !== 'role'),
        text('role', { write: 'server' }),
        text('phone', { read: 'owner' }),
        text('pin', { read: 'server', write: 'server' }),
        text('rank', { read: { $user: { role: 'editor' } } }),
        object('card', [text('kind'), text('number', { read: 'server' })]),
      ],
    },
  });
  for (const collection of collections) await project.addCollection(collection);
  const key = project.publishableKey;
  const [one, two, three] = [await project.newUser(), await project.newUser(), await project.newUser()];
  [annId, editorId] = [one.userId, three.userId];
  ann = { key, token: one.accessToken };
  bob = { key, token: two.accessToken };
  editor = { key, token: three.accessToken };
  stranger = { key };
  const user = {
    phone: 'secret-phone',
    pin: 'secret-pin',
    rank: 'secret-rank',
    card: { kind: 'k', number: 'secret-card' },
  };
  for (const [id, name] of [
    [annId, 'ann'],
    [editorId, 'ed'],
  ] as const) {
    const body = { ...user, username: name, ...(id === editorId && { role: 'editor' }) };
    const set = await project.developer.dashboard('PATCH', `/api/projects/${project.id}/users/${id}`, body);
    expect(set).toMatchObject({ status: 200 });
  }
  for (const { name } of collections.slice(0, 4)) {
    const made = await api<Doc>('POST', name, {}, { ...values, userId: annId, author: annId, boss: annId });
    expect(made).toMatchObject({ status: 201 });
    ids.set(name, made.body._id);
  }
  const link = await api<Doc>('POST', 'links', {}, { name: 'l', to: idOf('open'), who: annId, userId: annId });
  ids.set('links', link.body._id);
});

describe('a document', () => {
  const callers = (): readonly (readonly [string, RequestOptions, string])[] => [
    ['the server', {}, everything],
    ['the owner', ann, 'secret-phone'],
    ['another user', bob, ''],
    ['a user allowed by a rule', editor, 'secret-grade'],
    ['an anonymous caller', stranger, ''],
  ];

  test('has only readable fields when it is read alone, listed, queried, joined and in the feed', async () => {
    for (const [title, who, expected] of callers()) {
      const id = idOf('open');
      for (const [method, path, body] of [
        ['GET', `open/${id}`],
        ['GET', 'open?limit=5'],
        ['GET', 'open?limit=5&cursor='],
        ['GET', 'open?limit=5&cursor=&sort=title'],
        ['GET', 'open?meta=false'],
        ['GET', 'open?meta=rev'],
        ['GET', 'open?populate=author'],
        ['GET', `open/${id}?populate=author`],
        ['POST', 'open/query', { where: { title: 't' } }],
        ['GET', 'links?populate=to'],
        ['GET', `links/${idOf('links')}?populate=to`],
        ['GET', 'open/changes?since=0'],
      ] as const) {
        const answer = await api(method, path, who, body);
        expect(answer, `${title}: ${path}`).toMatchObject({ status: 200 });
        expect(seenBeside(answer.body), `${title}: ${path}`).toBe(expected);
      }
    }
  });

  /** Returns the protected values of a response, except those in embedded users. */
  const seenBeside = (body: unknown): string =>
    seen({
      body: JSON.parse(JSON.stringify(body, (key, value) => (key === 'author' || key === 'boss' ? undefined : value))),
    });

  test('has only readable fields under rules and in a private collection', async () => {
    for (const [name, who, expected] of [
      ['mine', ann, 'secret-phone'],
      ['ownRules', ann, 'secret-phone'],
      ['anyRules', ann, 'secret-phone'],
      ['anyRules', bob, ''],
      ['anyRules', stranger, ''],
      ['anyRules', editor, 'secret-grade'],
    ] as const) {
      for (const path of [`${name}/${idOf(name)}`, name]) {
        expect(seen(await api('GET', path, who)), `${name} ${path}`).toBe(expected);
      }
    }
  });

  test('keeps the fields around a removed one', async () => {
    const { body } = await api<Doc>('GET', `open/${idOf('open')}`, stranger);
    expect(body).toMatchObject({ title: 't', meta: { note: 'n' }, lines: [{ name: 'one' }, { name: 'two' }] });
    expect(body).not.toHaveProperty('boss');
    expect(body).not.toHaveProperty('meta.key');
  });

  test('shows single fields: an owner’s fields only in own documents, and containers without protected fields', async () => {
    const list = async (who: RequestOptions, fields: string) =>
      (await api<{ data: { items: Doc[] } }>('GET', `open?fields=${fields}`, who)).body.data.items;
    expect(await list(ann, 'phone,meta')).toEqual([{ _id: idOf('open'), phone: 'secret-phone', meta: { note: 'n' } }]);
    expect(await list(bob, 'phone,meta')).toEqual([{ _id: idOf('open'), meta: { note: 'n' } }]);
    expect(await list(ann, 'phone,userId')).toEqual([{ _id: idOf('open'), phone: 'secret-phone', userId: annId }]);
    expect(await list(editor, 'grade')).toEqual([{ _id: idOf('open'), grade: 'secret-grade' }]);
  });

  test('writes return it without the fields that the writer may not read', async () => {
    const body = {
      title: 'w',
      cost: 'secret-cost',
      phone: 'secret-phone',
      grade: 'secret-grade',
      meta: { key: 'secret-key' },
    };
    const headers = { 'idempotency-key': 'field-reads' };
    for (let run = 0; run < 2; run += 1) {
      const made = await api<Doc>('POST', 'open', { ...ann, headers }, body);
      expect(made).toMatchObject({ status: 201 });
      expect(seen(made)).toBe('secret-phone');
    }
    const id = idOf('anyRules');
    for (const [who, expected] of [
      [bob, ''],
      [ann, 'secret-phone'],
      [editor, 'secret-grade'],
    ] as const) {
      expect(seen(await api('PATCH', `anyRules/${id}`, who, { title: 'u' }))).toBe(expected);
    }
    const mine = await api<Doc>('POST', 'mine', ann, body);
    await api('DELETE', `mine/${mine.body._id}`, ann);
    const recovered = await api('PATCH', `mine/${mine.body._id}/recover`, ann);
    expect(recovered).toMatchObject({ status: 200 });
    expect(seen(recovered)).toBe('secret-phone');
  });

  test('412 DOCUMENT_EXISTS has no field that the caller may not read', async () => {
    const answer = await api(
      'PUT',
      `open/${idOf('open')}`,
      { ...ann, headers: { 'if-none-match': '*' } },
      { title: 'x' },
    );
    expect(answer).toMatchObject({ status: 412, body: { code: 'DOCUMENT_EXISTS', data: { title: 't' } } });
    expect(seen(answer)).toBe('secret-phone');
  });
});

describe('400 when the caller filters or sorts by a field they may not read', () => {
  test.each([
    ['cost=secret-cost', 'INVALID_FILTER', 'cost'],
    ['cost_regex=secret', 'INVALID_FILTER', 'cost'],
    ['cost_exists=true', 'INVALID_FILTER', 'cost'],
    ['cost_ne=x', 'INVALID_FILTER', 'cost'],
    ['phone=x', 'INVALID_FILTER', 'phone'],
    ['grade_gte=a', 'INVALID_FILTER', 'grade'],
    ['meta.key=x', 'INVALID_FILTER', 'meta.key'],
    ['meta_exists=true', 'INVALID_FILTER', 'meta'],
    ['cost.x=1', 'INVALID_FILTER', 'cost.x'],
    ['lines.0.price=1', 'INVALID_FILTER', 'lines.0.price'],
    ['lines.price_startsWith=s', 'INVALID_FILTER', 'lines.price'],
    ['where={"$or":[{"title":"t"},{"cost":{"$gt":"a"}}]}', 'INVALID_FILTER', 'cost'],
    ['where={"$not":{"meta.key":"x"}}', 'INVALID_FILTER', 'meta.key'],
    ['where={"lines":{"$elemMatch":{"price":"x"}}}', 'INVALID_FILTER', 'lines.price'],
    ['where={"lines":{"$size":2}}', 'INVALID_FILTER', 'lines'],
    ['count=true&cost=x', 'INVALID_FILTER', 'cost'],
    ['sort=cost', 'INVALID_QUERY', 'cost'],
    ['sort=-phone', 'INVALID_QUERY', 'phone'],
    ['sort=meta', 'INVALID_QUERY', 'meta'],
    ['sort=lines.1.price', 'INVALID_QUERY', 'lines.1.price'],
    ['sort=title,cost&cursor=', 'INVALID_QUERY', 'cost'],
    ['fields=cost', 'INVALID_QUERY', 'cost'],
    ['fields=meta.key', 'INVALID_QUERY', 'meta.key'],
    ['fields=grade', 'INVALID_QUERY', 'grade'],
    ['populate=boss', 'INVALID_QUERY', 'boss'],
  ])('%s', async (query, code, field) => {
    for (const name of ['open', 'anyRules']) {
      const [parameter = '', ...rest] = query.split('where=');
      const asked = rest.length > 0 ? `${parameter}where=${encodeURIComponent(rest.join(''))}` : query;
      for (const who of [bob, stranger]) {
        const answer = await api(`GET`, `${name}?${asked}`, who);
        expect(answer, query).toMatchObject({ status: 400, body: { code, errors: [{ field }] } });
      }
      expect(await api('GET', `${name}?${asked}`)).toMatchObject({ status: 200 });
    }
  });

  test('populate of one document', async () => {
    const answer = await api('GET', `open/${'f'.repeat(24)}?populate=boss`, bob);
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY', errors: [{ field: 'boss' }] } });
  });

  test('a list of only own documents is filtered and sorted by fields of the owner', async () => {
    for (const name of ['mine', 'ownRules']) {
      for (const query of ['phone=secret-phone', 'sort=phone', 'phone_exists=true&fields=phone']) {
        const answer = await api<{ data: { items: Doc[] } }>('GET', `${name}?${query}`, ann);
        expect(answer).toMatchObject({ status: 200 });
        expect(answer.body.data.items.length, `${name} ${query}`).toBeGreaterThan(0);
      }
      expect(await api('GET', `${name}?cost=x`, ann)).toMatchObject({ status: 400 });
    }
    for (const name of ['open', 'anyRules']) {
      expect(await api('GET', `${name}?phone=secret-phone&userId=${annId}`, ann)).toMatchObject({ status: 400 });
    }
  });

  test('an $elemMatch of other fields, and a field that a rule allows, succeed', async () => {
    const where = encodeURIComponent('{"lines":{"$elemMatch":{"name":"one"}}}');
    expect(await api('GET', `open?where=${where}`, bob)).toMatchObject({ status: 200 });
    expect(await api('GET', 'open?grade=secret-grade&sort=grade', editor)).toMatchObject({ status: 200 });
  });
});

describe('an aggregation', () => {
  const aggregate = (who: RequestOptions, pipeline: readonly object[], name = 'open') =>
    api<{ data: unknown[] }>('POST', `${name}/aggregate`, who, { pipeline });
  const join = { from: 'open', localField: 'to', foreignField: '_id', as: 'x' };

  test.each<[string, readonly object[], string?]>([
    ['as stored', [{ $match: {} }]],
    ['$$ROOT', [{ $project: { all: '$$ROOT' } }]],
    ['$$CURRENT', [{ $group: { _id: null, all: { $push: '$$CURRENT' } } }]],
    ['$objectToArray', [{ $project: { all: { $objectToArray: '$$ROOT' } } }]],
    ['a computed name', [{ $project: { x: { $getField: { field: { $concat: ['co', 'st'] }, input: '$$ROOT' } } } }]],
    ['the object around', [{ $group: { _id: '$meta' } }]],
    ['the array around', [{ $unwind: '$lines' }, { $replaceWith: '$lines' }]],
    ['$facet', [{ $facet: { a: [{ $match: { title: 't' } }] } }]],
    ['$unionWith', [{ $unionWith: 'open' }], 'links'],
    ['$lookup', [{ $lookup: join }], 'links'],
    ['$lookup with a pipeline', [{ $lookup: { from: 'open', pipeline: [], as: 'x' } }], 'links'],
    ['$lookup and $replaceRoot', [{ $lookup: join }, { $unwind: '$x' }, { $replaceRoot: { newRoot: '$x' } }], 'links'],
    [
      '$graphLookup',
      [{ $graphLookup: { from: 'open', startWith: '$to', connectFromField: 'next', connectToField: '_id', as: 'x' } }],
      'links',
    ],
    ['sort, skip and limit', [{ $sort: { title: 1 } }, { $skip: 0 }, { $limit: 5 }]],
  ])('shows %s without the fields that the caller may not read', async (_title, pipeline, name) => {
    for (const [who, expected] of [
      [stranger, ''],
      [bob, ''],
      [ann, ''],
      [editor, 'secret-grade'],
    ] as const) {
      const answer = await aggregate(who, pipeline, name);
      expect(answer).toMatchObject({ status: 200 });
      expect(answer.body.data.length).toBeGreaterThan(0);
      expect(['', expected]).toContain(seen(answer));
    }
    expect(await aggregate({}, pipeline, name)).toMatchObject({ status: 200 });
  });

  test.each<[readonly object[], string?]>([
    [[{ $match: { cost: 'x' } }]],
    [[{ $match: { meta: { note: 'n', key: 'secret-key' } } }]],
    [[{ $match: { $or: [{ title: 't' }, { 'meta.key': { $gt: 'a' } }] } }]],
    [[{ $match: { lines: { $elemMatch: { price: 'x' } } } }]],
    [[{ $match: { $expr: { $gt: ['$cost', 'a'] } } }]],
    [[{ $sort: { cost: 1 } }]],
    [[{ $sort: { meta: 1 } }]],
    [[{ $group: { _id: '$cost' } }]],
    [[{ $group: { _id: null, x: { $max: '$meta.key' } } }]],
    [[{ $project: { x: '$$ROOT.cost' } }]],
    [[{ $project: { cost: 1 } }]],
    [[{ $project: { meta: { key: 1 } } }]],
    [[{ $addFields: { x: { $cond: [{ $eq: ['$phone', 'x'] }, 1, 0] } } }]],
    [[{ $unset: 'cost' }]],
    [[{ $sortByCount: '$cost' }]],
    [[{ $unwind: '$lines' }, { $match: { 'lines.price': 'x' } }]],
    [[{ $bucket: { groupBy: '$cost', boundaries: ['a', 'z'] } }]],
    [[{ $setWindowFields: { sortBy: { cost: 1 }, output: { n: { $documentNumber: {} } } } }]],
    [[{ $facet: { a: [{ $match: { cost: 'x' } }] } }]],
    [[{ $project: { x: { $getField: 'cost' } } }]],
    [[{ $lookup: { from: 'open', localField: 'name', foreignField: 'cost', as: 'x' } }], 'links'],
    [[{ $lookup: { from: 'open', localField: 'name', foreignField: 'meta', as: 'x' } }], 'links'],
    [[{ $lookup: { from: 'open', pipeline: [{ $match: { cost: 'x' } }], as: 'x' } }], 'links'],
    [[{ $lookup: { ...join, as: 'x' } }, { $match: { 'x.cost': 'secret-cost' } }], 'links'],
    [[{ $lookup: { ...join, as: 'x' } }, { $unwind: '$x' }, { $match: { 'x.meta.key': { $gt: 'a' } } }], 'links'],
    [[{ $unionWith: { coll: 'open', pipeline: [{ $match: { cost: 'x' } }] } }], 'links'],
    [[{ $unionWith: 'open' }, { $match: { cost: 'secret-cost' } }], 'links'],
    [
      [
        {
          $graphLookup: { from: 'open', startWith: '$name', connectFromField: 'next', connectToField: 'cost', as: 'x' },
        },
      ],
      'links',
    ],
    [
      [{ $graphLookup: { from: 'open', startWith: '$to', connectFromField: 'cost', connectToField: '_id', as: 'x' } }],
      'links',
    ],
    [
      [
        {
          $graphLookup: {
            from: 'open',
            startWith: '$to',
            connectFromField: 'next',
            connectToField: '_id',
            as: 'x',
            restrictSearchWithMatch: { cost: 'x' },
          },
        },
      ],
      'links',
    ],
  ])('400 INVALID_PIPELINE for %j', async (pipeline, name) => {
    const answer = await aggregate(bob, pipeline, name);
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_PIPELINE' } });
    expect(JSON.stringify(answer.body)).toMatch(/cost|meta|price|phone/);
    expect((await aggregate({}, pipeline, name)).status).toBe(200);
  });

  test('uses a field of the owner when all documents are the caller’s', async () => {
    for (const name of ['mine', 'ownRules']) {
      const answer = await aggregate(ann, [{ $match: { phone: 'secret-phone' } }], name);
      expect(seen(answer)).toBe('secret-phone');
    }
  });
});

test('a publishable key gets the schema without field rules', async () => {
  const fieldsFor = async (who: RequestOptions) => {
    const answer = await project.api<{ data: { collection: { model: Doc[] } } }>('GET', '/api/schemas/open', who);
    return answer.body.data.collection.model;
  };
  expect(await fieldsFor({})).toContainEqual(
    expect.objectContaining({ key: 'grade', read: { $user: { role: 'editor' } } }),
  );
  const shown = await fieldsFor(stranger);
  expect(shown.find(({ key }) => key === 'grade')).not.toHaveProperty('read');
  expect(shown).toContainEqual(expect.objectContaining({ key: 'phone', read: 'owner' }));
});

describe('users', () => {
  test('see in their own record only what they may read, in every response', async () => {
    for (const [who, expected] of [
      [ann, 'secret-phone'],
      [editor, 'secret-phone secret-rank'],
    ] as const) {
      const token = String(who.token);
      expect(seen(await project.auth('GET', 'me', { token }))).toBe(expected);
      expect(seen(await project.auth('PUT', 'update-profile', { token, body: { name: 'n' } }))).toBe(expected);
    }
    const { email, password, userId } = await project.newUser({ phone: 'secret-phone' });
    const path = `/api/projects/${project.id}/users/${userId}`;
    await project.developer.dashboard('PATCH', path, { pin: 'secret-pin', card: { number: 'secret-card' } });
    expect(seen(await project.logIn({ email, password }))).toBe('secret-phone');
  });

  test('are shown to other users without the fields those may not read', async () => {
    expect(seen(await project.auth('GET', 'public/ann', {}))).toBe('');
    for (const [who, expected] of [
      [{}, 'secret-card secret-phone secret-pin secret-rank'],
      [stranger, ''],
      [bob, ''],
      [ann, 'secret-phone'],
      [editor, 'secret-rank'],
    ] as const) {
      const answer = await api<{ data: { items: Doc[] } }>('GET', 'links?populate=who', who);
      expect(answer.body.data.items[0]?.who).toMatchObject({ username: 'ann' });
      expect(seen({ body: answer.body.data.items[0]?.who })).toBe(expected);
    }
  });
});
