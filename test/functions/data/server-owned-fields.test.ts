import { beforeAll, describe, expect, test } from 'vitest';
import type { RequestOptions } from '../../support/clients/client.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

const annId = 'a'.repeat(24);
const bobId = 'b'.repeat(24);
const foreign = 'f'.repeat(24);
const longAgo = '2001-01-01T00:00:00.000Z';

let project: TestProject;
let ann: RequestOptions;
let bob: RequestOptions;

type Doc = Record<string, unknown> & { readonly _id: string };

beforeAll(async () => {
  project = await newProject([
    { name: 'notes' },
    { name: 'posts', schema: [{ key: 'text', type: 'String' }] },
    { name: 'todos', rls: { enabled: true, mode: 'private' } },
    { name: 'feed', rls: { enabled: true, ownerField: 'author' } },
  ]);
  const key = project.publishableKey;
  ann = { key, token: await project.tokenFor(annId) };
  bob = { key, token: await project.tokenFor(bobId) };
});

/** Bodies with fields that only the service writes: the fields are ignored and the body is accepted. */
const attempts: readonly (readonly [string, Record<string, unknown>])[] = [
  ['_id', { _id: foreign }],
  ['_id as an operator', { _id: { $ne: null } }],
  ['_id as Extended JSON', { _id: { $oid: foreign } }],
  ['isDeleted', { isDeleted: true }],
  ['isDeleted as text', { isDeleted: 'true' }],
  ['isDeleted as an object', { isDeleted: { $eq: true } }],
  ['deletedAt', { deletedAt: longAgo }],
  ['createdAt', { createdAt: longAgo }],
  ['updatedAt', { updatedAt: longAgo }],
  ['all of them', { _id: foreign, isDeleted: true, deletedAt: longAgo, createdAt: longAgo, updatedAt: longAgo }],
];

/** Operators that inserts reject, and updates accept only in another form or not at all. */
const operators: readonly (readonly [string, Record<string, unknown>])[] = [
  ['$set', { $set: { isDeleted: true, createdAt: longAgo } }],
  ['$unset', { $unset: { createdAt: 1 } }],
  ['$rename', { $rename: { text: 'deletedAt' } }],
  ['$setOnInsert', { $setOnInsert: { _id: foreign } }],
  ['$currentDate', { $currentDate: { deletedAt: true } }],
  ['$where', { $where: 'true' }],
];

/** The same fields as paths, which only updates accept. */
const paths: readonly (readonly [string, Record<string, unknown>])[] = [
  ['isDeleted by a path', { 'isDeleted.x': true }],
  ['isDeleted by an array path', { 'isDeleted.0': true }],
  ['deletedAt by a path', { 'deletedAt.x': 1 }],
  ['_id by a path', { '_id.x': 1 }],
  ['_id by an array path', { '_id.0': 1 }],
  ['createdAt by a deep path', { 'createdAt.a.b.c': 1 }],
  ['createdAt by an operator path', { 'createdAt.$': 1 }],
  ['updatedAt by all array elements', { 'updatedAt.$[]': 1 }],
];

const isUntouched = (document: Doc, since: number): void => {
  expect(document._id).toMatch(/^[0-9a-f]{24}$/);
  expect(document._id).not.toBe(foreign);
  expect(document).toMatchObject({ isDeleted: false, deletedAt: null });
  for (const field of ['createdAt', 'updatedAt']) {
    const time = Date.parse(document[field] as string);
    expect(time).toBeGreaterThanOrEqual(since - 2000);
    expect(time).toBeLessThanOrEqual(Date.now() + 2000);
  }
  expect(Object.keys(document).some((key) => key.startsWith('$'))).toBe(false);
};

describe.each(['notes', 'posts'])('in %s', (collection) => {
  const path = `/api/data/${collection}`;

  test.each(attempts)('201 without %s', async (_what, body) => {
    const since = Date.now();
    const made = await project.api<Doc>('POST', path, { body: { text: 'a', ...body } });
    expect(made.status).toBe(201);
    isUntouched(made.body, since);
    expect(made.body.text).toBe('a');
    expect((await project.api<Doc>('GET', `${path}/${made.body._id}`)).body).toEqual(made.body);
  });

  test.each(operators)('400 INVALID_BODY for %s, alone and in bulk', async (field, body) => {
    const failure = { status: 400, body: { code: 'INVALID_BODY', errors: [{ field }] } };
    expect(await project.api('POST', path, { body: { text: 'a', ...body } })).toMatchObject(failure);
    const bodies = [{ text: 'a' }, { text: 'a', ...body }];
    expect(await project.api('POST', `${path}/bulk`, { body: bodies })).toMatchObject({
      ...failure,
      body: { errors: [{ field, index: 1 }] },
    });
  });

  test('201 in bulk without these fields', async () => {
    const since = Date.now();
    const made = await project.api<{ data: { ids: string[] } }>('POST', `${path}/bulk`, {
      body: attempts.map(([, body]) => ({ text: 'bulk', ...body })),
    });
    expect(made.status).toBe(201);
    expect(new Set(made.body.data.ids).size).toBe(attempts.length);
    const list = await project.api<{ data: { items: Doc[] } }>('GET', `${path}?text=bulk&include_deleted=true`);
    expect(list.body.data.items).toHaveLength(attempts.length);
    for (const document of list.body.data.items) isUntouched(document, since);
  });

  test.each(operators)('400 INVALID_UPDATE for an update with %s, which changes nothing', async (_what, body) => {
    const made = await project.api<Doc>('POST', path, { body: { text: 'a' } });
    const own = `${path}/${made.body._id}`;
    for (const method of ['PUT', 'PATCH'])
      for (const sent of [body, { ...body, text: 'b' }])
        expect(await project.api(method, own, { body: sent })).toMatchObject({
          status: 400,
          body: { code: 'INVALID_UPDATE' },
        });
    expect((await project.api<Doc>('GET', own)).body).toEqual(made.body);
  });

  test.each([...attempts, ...paths])(
    '200 for an update without %s, 400 when it contains nothing else',
    async (_what, body) => {
      const made = await project.api<Doc>('POST', path, { body: { text: 'a' } });
      const own = `${path}/${made.body._id}`;
      for (const method of ['PUT', 'PATCH']) {
        expect(await project.api(method, own, { body })).toMatchObject({
          status: 400,
          body: { code: 'NOTHING_TO_UPDATE' },
        });
        const changed = await project.api<{ data: Doc }>(method, own, { body: { ...body, text: 'b' } });
        expect(changed.status).toBe(200);
        isUntouched(changed.body.data, Date.parse(made.body.createdAt as string));
        const { updatedAt: _before, ...before } = made.body;
        const { updatedAt: _after, ...after } = changed.body.data;
        expect(after).toEqual({ ...before, text: 'b' });
      }
    },
  );

  test('404 for an update that would recover a trashed document', async () => {
    const made = await project.api<Doc>('POST', path, { body: { text: 'a' } });
    const own = `${path}/${made.body._id}`;
    await project.api('DELETE', own, { body: { isDeleted: false, permanent: true } });
    for (const body of [
      { text: 'b', isDeleted: false },
      { text: 'b', deletedAt: null },
    ]) {
      expect((await project.api('PATCH', own, { body })).status).toBe(404);
    }
    const trashed = await project.api<Doc>('GET', `${own}?include_deleted=true`);
    expect(trashed.body).toMatchObject({ text: 'a', isDeleted: true });
    const back = await project.api<{ data: Doc }>('PATCH', `${own}/recover`, {
      body: { text: 'c', deletedAt: longAgo },
    });
    expect(back.body.data).toMatchObject({ text: 'a', isDeleted: false, deletedAt: null });
  });
});

describe('names that resemble them', () => {
  test('are ordinary fields', async () => {
    const body = {
      IsDeleted: true,
      id: foreign,
      'deletedAt ': 1,
      nested: { _id: 1, isDeleted: true, createdAt: 'x', $set: 1 },
    };
    const made = await project.api<Doc>('POST', '/api/data/notes', { body });
    expect(made.body).toMatchObject({ ...body, isDeleted: false });
    expect((await project.api<Doc>('GET', `/api/data/notes/${made.body._id}`)).body).toEqual(made.body);
  });

  test.each([
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'toJSON',
    'toBSON',
    'then',
    'length',
    'valueOf',
  ])('round trip: a field named %s, by body and by path', async (name) => {
    const body = { [name]: { [name]: 'x', isDeleted: true }, list: [{ [name]: 1 }] };
    const made = await project.api<Doc>('POST', '/api/data/notes', { body });
    expect(made.status).toBe(201);
    const own = `/api/data/notes/${made.body._id}`;
    expect((await project.api<Doc>('GET', own)).body).toMatchObject({ ...body, isDeleted: false });
    const changed = await project.api<{ data: Doc }>('PATCH', own, { body: { [`${name}.${name}`]: 'y' } });
    expect(changed.body.data).toMatchObject({ [name]: { [name]: 'y', isDeleted: true }, isDeleted: false });
    const found = await project.api('GET', `/api/data/notes?${name}.${name}=y&sort=${name}&fields=${name}`);
    expect(found).toMatchObject({ status: 200, body: { data: { total: 1 } } });
  });

  test.each(['__proto__', '_bsontype'])('400 for a field named %s at any depth, by body and by path', async (name) => {
    const made = await project.api<Doc>('POST', '/api/data/notes', { body: { a: { b: {} }, list: [{}] } });
    const own = `/api/data/notes/${made.body._id}`;
    const bodies = [
      `{"${name}":{"isDeleted":true}}`,
      `{"a":{"${name}":1}}`,
      `{"list":[[{"${name}":"ObjectId"}]]}`,
      `{"a.${name}":1}`,
      `{"a.b.${name}.c":1}`,
      `{"${name}.isDeleted":true}`,
      `{"list.0.${name}":"ObjectId"}`,
    ];
    for (const body of bodies) {
      for (const [method, path] of [
        ['POST', '/api/data/notes'],
        ['PATCH', own],
      ] as const) {
        expect(await project.api(method, path, { body }), `${method} ${body}`).toMatchObject({ status: 400 });
      }
      expect((await project.api('POST', '/api/data/notes/bulk', { body: `[${body}]` })).status).toBe(400);
    }
    expect((await project.api<Doc>('GET', own)).body).toEqual(made.body);
  });
});

describe.each<[string, string]>([
  ['todos', 'userId'],
  ['feed', 'author'],
])('the owner of a document in %s', (collection, owner) => {
  const path = `/api/data/${collection}`;
  const takeovers: readonly Record<string, unknown>[] = [
    { [owner]: bobId },
    { [owner]: null },
    { [owner]: '' },
    { [owner]: annId.toUpperCase() },
    { [owner]: ` ${annId}` },
    { [owner]: [annId] },
    { [owner]: [annId, bobId] },
    { [owner]: { $ne: null } },
    { [owner]: { $oid: annId } },
    { [owner]: 5 },
    { [owner]: true },
    { [`${owner}.x`]: bobId },
    { [`${owner}.0`]: bobId },
    { [`${owner}.$`]: bobId },
    { [`${owner}.`]: bobId },
  ];
  const operators: readonly Record<string, unknown>[] = [
    { $set: { [owner]: bobId } },
    { $unset: { [owner]: 1 } },
    { $rename: { [owner]: 'x' } },
  ];

  test('does not change in any update, with either key', async () => {
    const made = await project.api<Doc>('POST', path, { ...ann, body: { text: 'a' } });
    const own = `${path}/${made.body._id}`;
    for (const who of [ann, {}]) {
      for (const body of takeovers) {
        const answer = await project.api('PATCH', own, { ...who, body: { ...body, text: 'b' } });
        expect([400, 403], JSON.stringify(body)).toContain(answer.status);
        expect(['OWNER_IMMUTABLE', 'INVALID_UPDATE', 'INVALID_BODY']).toContain(answer.body.code);
      }
      for (const body of operators) {
        expect((await project.api('PATCH', own, { ...who, body })).body).toMatchObject({ code: 'INVALID_UPDATE' });
      }
    }
    for (const body of [...takeovers, ...operators]) {
      const answer = await project.api('PATCH', own, { ...bob, body: { ...body, text: 'c' } });
      expect([400, 403]).toContain(answer.status);
    }
    expect((await project.api<Doc>('GET', own)).body).toEqual(made.body);
  });

  test('is set only once, by the secret key, when a document has no owner', async () => {
    const made = await project.api<Doc>('POST', path, { body: { text: 'a' } });
    const own = `${path}/${made.body._id}`;
    expect((await project.api('PATCH', own, { ...ann, body: { [owner]: annId } })).status).toBe(403);
    expect((await project.api<Doc>('GET', own)).body).toEqual(made.body);
    expect((await project.api('PATCH', own, { body: { [owner]: annId } })).status).toBe(200);
    expect(await project.api('PATCH', own, { body: { [owner]: bobId } })).toMatchObject({
      status: 403,
      body: { code: 'OWNER_IMMUTABLE' },
    });
    expect((await project.api<Doc>('GET', own)).body).toMatchObject({
      ...made.body,
      updatedAt: expect.any(String),
      [owner]: annId,
    });
  });

  test('cannot be another user on insert: such a body is rejected, query and header are ignored', async () => {
    for (const body of [...takeovers, { [owner]: bobId, $set: {} }]) {
      for (const [target, sent] of [
        [path, body],
        [`${path}/bulk`, [{ text: 'a' }, body]],
      ] as const) {
        const answer = await project.api('POST', target, { ...ann, body: sent });
        expect([400, 403], JSON.stringify(body)).toContain(answer.status);
      }
    }
    const query = await project.api<Doc>('POST', `${path}?${owner}=${bobId}`, { ...ann, body: { text: 'a' } });
    expect(query.body[owner]).toBe(annId);
    const header = await project.api<Doc>('POST', path, { ...ann, headers: { [owner]: bobId }, body: {} });
    expect(header.body[owner]).toBe(annId);
  });
});
