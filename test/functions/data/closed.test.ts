import { beforeAll, describe, expect, test } from 'vitest';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { openTransfers } from '../../support/fixtures/transfer-requests.ts';
import { newUsersProject, type UsersProject, users } from '../../support/fixtures/users.ts';

const schema = [
  { key: 'name', type: 'String' },
  {
    key: 'meta',
    type: 'Object',
    fields: [
      { key: 'score', type: 'Number' },
      { key: 'open', type: 'Object' },
    ],
  },
  { key: 'lines', type: 'Array', items: { type: 'Object', fields: [{ key: 'n', type: 'Number' }] } },
];

let project: TestProject;

beforeAll(async () => {
  project = await newProject([
    { name: 'posts', schema, closed: true },
    { name: 'notes', schema, closed: true, rls: { enabled: true, ownerField: 'author' } },
  ]);
});

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly errors: readonly { readonly field: string; readonly message: string; readonly index?: number }[];
}

const api = (method: string, path: string, body?: unknown) =>
  project.api<Failure & { _id: string; data: unknown }>(
    method,
    `/api/data/posts${path}`,
    body === undefined ? {} : { body },
  );

const unknown = (field: string, name = 'posts') => ({
  status: 400,
  body: {
    code: 'VALIDATION_FAILED',
    message: `Validation failed: ${field} is not a field of "${name}"`,
    errors: [{ field, message: `${field} is not a field of "${name}"` }],
  },
});

const bodies: readonly (readonly [string, object])[] = [
  ['nmae', { nmae: 'x' }],
  ['meta.scroe', { meta: { scroe: 1 } }],
  ['lines.1.m', { lines: [{ n: 1 }, { m: 2 }] }],
];

describe('400 VALIDATION_FAILED for a field that a closed schema lacks', () => {
  test.each(bodies)('of an insert: %s', async (field, body) => {
    expect(await api('POST', '', body)).toMatchObject(unknown(field));
  });

  test.each([
    ...bodies,
    ['nmae.x', { 'nmae.x': 1 }],
    ['meta.scroe', { 'meta.scroe': 1 }],
    ['lines.0.m', { 'lines.0.m': 1 }],
  ] as const)('of an update: %s', async (field, body) => {
    const { _id } = (await api('POST', '', { lines: [{ n: 1 }], meta: {} })).body;
    for (const method of ['PUT', 'PATCH']) expect(await api(method, `/${_id}`, body)).toMatchObject(unknown(field));
  });

  test('of a bulk insert, by index', async () => {
    const { status, body } = await api('POST', '/bulk', [{ name: 'x' }, { nmae: 'x' }]);
    expect({ status, errors: body.errors }).toEqual({
      status: 400,
      errors: [{ index: 1, field: 'nmae', message: 'nmae is not a field of "posts"' }],
    });
  });

  test('of an insert with other errors', async () => {
    const { body } = await api('POST', '', { nmae: 1, name: 2 });
    expect(body.errors.map(({ field }) => field)).toEqual(['nmae', 'name']);
  });

  test.each([
    ['nmae', 'nmae=x'],
    ['nmae', 'nmae_gte=1'],
    ['meta.scroe', 'meta.scroe=1'],
    ['nmae', `where=${encodeURIComponent('{"$or":[{"name":"a"},{"nmae":"x"}]}')}`],
    ['lines.m', `where=${encodeURIComponent('{"lines":{"$elemMatch":{"m":1}}}')}`],
    ['nmae', 'sort=-nmae'],
    ['nmae', 'sort=name,nmae'],
  ])('of a list, by %s in %s', async (field, query) => {
    expect(await api('GET', `?${query}`)).toMatchObject(unknown(field));
  });

  test('of a query in a body', async () => {
    const answer = await api('POST', '/query', { where: { nmae: 'x' } });
    expect(answer).toMatchObject(unknown('nmae'));
  });
});

describe('a closed collection', () => {
  test('201 and 200 for the fields of its schema, any field inside an open object, and system fields', async () => {
    const document = { name: 'x', meta: { score: 1, open: { any: { thing: 1 } } }, lines: [{ n: 1 }] };
    const { status, body } = await api('POST', '', { ...document, _id: 'x', createdAt: 1, _rev: 3 });
    expect({ status, body }).toMatchObject({ status: 201, body: document });
    const { _id } = body;
    expect((await api('PUT', `/${_id}`, { ...body, 'meta.open.more': 1 })).status).toBe(400);
    expect((await api('PUT', `/${_id}`, body)).status).toBe(200);
    expect((await api('PATCH', `/${_id}`, { 'meta.open.more': 1, 'lines.1': { n: 2 } })).status).toBe(200);
  });

  test('200 for filters and sorts by fields of the schema and system fields', async () => {
    for (const query of [
      'name=x',
      'meta.open.any=1',
      'lines.n=1',
      'lines.0.n=1',
      '_id_exists=true',
      'createdAt_gte=2020-01-01',
      'sort=-updatedAt,meta.score',
    ]) {
      expect((await api('GET', `?${query}`)).status, query).toBe(200);
    }
  });

  test('201 with its owner field when the schema does not list it', async () => {
    const token = await project.tokenFor('ann');
    const notes = (method: string, path: string, body?: unknown) =>
      project.api<{ _id: string }>(method, `/api/data/notes${path}`, {
        key: project.publishableKey,
        token,
        ...(body ? { body } : {}),
      });
    expect(await notes('POST', '', { name: 'x', author: 'ann' })).toMatchObject({
      status: 201,
      body: { author: 'ann' },
    });
    expect((await notes('GET', '?author=ann&sort=author')).status).toBe(200);
    expect(await notes('POST', '', { userId: 'ann' })).toMatchObject(unknown('userId', 'notes'));
  });

  test('an import rejects lines with other fields and names them', async () => {
    const at = await openTransfers();
    await at.project.addCollection({
      name: 'posts',
      schema: [...schema, { key: 'stock', type: 'Number', min: 0 }],
      closed: true,
    });
    const content = '{"name":"a"}\n{"nmae":"b"}\n{"stock":-1}\n{"$x":1}\n';
    const done = await at.imported('posts', { format: 'ndjson', content });
    expect(done).toMatchObject({ state: 'done', inserted: 1, rejected: 3 });
    expect(done.errors).toMatchObject([
      { line: 2, field: 'nmae', message: 'nmae is not a field of "posts"' },
      { line: 3, field: 'stock', message: 'stock must be at least 0' },
      { line: 4, field: '$x' },
    ]);
  });
});

describe('users with bounds, in a closed collection', () => {
  let accounts: UsersProject;
  const fields = [
    { key: 'age', type: 'Number', min: 18 },
    { key: 'plan', type: 'String', enum: ['free', 'pro'], default: 'free' },
    { key: 'address', type: 'Object', fields: [{ key: 'zip', type: 'String', pattern: '^\\d{5}$' }] },
  ];

  beforeAll(async () => {
    const own = (users.schema ?? []).slice(0, 2);
    accounts = await newUsersProject({ collection: { name: 'users', schema: [...own, ...fields], closed: true } });
  });

  const refused: readonly (readonly [string, object, string])[] = [
    ['age', { age: 17 }, 'age must be at least 18'],
    ['plan', { plan: 'gold' }, 'plan must be one of "free", "pro"'],
    ['address.zip', { address: { zip: '1234' } }, 'address.zip must match the pattern ^\\d{5}$'],
    ['nmae', { nmae: 'x' }, 'nmae is not a field of "users"'],
    ['address.city', { address: { city: 'x' } }, 'address.city is not a field of "users"'],
  ];

  test.each(refused)('400 VALIDATION_FAILED for a sign-up with %s', async (field, body, message) => {
    const answer = await accounts.signUp({ email: 'new@example.com', password: 'a long password', ...body });
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED', errors: [{ field, message }] } });
  });

  test.each(refused)('400 VALIDATION_FAILED for update-profile with %s', async (field, body, message) => {
    const { token } = await accounts.newUser();
    const answer = await accounts.auth('PUT', 'update-profile', { token, body });
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED', errors: [{ field, message }] } });
  });

  test('400 VALIDATION_FAILED for update-profile with a dotted path', async () => {
    const { token } = await accounts.newUser({ address: { zip: '12345' } });
    const answer = await accounts.auth('PUT', 'update-profile', { token, body: { 'address.zip': 'x' } });
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED', errors: [{ field: 'address.zip' }] },
    });
  });

  test('200 for closing users when records hold only the service’s own fields, 409 SCHEMA_CONFLICT for other fields', async () => {
    const { token } = await accounts.newUser({ age: 18 });
    const path = `/api/projects/${accounts.id}/collections/users`;
    const edit = (body: object) => accounts.developer.dashboard<Failure>('PUT', path, body);
    const own = (users.schema ?? []).slice(0, 2);
    const nick = { key: 'nick', type: 'String' };
    expect((await edit({ closed: false })).status).toBe(200);
    expect((await edit({ closed: true })).status).toBe(200);
    expect((await edit({ schema: [...own, ...fields, nick] })).status).toBe(200);
    const named = () => accounts.auth('PUT', 'update-profile', { token, body: { nick: 'x' } });
    await expect.poll(async () => (await named()).status).toBe(200);
    const conflict = await edit({ schema: [...own, ...fields] });
    expect(conflict).toMatchObject({
      status: 409,
      body: { code: 'SCHEMA_CONFLICT', errors: [{ field: 'nick', count: 1 }] },
    });
    expect((await edit({ schema: [...own, ...fields], force: true })).status).toBe(200);
    await expect.poll(async () => (await named()).status).toBe(400);
  });

  test('200 for a user that a client sends back unchanged', async () => {
    const { token, user } = await accounts.newUser({ age: 18 });
    const answer = await accounts.auth('PUT', 'update-profile', { token, body: { ...user, age: 19 } });
    expect(answer).toMatchObject({ status: 200, body: { user: { age: 19, plan: 'free' } } });
  });

  test('400 INVALID_BODY for a sign-up and a profile with a name that begins with $', async () => {
    const { token } = await accounts.newUser();
    const failure = { status: 400, body: { code: 'INVALID_BODY', errors: [{ field: '$set' }] } };
    const body = { email: 'new@example.com', password: 'a long password', $set: { age: 1 } };
    expect(await accounts.signUp(body)).toMatchObject(failure);
    expect(await accounts.auth('PUT', 'update-profile', { token, body: { $set: { age: 1 } } })).toMatchObject(failure);
  });

  test.each([
    ['password', { minLength: 12 }, 'password has minLength, but the service itself checks email and password'],
    ['email', { pattern: '@example' }, 'email has pattern, but the service itself checks email and password'],
  ])('400 INVALID_SCHEMA for bounds of %s', async (key, bound, message) => {
    const own = (users.schema ?? []).slice(0, 2).map((field) => (field.key === key ? { ...field, ...bound } : field));
    const path = `/api/projects/${accounts.id}/collections/users`;
    const answer = await accounts.developer.dashboard('PUT', path, { schema: [...own, ...fields] });
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_SCHEMA', message } });
  });
});
