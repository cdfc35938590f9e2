import { beforeAll, describe, expect, inject, test } from 'vitest';
import { call, inParallel, tally } from '../../support/clients/client.ts';
import { everyType, notes, people, todos } from '../../support/fixtures/collections.ts';
import { newDeveloper, newProject, type TestProject } from '../../support/fixtures/project.ts';

interface DocumentBody {
  readonly data: Record<string, unknown> & { readonly _id: string };
}

const missing = 'f'.repeat(24);
let project: TestProject;

beforeAll(async () => {
  project = await newProject([everyType, people, notes, todos]);
});

const path = (collection: string, rest = '') =>
  `/api/projects/${project.id}/collections/${collection}/documents${rest}`;
const dashboard = <Body = DocumentBody>(method: string, collection: string, rest = '', body?: unknown) =>
  project.developer.dashboard<Body>(method, path(collection, rest), body);
const add = async (collection: string, body: unknown): Promise<string> =>
  (await dashboard('POST', collection, '', body)).body.data._id;

describe('the data browser', () => {
  test('201 for a new document with its defaults, which the data API returns too', async () => {
    const answer = await dashboard('POST', 'posts', '', { title: 'Basalt', publishedAt: '2026-01-02' });
    expect(answer).toMatchObject({ status: 201, body: { success: true, message: 'Document created' } });
    expect(answer.body.data).toMatchObject({ title: 'Basalt', views: 0, isDeleted: false, deletedAt: null });
    const { _id } = answer.body.data;
    expect((await project.api('GET', `/api/data/posts/${_id}`)).body).toEqual(answer.body.data);
    expect(await dashboard('GET', 'posts', `/${_id}`)).toMatchObject({
      status: 200,
      body: { success: true, data: answer.body.data, message: 'Document fetched' },
    });
  });

  test('200 for a list with every option of the data API', async () => {
    for (let n = 0; n < 5; n++) await add('notes', { n, tag: 'list' });
    for (const query of [
      '?tag=list&sort=-n&limit=2&page=2',
      '?tag=list&sort=n&limit=2&cursor=',
      '?tag=list&n_gte=3&count=true',
      '?tag=list&fields=n&meta=false',
      '?tag=list&limit=1000&include_deleted=true',
    ]) {
      const { data } = (await project.api('GET', `/api/data/notes${query}`)).body;
      expect(data).not.toBeUndefined();
      expect(await dashboard('GET', 'notes', query)).toMatchObject({ status: 200, body: { success: true, data } });
    }
  });

  test('200 for the changes feed with the secret key’s rights, and 409 CHANGES_NOT_ENABLED without a feed', async () => {
    await project.addCollection({ name: 'fed', changes: true, rls: { enabled: true, mode: 'private' } });
    const at = `/api/projects/${project.id}/collections/`;
    const changes = (rest: string) =>
      project.developer.dashboard<{ data: { changes: object[]; next: string } }>('GET', `${at}${rest}`);
    const since = (await changes('fed/changes')).body.data.next;
    const id = await add('fed', { n: 1 });
    const page = await changes(`fed/changes?since=${since}&wait=1`);
    expect(page).toMatchObject({ status: 200, body: { message: 'Changes fetched', data: { changes: [{ _id: id }] } } });
    const theirs = await project.api('GET', `/api/data/fed/changes?since=${page.body.data.next}`);
    expect(theirs).toMatchObject({ status: 200, body: { data: { changes: [], more: false } } });
    expect(await changes('notes/changes')).toMatchObject({ status: 409, body: { code: 'CHANGES_NOT_ENABLED' } });
    expect(await changes('fed/changes?wait=21')).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY' } });
    expect(await changes('users/changes')).toMatchObject({ status: 403, body: { code: 'USERS_RESERVED' } });
  });

  test('400 RESULT_TOO_LARGE for a numbered page that would be cut; a cursor continues', async () => {
    for (let n = 0; n < 6; n += 1) await add('notes', { tag: 'large', text: 'x'.repeat(1_000_000) });
    expect(await dashboard('GET', 'notes', '?tag=large&page=1&limit=6')).toMatchObject({
      status: 400,
      body: { code: 'RESULT_TOO_LARGE' },
    });
    expect(await dashboard('GET', 'notes', '?tag=large&cursor=')).toMatchObject({
      status: 200,
      body: { data: { truncated: true, nextCursor: expect.any(String) } },
    });
  });

  test('200 with populated references, in lists and single documents', async () => {
    const author = await add('people', { name: 'Ada' });
    const id = await add('posts', { title: 'By Ada', author });
    const populated = { data: { author: { _id: author, name: 'Ada' } } };
    expect((await dashboard('GET', 'posts', `/${id}?populate=author`)).body).toMatchObject(populated);
    const list = await dashboard<{ data: { items: unknown[] } }>('GET', 'posts', '?title=By Ada&expand=author');
    expect(list.body.data.items).toMatchObject([populated.data]);
  });

  test.each(['PUT', 'PATCH'])('200 for %s, dotted paths included', async (method) => {
    const id = await add('notes', { a: 1, b: { c: 1, d: 1 } });
    expect(await dashboard(method, 'notes', `/${id}`, { 'b.c': 2 })).toMatchObject({
      status: 200,
      body: { success: true, data: { _id: id, a: 1, b: { c: 2, d: 1 } }, message: 'Updated' },
    });
  });

  test('200 for a move to the trash, a recovery, and permanent=true', async () => {
    const id = await add('notes', { a: 1 });
    expect(await dashboard('DELETE', 'notes', `/${id}`)).toMatchObject({
      status: 200,
      body: { data: { id }, message: 'Document moved to trash' },
    });
    expect((await dashboard('GET', 'notes', `/${id}`)).status).toBe(404);
    expect((await dashboard('GET', 'notes', `/${id}?include_deleted=true`)).status).toBe(200);
    const restore = `/api/projects/${project.id}/collections/notes/trash/${id}/restore`;
    expect((await project.developer.dashboard('POST', restore)).status).toBe(200);
    expect(await dashboard('DELETE', 'notes', `/${id}?permanent=true`)).toMatchObject({
      status: 200,
      body: { data: { id }, message: 'Document permanently deleted' },
    });
    expect((await dashboard('GET', 'notes', `/${id}?include_deleted=true`)).status).toBe(404);
  });

  test('200 for documents of a private collection, with any owner or without one', async () => {
    const id = await add('todos', { task: 'whose?', userId: 'a'.repeat(24) });
    expect((await dashboard('GET', 'todos', `/${id}`)).status).toBe(200);
    expect((await dashboard('PATCH', 'todos', `/${id}`, { done: true })).status).toBe(200);
    expect((await dashboard('POST', 'todos', '', { task: 'nobody’s' })).status).toBe(201);
  });

  test('200 for exactly one of 50 concurrent deletions', async () => {
    const id = await add('notes', { a: 1 });
    const answers = await inParallel(50, () => dashboard('DELETE', 'notes', `/${id}?permanent=true`));
    expect(tally(answers)).toEqual({ 200: 1, 404: 49 });
  });

  test('409: one of 50 equal unique values is stored when they are sent concurrently', async () => {
    const body = { title: 'a', slug: 'once' };
    expect(tally(await inParallel(50, () => dashboard('POST', 'posts', '', body)))).toEqual({ 201: 1, 409: 49 });
  });
});

describe('rejects like the API with the secret key', () => {
  const cases: readonly (readonly [string, string, string, string, object | undefined])[] = [
    ['a required field that is missing', 'POST', 'posts', '', {}],
    ['values of wrong types', 'POST', 'posts', '', { title: 1, views: 'x', meta: {}, tags: [1] }],
    ['a name with a dot', 'POST', 'notes', '', { 'a.b': 1 }],
    ['a body that is a list', 'POST', 'notes', '', []],
    ['a malformed id', 'GET', 'notes', '/x', undefined],
    ['an unknown document', 'GET', 'notes', `/${missing}`, undefined],
    ['a change of nothing', 'PATCH', 'notes', `/${missing}`, { _id: 'x' }],
    ['a change of an unknown document', 'PUT', 'notes', `/${missing}`, { a: 1 }],
    ['a required field set to null', 'PATCH', 'posts', `/${missing}`, { title: null }],
    ['permanent that is not a boolean', 'DELETE', 'notes', `/${missing}?permanent=1`, undefined],
    ['an impossible limit', 'GET', 'notes', '?limit=x', undefined],
    ['a filter of the wrong type', 'GET', 'posts', '?views=x', undefined],
    ['a filter by deletedAt', 'GET', 'notes', '?deletedAt=2026-01-01', undefined],
    ['a malformed cursor', 'GET', 'notes', '?cursor=x', undefined],
    ['an unknown collection', 'GET', 'nothing', '', undefined],
  ];
  test.each(cases)('%s', async (_what, method, collection, rest, body) => {
    const options = body === undefined ? {} : { body };
    const theirs = await project.api(method, `/api/data/${collection}${rest}`, options);
    expect(theirs.status).toBeGreaterThanOrEqual(400);
    const { requestId: _id, ...refusal } = theirs.body;
    expect(await dashboard(method, collection, rest, body)).toMatchObject({ status: theirs.status, body: refusal });
  });
});

const routes = [
  ['GET', '', undefined],
  ['POST', '', { a: 1 }],
  ['GET', `/${missing}`, undefined],
  ['PUT', `/${missing}`, { a: 1 }],
  ['PATCH', `/${missing}`, { a: 1 }],
  ['DELETE', `/${missing}`, undefined],
] as const;

describe.each(routes)('%s …/documents%s', (method, rest, body) => {
  test.each(['users', 'Users', 'usersX', '%75sers'])('403 USERS_RESERVED for %s', async (collection) => {
    expect(await dashboard(method, collection, rest, body)).toMatchObject({
      status: 403,
      body: { code: 'USERS_RESERVED' },
    });
  });

  test('404 for the project of another developer', async () => {
    const id = await add('notes', { a: 'mine' });
    const stranger = await newDeveloper();
    expect(await stranger.dashboard(method, path('notes', rest).replace(missing, id), body)).toMatchObject({
      status: 404,
      body: { code: 'PROJECT_NOT_FOUND' },
    });
    expect((await dashboard('GET', 'notes', `/${id}`)).body.data).toMatchObject({ a: 'mine' });
  });

  test('401 without a token, and with the secret key of the project', async () => {
    const base = inject('stack').dashboardUrl;
    const options = { key: project.secretKey, ...(body === undefined ? {} : { body }) };
    expect(await call(base, method, path('notes', rest), options)).toMatchObject({
      status: 401,
      body: { code: 'TOKEN_MISSING' },
    });
  });
});
