import { beforeAll, describe, expect, test } from 'vitest';
import { inParallel, type RequestOptions, tally } from '../../support/clients/client.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

const annId = '5a'.repeat(12);
const bobId = '5b'.repeat(12);
const ifFree = { 'if-none-match': '*' };
const everyone = { list: true, get: true };

let project: TestProject;

beforeAll(async () => {
  project = await newProject([
    { name: 'notes' },
    { name: 'typed', schema: [{ key: 'title', type: 'String', required: true, unique: true }] },
    { name: 'fed', changes: true },
    { name: 'todos', schema: [{ key: 'code', type: 'String' }], rls: { enabled: true, mode: 'private' } },
    { name: 'posts', rls: { enabled: true, mode: 'public-read' } },
    { name: 'inside', rls: { enabled: true, mode: 'signed-in' } },
    {
      name: 'profiles',
      schema: [{ key: 'name', type: 'String' }],
      rls: {
        enabled: true,
        mode: 'rules',
        ownerField: null,
        rules: { read: everyone, create: { _id: { $user: '_id' } }, update: false, delete: false },
      },
    },
    {
      name: 'drops',
      schema: [{ key: 'name', type: 'String' }],
      rls: { enabled: true, mode: 'rules', ownerField: null, rules: { read: false, create: true } },
    },
  ]);
});

interface Body {
  readonly data?: Readonly<Record<string, unknown>>;
  readonly code?: string;
  readonly errors?: readonly { readonly field: string }[];
}

let last = 0;
const freshId = (ahead = 0): string =>
  (Math.floor(Date.now() / 1000) + ahead).toString(16).padStart(8, '0') + (++last).toString(16).padStart(16, '0');
const put = (name: string, id: string, body: object, options: RequestOptions = {}) =>
  project.api<Body>('PUT', `/api/data/${name}/${id}`, { ...options, headers: { ...ifFree, ...options.headers }, body });
const get = (name: string, id: string, options: RequestOptions = {}) =>
  project.api<Record<string, unknown>>('GET', `/api/data/${name}/${id}`, options);
const remove = (name: string, id: string, query = '', options: RequestOptions = {}) =>
  project.api('DELETE', `/api/data/${name}/${id}${query}`, options);
const as = async (userId: string): Promise<RequestOptions> => ({
  key: project.publishableKey,
  token: await project.tokenFor(userId),
});
const exists = { status: 412, body: { success: false, code: 'DOCUMENT_EXISTS' } };

describe('PUT with If-None-Match: *', () => {
  test('201 with the document, its system fields and revision 1, as an insert stores it', async () => {
    const id = freshId();
    const answer = await put('notes', id, { n: 1, _id: 'other', isDeleted: true });
    expect(answer).toMatchObject({ status: 201, body: { success: true, message: 'Created', data: { _id: id, n: 1 } } });
    expect(answer.headers.get('etag')).toBe('"1"');
    expect(Object.keys(answer.body.data ?? {})).toEqual([
      '_id',
      'n',
      'isDeleted',
      'deletedAt',
      'createdAt',
      'updatedAt',
    ]);
    expect((await get('notes', id)).body).toEqual(answer.body.data);
  });

  test('412 DOCUMENT_EXISTS with the stored document and its ETag; the document does not change', async () => {
    const id = freshId();
    await put('notes', id, { n: 1 });
    await project.api('PATCH', `/api/data/notes/${id}`, { body: { n: 2 } });
    const answer = await put('notes', id, { n: 3 });
    expect(answer).toMatchObject(exists);
    expect([answer.body.data, answer.headers.get('etag')]).toEqual([(await get('notes', id)).body, '"2"']);
  });

  test('exactly one of 50 requests for one id gets 201, and its document is stored', async () => {
    for (const name of ['notes', 'fed', 'todos']) {
      const id = freshId();
      const caller = name === 'todos' ? await as(annId) : {};
      const answers = await inParallel(50, (n) => put(name, id, { n, code: `${n}` }, caller));
      expect(tally(answers)).toEqual({ 201: 1, 412: 49 });
      const won = answers.find(({ status }) => status === 201);
      expect((await get(name, id, caller)).body).toEqual(won?.body.data);
    }
  });

  test('412 DOCUMENT_EXISTS without data for a document in the trash', async () => {
    const id = freshId();
    await put('notes', id, { n: 1 });
    await remove('notes', id);
    const answer = await put('notes', id, { n: 2 });
    expect(answer).toMatchObject(exists);
    expect([answer.body.data, answer.headers.get('etag')]).toEqual([undefined, null]);
  });

  test('201 after a permanent deletion, 412 DOCUMENT_EXISTS while the changes feed keeps its tombstone', async () => {
    const [forgotten, remembered] = [freshId(), freshId()];
    for (const [name, id] of [['notes', forgotten] as const, ['fed', remembered] as const]) {
      expect((await put(name, id, { n: 1 })).status).toBe(201);
      await remove(name, id, '?permanent=true');
    }
    expect((await put('notes', forgotten, { n: 2 })).status).toBe(201);
    const answer = await put('fed', remembered, { n: 2 });
    expect(answer).toMatchObject(exists);
    expect(answer.body.data).toBeUndefined();
  });

  test('the changes feed shows the document with revision 1', async () => {
    const start = (await project.api<{ data: { next: string } }>('GET', '/api/data/fed/changes')).body.data.next;
    const id = freshId();
    await put('fed', id, { n: 7 });
    const { body } = await project.api<{ data: { changes: unknown[] } }>(
      'GET',
      `/api/data/fed/changes?since=${encodeURIComponent(start)}`,
    );
    expect(body.data.changes).toContainEqual(
      expect.objectContaining({ _id: id, rev: 1, document: expect.objectContaining({ n: 7 }) }),
    );
  });

  test.each([
    ['upper case', 'A'.repeat(24)],
    ['too short', 'a'.repeat(23)],
    ['not hexadecimal', 'z'.repeat(24)],
  ])('400 INVALID_ID for an id that is %s', async (_what, id) => {
    expect(await put('notes', id, { n: 1 })).toMatchObject({ status: 400, body: { code: 'INVALID_ID' } });
  });

  test('400 INVALID_ID for a time more than a day ahead, 201 for one less than a day ahead', async () => {
    expect(await put('notes', freshId(86_400 + 60), {})).toMatchObject({ status: 400, body: { code: 'INVALID_ID' } });
    expect((await put('notes', freshId(86_400 - 60), {})).status).toBe(201);
  });

  test.each([
    ['another value of If-None-Match', { 'if-none-match': '"1"' }, 'if-none-match'],
    ['If-Match as well', { 'if-match': '"1"' }, 'if-match'],
    ['If-Match: * as well', { 'if-match': '*' }, 'if-match'],
  ])('400 VALIDATION_FAILED for %s', async (_what, headers, field) => {
    const id = freshId();
    const refused = { status: 400, body: { code: 'VALIDATION_FAILED', errors: [{ field }] } };
    expect(await put('notes', id, {}, { headers })).toMatchObject(refused);
    expect((await get('notes', id)).status).toBe(404);
  });

  test('PATCH ignores If-None-Match', async () => {
    const options = { headers: ifFree, body: { n: 1 } };
    expect(await project.api('PATCH', `/api/data/notes/${freshId()}`, options)).toMatchObject({
      status: 404,
      body: { code: 'DOCUMENT_NOT_FOUND' },
    });
  });

  test('400 VALIDATION_FAILED, 409 DUPLICATE_VALUE and 412 DOCUMENT_EXISTS depending on the schema and the id', async () => {
    const [id, other] = [freshId(), freshId()];
    expect(await put('typed', id, {})).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
    expect((await put('typed', id, { title: 'a' })).status).toBe(201);
    expect(await put('typed', other, { title: 'a' })).toMatchObject({
      status: 409,
      body: { code: 'DUPLICATE_VALUE', errors: [{ field: 'title' }] },
    });
    expect(await put('typed', id, { title: 'a' })).toMatchObject(exists);
  });

  test('an Idempotency-Key replays the 201 and is bound to a request with If-None-Match', async () => {
    const id = freshId();
    const headers = { 'idempotency-key': `client-ids-${id}` };
    const first = await put('notes', id, { n: 1 }, { headers });
    const again = await put('notes', id, { n: 1 }, { headers });
    expect([first.status, again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 201, 'true']);
    expect(again.body).toEqual(first.body);
    const update = await project.api('PUT', `/api/data/notes/${id}`, { headers, body: { n: 1 } });
    expect(update).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_KEY_REUSED' } });
  });
});

describe('an insert with a client’s id needs the rights of an insert', () => {
  test('401 TOKEN_MISSING and 403 RLS_REQUIRED without these rights, also for an existing id', async () => {
    const id = freshId();
    await put('notes', id, {});
    const key = project.publishableKey;
    expect(await put('notes', id, {}, { key })).toMatchObject({ status: 403, body: { code: 'RLS_REQUIRED' } });
    for (const name of ['todos', 'posts', 'inside']) {
      expect(await put(name, freshId(), {}, { key })).toMatchObject({ status: 401, body: { code: 'TOKEN_MISSING' } });
    }
  });

  test.each(['todos', 'posts', 'inside'])(
    '201 owned by the caller, 403 NOT_OWNER for another owner, in %s',
    async (name) => {
      const ann = await as(annId);
      const made = await put(name, freshId(), { code: 'x' }, ann);
      expect(made).toMatchObject({ status: 201, body: { data: { userId: annId } } });
      const other = await put(name, freshId(), { userId: bobId }, ann);
      expect(other).toMatchObject({ status: 403, body: { code: 'NOT_OWNER' } });
    },
  );

  test('412 DOCUMENT_EXISTS without data for another user’s private document, with data when all may read it', async () => {
    const [ann, bob] = [await as(annId), await as(bobId)];
    const shown: Record<string, unknown> = {};
    for (const name of ['todos', 'posts', 'inside']) {
      const id = freshId();
      await put(name, id, { code: 'secret' }, ann);
      const answer = await put(name, id, { code: 'probe' }, bob);
      expect(answer).toMatchObject(exists);
      shown[name] = [answer.body.data?.code, answer.headers.get('etag')];
    }
    expect(shown).toEqual({ todos: [undefined, null], posts: ['secret', '"1"'], inside: ['secret', '"1"'] });
  });

  test('429 RATE_LIMITED after a user tried 20 ids of hidden documents, but not for the user’s own ids', async () => {
    const [ann, carol] = [await as(annId), await as('5c'.repeat(12))];
    const [hidden, own] = [freshId(), freshId()];
    await put('todos', hidden, {}, ann);
    await put('todos', own, {}, carol);
    expect(tally(await inParallel(50, () => put('todos', own, {}, carol)))).toEqual({ 412: 50 });
    expect(tally(await inParallel(50, () => put('todos', hidden, {}, carol)))).toEqual({ 412: 20, 429: 30 });
  });

  test('a create rule that compares _id lets users insert only under their own id', async () => {
    const ann = await as(annId);
    expect(await put('profiles', bobId, { name: 'Eve' }, ann)).toMatchObject({
      status: 403,
      body: { code: 'RULE_DENIED' },
    });
    expect(await put('profiles', annId, { name: 'Ann' }, ann)).toMatchObject({
      status: 201,
      body: { data: { _id: annId } },
    });
    expect(await put('profiles', annId, { name: 'Ann' }, ann)).toMatchObject({
      ...exists,
      body: { data: { name: 'Ann' } },
    });
  });

  test('412 DOCUMENT_EXISTS without data when the get rule hides the document; the 201 contains only its id', async () => {
    const id = freshId();
    const ann = await as(annId);
    expect((await put('drops', id, { name: 'Ann' }, ann)).body.data).toEqual({ _id: id });
    const answer = await put('drops', id, { name: 'Ann' }, ann);
    expect(answer).toMatchObject(exists);
    expect([answer.body.data, answer.headers.get('etag')]).toEqual([undefined, null]);
  });

  test('403 USERS_RESERVED for users', async () => {
    expect(await put('users', freshId(), {})).toMatchObject({ status: 403, body: { code: 'USERS_RESERVED' } });
  });
});
