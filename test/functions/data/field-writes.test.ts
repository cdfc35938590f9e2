import { beforeAll, describe, expect, test } from 'vitest';
import type { Answer, RequestOptions } from '../../support/clients/client.ts';
import { newUsersProject, users as standardUsers, type UsersProject } from '../../support/fixtures/users.ts';

/* Field write rights: which fields an insert, an update, a sign-up and a profile change may set. */

const text = (key: string, more: object = {}) => ({ key, type: 'String', ...more });
const number = (key: string, more: object = {}) => ({ key, type: 'Number', ...more });
const object = (key: string, fields: readonly object[], more: object = {}) => ({
  key,
  type: 'Object',
  fields,
  ...more,
});
const me = { $user: '_id' };
const editor = { $user: { role: 'editor' } };

const schema = [
  text('title'),
  number('price', { write: 'server', default: 5 }),
  text('sku', { write: 'create' }),
  number('votes', { write: { after: { votes: { $stored: 'votes', plus: 1 } } } }),
  text('state', { write: editor }),
  text('open', { write: true }),
  object('meta', [
    text('note'),
    number('score', { write: 'server' }),
    text('origin', { write: 'create' }),
    text('label', { write: editor }),
    text('hidden', { read: 'server' }),
    object('deep', [text('a'), text('b', { write: 'server' })]),
  ]),
  { key: 'tags', type: 'Array', items: { type: 'String' }, write: 'server' },
  { key: 'due', type: 'Date', write: 'server' },
  { key: 'other', type: 'Ref', ref: 'owned', write: 'server' },
  object('box', [text('x')], { write: 'server' }),
  text('secret', { read: 'server' }),
  number('grade', { write: 'server', read: 'server' }),
  object('vault', [text('x')], { read: 'server' }),
  { key: 'lines', type: 'Array', items: { type: 'Object', fields: [text('name'), text('cost', { read: 'server' })] } },
];

const anyone = { read: true, create: { $user: {} }, update: { $user: {} } };

let project: UsersProject;
let ann: RequestOptions;
let boss: RequestOptions;
let annId: string;

type Doc = Record<string, unknown> & { readonly _id: string };

const api = <Body = Record<string, unknown>>(method: string, path: string, who: RequestOptions, body?: unknown) =>
  project.api<Body>(method, `/api/data/${path}`, { ...who, ...(body === undefined ? {} : { body }) });

const secret = (): RequestOptions => ({});

/** Creates a document of Ann with all fields set, with the secret key. */
const full = {
  ...{ title: 't', price: 9, sku: 's', votes: 1, state: 'new', tags: ['a', 'b'], due: '2026-01-31T00:00:00.000Z' },
  meta: { note: 'n', score: 3, origin: 'o', label: 'l', hidden: 'h', deep: { a: '1', b: '2' } },
  ...{ other: 'a'.repeat(24), box: { x: '1' }, secret: 'abc', grade: 7, vault: { x: 'v' } },
  lines: [{ name: 'one', cost: 'c' }],
};

const made = async (collection = 'owned', body: object = full): Promise<string> => {
  const answer = await api<Doc>('POST', collection, secret(), { ...body, userId: annId });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body._id;
};

const stored = async (id: string, collection = 'owned'): Promise<Doc> => {
  const { body } = await api<Doc>('GET', `${collection}/${id}`, secret());
  return body;
};

const isRefused = (answer: Answer<object>, ...fields: readonly string[]) => {
  expect(answer).toMatchObject({ status: 403, body: { code: 'FIELD_PROTECTED' } });
  const { errors = [] } = answer.body as { readonly errors?: readonly { readonly field: string }[] };
  expect(errors.map(({ field }) => field).toSorted()).toEqual([...fields].toSorted());
};

beforeAll(async () => {
  project = await newUsersProject({
    collection: {
      name: 'users',
      schema: [
        ...(standardUsers.schema ?? []).filter(({ key }) => key !== 'role' && key !== 'name'),
        text('name'),
        text('role', { write: 'server', default: 'reader' }),
        text('handle', { write: 'create' }),
        text('rank', { write: { $user: { role: 'editor' } } }),
        text('plan', { write: { after: { plan: 'free' } } }),
        text('pin', { write: 'server', read: 'server' }),
        object('limits', [number('posts', { write: 'server' }), text('theme')]),
      ],
    },
  });
  await project.addCollection({ name: 'owned', schema, rls: { enabled: true, mode: 'public-read' } });
  await project.addCollection({
    name: 'ruled',
    schema,
    rls: { enabled: true, mode: 'rules', ownerField: 'userId', rules: anyone },
  });
  await project.addCollection({
    name: 'narrow',
    schema,
    rls: {
      ...{ enabled: true, mode: 'rules', ownerField: 'userId' },
      rules: {
        read: { userId: me },
        create: { title: 'allowed' },
        update: { before: { userId: me }, after: { title: { $ne: 'refused' } } },
      },
    },
  });
  const key = project.publishableKey;
  const [one, two] = [await project.newUser(), await project.newUser()];
  annId = one.userId;
  ann = { key, token: one.accessToken };
  boss = { key, token: two.accessToken };
  const path = `/api/projects/${project.id}/users/${two.userId}`;
  await project.developer.dashboard('PATCH', path, { role: 'editor' });
});

describe('an insert', () => {
  test('sets fields open to everyone, once-only fields included, and applies defaults', async () => {
    const answer = await api<Doc>('POST', 'owned', ann, {
      title: 't',
      sku: 's',
      open: 'x',
      secret: 'mine',
      meta: { note: 'n', origin: 'o' },
    });
    expect(answer).toMatchObject({ status: 201 });
    expect(await stored(answer.body._id)).toMatchObject({ price: 5, sku: 's', secret: 'mine', meta: { origin: 'o' } });
  });

  test.each<[string, object, readonly string[]]>([
    ['a field of the server', { price: 1 }, ['price']],
    ['its default', { price: 5 }, ['price']],
    ['null', { price: null }, ['price']],
    ['a nested field', { meta: { note: 'n', score: 1 } }, ['meta.score']],
    ['a field at the third level', { meta: { deep: { b: 'x' } } }, ['meta.deep.b']],
    ['a rule that does not hold', { state: 'x' }, ['state']],
    ['a nested rule that does not hold', { meta: { label: 'x' } }, ['meta.label']],
    ['several', { price: 1, box: {}, tags: [] }, ['price', 'box', 'tags']],
    ['a field that the caller may not read', { grade: 1 }, ['grade']],
    ['a rule about stored values when none is stored', { votes: 9 }, ['votes']],
  ])('403 FIELD_PROTECTED for %s', async (_title, body, fields) => {
    for (const name of ['owned', 'ruled']) isRefused(await api('POST', name, ann, { title: 't', ...body }), ...fields);
  });

  test('sets a field that a rule allows', async () => {
    expect(await api('POST', 'owned', boss, { state: 'x', meta: { label: 'l' } })).toMatchObject({ status: 201 });
  });

  test('403 FIELD_PROTECTED in bulk names each field with its index, and no document is stored', async () => {
    const bodies = [{ title: 'bulk' }, { title: 'bulk', price: 1 }, { title: 'bulk', meta: { score: 1 }, tags: [] }];
    const answer = await api<{ errors: unknown }>('POST', 'owned/bulk', ann, bodies);
    expect(answer).toMatchObject({ status: 403, body: { code: 'FIELD_PROTECTED' } });
    expect(answer.body.errors).toMatchObject([
      { index: 1, field: 'price' },
      { index: 2, field: 'meta.score' },
      { index: 2, field: 'tags' },
    ]);
    const { body } = await api<{ data: { count: number } }>('GET', 'owned?title=bulk&count=true', secret());
    expect(body.data.count).toBe(0);
  });

  test('sets every field with the secret key', async () => {
    expect(await stored(await made())).toMatchObject({ price: 9, grade: 7, meta: { score: 3, label: 'l' } });
  });

  test('403 FIELD_PROTECTED comes after body errors and before the create rule', async () => {
    expect(await api('POST', 'narrow', ann, { price: 1, title: 2 })).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED' },
    });
    isRefused(await api('POST', 'narrow', ann, { price: 1, title: 'x' }), 'price');
    expect(await api('POST', 'narrow', ann, { title: 'x' })).toMatchObject({
      status: 403,
      body: { code: 'RULE_DENIED' },
    });
    expect(await api('POST', 'narrow', ann, { price: 1, userId: 'f'.repeat(24) })).toMatchObject({
      status: 403,
      body: { code: 'NOT_OWNER' },
    });
  });
});

describe('an update', () => {
  const refused: readonly (readonly [string, object, readonly string[]])[] = [
    ['a field of the server', { price: 1 }, ['price']],
    ['null in its place', { price: null }, ['price']],
    ['a set once-only field', { sku: 'other' }, ['sku']],
    ['null in the place of a set once-only field', { sku: null }, ['sku']],
    ['a dotted path', { 'meta.score': 1 }, ['meta.score']],
    ['a dotted path at the third level', { 'meta.deep.b': 'x' }, ['meta.deep.b']],
    ['an object with another value inside', { meta: { score: 1 } }, ['meta.score']],
    ['an object with null inside', { meta: { score: null } }, ['meta.score']],
    [
      'several in one object',
      { meta: { score: 1, origin: 'x', label: 'x' } },
      ['meta.score', 'meta.origin', 'meta.label'],
    ],
    ['an object inside an object', { 'meta.deep': { b: 'x' } }, ['meta.deep.b']],
    ['an element of an array', { 'tags.0': 'x' }, ['tags']],
    ['a field in an object of the server', { 'box.x': 'y' }, ['box']],
    ['a new field in an object of the server', { 'box.y': 'y' }, ['box']],
    ['an object of the server in other order and with more', { box: { x: '1', y: '2' } }, ['box']],
    ['an array in another order', { tags: ['b', 'a'] }, ['tags']],
    ['a rule that does not hold', { state: 'x' }, ['state']],
    ['a counter raised by two', { votes: 3 }, ['votes']],
    ['the stored value of a field that the caller may not read', { grade: 7 }, ['grade']],
    ['another value of it', { grade: 8 }, ['grade']],
    ['a part of an unreadable field', { 'vault.x': 'y' }, ['vault']],
    ['an array whose elements have an unreadable field', { lines: [{ name: 'x' }] }, ['lines.cost']],
  ];

  test.each(refused)('403 FIELD_PROTECTED for %s', async (_title, body, fields) => {
    for (const [name, method] of [
      ['owned', 'PATCH'],
      ['ruled', 'PUT'],
    ] as const) {
      const id = await made(name);
      const before = await stored(id, name);
      isRefused(await api(method, `${name}/${id}`, ann, { title: 'changed', ...body }), ...fields);
      expect(await stored(id, name)).toEqual(before);
    }
  });

  test('a complete document sent back is accepted when its protected fields are unchanged', async () => {
    const id = await made();
    const { body } = await api<Doc>('GET', `owned/${id}`, ann);
    const { secret: _secret, grade: _grade, vault: _vault, lines: _lines, ...seen } = body;
    const { hidden: _hidden, ...meta } = seen.meta as Record<string, unknown>;
    const answer = await api('PUT', `owned/${id}`, ann, { ...seen, meta, title: 'again' });
    expect(answer).toMatchObject({ status: 200, body: { data: { title: 'again', price: 9 } } });
    expect(await stored(id)).toMatchObject({ ...full, title: 'again' });
  });

  test.each<[string, object, object]>([
    ['an object without them', { meta: { note: 'new' } }, { meta: { ...full.meta, note: 'new', deep: { b: '2' } } }],
    ['null', { meta: null }, { meta: { score: 3, origin: 'o', label: 'l', hidden: 'h', deep: { b: '2' } } }],
    ['an empty object', { meta: {} }, { meta: { score: 3, origin: 'o', label: 'l', hidden: 'h', deep: { b: '2' } } }],
    ['null in an inner object', { 'meta.deep': null }, { meta: { ...full.meta, deep: { b: '2' } } }],
    ['the stored values', { meta: { ...full.meta, note: 'x' } }, { meta: { ...full.meta, note: 'x' } }],
    [
      'another value of an unreadable field that everyone may set',
      { meta: { hidden: 'mine' } },
      { meta: { score: 3, origin: 'o', label: 'l', hidden: 'mine', deep: { b: '2' } } },
    ],
  ])('an object replaced by %s keeps its protected fields', async (_title, body, expected) => {
    for (const name of ['owned', 'ruled']) {
      const id = await made(name);
      expect(await api('PATCH', `${name}/${id}`, ann, body)).toMatchObject({ status: 200 });
      const { _id, createdAt: _created, updatedAt: _updated, ...rest } = await stored(id, name);
      expect(rest).toEqual({ ...full, userId: annId, isDeleted: false, deletedAt: null, ...expected });
    }
  });

  test.each<[string, object]>([
    ['an unprotected field', { title: 'x' }],
    ['the stored value', { price: 9, sku: 's', tags: ['a', 'b'], box: { x: '1' } }],
    ['a stored date in another form', { due: '2026-01-31T00:00:00Z' }],
    ['a stored id', { other: 'a'.repeat(24) }],
    ['a field that a rule allows', { votes: 2 }],
    ['a plain value of an unreadable field', { secret: 'x', vault: { x: 'y' } }],
    ['a field of an element next to an unreadable one', { 'lines.0.name': 'x' }],
    ['a dotted path next to a protected field', { 'meta.note': 'x' }],
    ['write: true', { open: 'x' }],
  ])('writes %s', async (_title, body) => {
    const id = await made();
    expect(await api('PATCH', `owned/${id}`, ann, body)).toMatchObject({ status: 200 });
  });

  test('an update of an element keeps the fields that the caller may not read', async () => {
    const id = await made();
    expect(await api('PATCH', `owned/${id}`, ann, { 'lines.0': { name: 'x' } })).toMatchObject({ status: 200 });
    expect(await stored(id)).toMatchObject({ lines: [{ name: 'x', cost: 'c' }] });
  });

  test('a rule is checked before and after: an editor sets a document’s state', async () => {
    const id = await made('ruled');
    expect(await api('PATCH', `ruled/${id}`, boss, { state: 'done', 'meta.label': 'x' })).toMatchObject({
      status: 200,
    });
    expect(await stored(id, 'ruled')).toMatchObject({ state: 'done', meta: { label: 'x', score: 3 } });
  });

  test('a once-only field is set by exactly one of 50 callers', async () => {
    const { sku: _sku, ...rest } = full;
    const id = await made('owned', rest);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => api('PATCH', `owned/${id}`, ann, { sku: `sku-${index}` })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.every(({ status }) => [200, 403].includes(status))).toBe(true);
    expect(answers.findIndex(({ status }) => status === 200)).toBe(
      Number(String((await stored(id)).sku).replace('sku-', '')),
    );
  });

  test('errors come in order: NOT_OWNER, OWNER_IMMUTABLE, FIELD_PROTECTED, the rule, If-Match', async () => {
    const id = await made('narrow');
    const update = (who: RequestOptions, body: object, more: RequestOptions = {}) =>
      api('PATCH', `narrow/${id}`, { ...who, ...more }, body);
    expect(await update(boss, { price: 1 })).toMatchObject({ status: 404 });
    expect(await update(ann, { price: 1, userId: 'f'.repeat(24) })).toMatchObject({
      body: { code: 'OWNER_IMMUTABLE' },
    });
    isRefused(await update(ann, { price: 1, title: 'refused' }, { headers: { 'if-match': '"99"' } }), 'price');
    expect(await update(ann, { price: 9, title: 'refused' }, { headers: { 'if-match': '"99"' } })).toMatchObject({
      body: { code: 'RULE_DENIED' },
    });
    expect(await update(ann, { price: 9, title: 'x' }, { headers: { 'if-match': '"99"' } })).toMatchObject({
      status: 412,
    });
    expect(await update(ann, { price: 9, title: 'x' }, { headers: { 'if-match': '"1"' } })).toMatchObject({
      status: 200,
    });
    const owned = await made();
    expect(await api('PATCH', `owned/${owned}`, boss, { price: 1 })).toMatchObject({ body: { code: 'NOT_OWNER' } });
    await api('DELETE', `owned/${owned}`, ann);
    expect(await api('PATCH', `owned/${owned}`, ann, { price: 1 })).toMatchObject({ status: 404 });
  });

  test('sets every field with the secret key', async () => {
    const id = await made();
    const body = { price: 1, meta: { score: 1 }, grade: 1, sku: 'x', tags: [] };
    expect(await api('PATCH', `owned/${id}`, secret(), body)).toMatchObject({ status: 200 });
    expect(await stored(id)).toMatchObject(body);
  });
});

describe('users', () => {
  const credentials = () => ({ email: `p${Math.random()}@example.com`, password: 'long enough 1' });

  test.each<[string, object, readonly string[]]>([
    ['a field of the server', { role: 'editor' }, ['role']],
    ['its default', { role: 'reader' }, ['role']],
    ['a nested field', { limits: { posts: 9 } }, ['limits.posts']],
    ['a dotted name', { 'limits.posts': 9 }, ['limits.posts']],
    ['a rule that needs a user', { rank: 'x' }, ['rank']],
    ['a rule about the profile that does not hold', { plan: 'paid' }, ['plan']],
    ['a field that only the server reads', { pin: '1' }, ['pin']],
  ])('403 FIELD_PROTECTED at sign-up for %s', async (_title, body, fields) => {
    isRefused(await project.signUp({ ...credentials(), ...body }), ...fields);
  });

  test('a sign-up sets once-only fields, and fields that a rule allows', async () => {
    const answer = await project.signUp({ ...credentials(), handle: 'h', plan: 'free', limits: { theme: 'dark' } });
    expect(answer).toMatchObject({ status: 201, body: { user: { handle: 'h', plan: 'free', role: 'reader' } } });
  });

  test('403 FIELD_PROTECTED in the profile, unless the value is unchanged', async () => {
    const signed = await project.signUp({ ...credentials(), handle: 'h' });
    const token = String(signed.body.accessToken);
    const change = (body: object) => project.auth('PUT', 'update-profile', { token, body });
    for (const [body, ...fields] of [
      [{ role: 'editor' }, 'role'],
      [{ handle: 'other' }, 'handle'],
      [{ 'limits.posts': 1 }, 'limits.posts'],
      [{ limits: { posts: 1 } }, 'limits.posts'],
      [{ rank: 'x', name: 'n' }, 'rank'],
      [{ plan: 'paid' }, 'plan'],
      [{ pin: null }, 'pin'],
    ] as const) {
      isRefused(await change(body), ...fields);
    }
    expect(await change({ name: 'n', role: 'reader', handle: 'h' })).toMatchObject({ status: 200 });
    expect(await change({ plan: 'free', limits: { theme: 'x' } })).toMatchObject({
      status: 200,
      body: { user: { plan: 'free', limits: { theme: 'x' } } },
    });
  });

  test('a replaced object of the profile keeps its server-only fields', async () => {
    const { accessToken: token, userId } = await project.newUser();
    const path = `/api/projects/${project.id}/users/${userId}`;
    await project.developer.dashboard('PATCH', path, { limits: { posts: 7, theme: 'a' } });
    for (const limits of [{ theme: 'b' }, null, { posts: 7 }]) {
      expect(await project.auth('PUT', 'update-profile', { token, body: { limits } })).toMatchObject({
        status: 200,
        body: { user: { limits: { posts: 7 } } },
      });
    }
  });
});

describe('trying a rule', () => {
  test.each<[object, number, string | undefined]>([
    [{ operation: 'create', document: { title: 't', price: 1 } }, 403, 'FIELD_PROTECTED'],
    [{ operation: 'create', document: { title: 't' } }, 201, undefined],
    [{ operation: 'update', changes: { 'meta.score': 1 } }, 403, 'FIELD_PROTECTED'],
    [{ operation: 'update', changes: { price: 9 } }, 200, undefined],
  ])('%j returns what the real request returns', async (trial, status, code) => {
    for (const name of ['owned', 'ruled']) {
      const documentId = 'changes' in trial ? await made(name) : undefined;
      const answer = await project.developer.dashboard<{ data: object }>(
        'POST',
        `/api/projects/${project.id}/collections/${name}/rules/try`,
        { userId: annId, ...(documentId && { documentId }), ...trial },
      );
      expect(answer.body.data).toMatchObject({ allowed: status < 300, status, ...(code && { code }) });
    }
  });
});
