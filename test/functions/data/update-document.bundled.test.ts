import { beforeAll, describe, expect, test } from 'vitest';
import { inParallel, tally } from '../../support/clients/client.ts';
import { everyType, notes, people } from '../../support/fixtures/collections.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

const dateForm = ' in ISO 8601, such as 2026-01-31 or 2026-01-31T09:30:00Z';
const refForm = ', the _id of a document: 24 hexadecimal characters';

let project: TestProject;
const missing = 'f'.repeat(24);

beforeAll(async () => {
  project = await newProject([everyType, people, notes]);
});

const create = async (collection: string, body: unknown): Promise<string> =>
  (await project.api<{ _id: string }>('POST', `/api/data/${collection}`, { body })).body._id;

const update = (collection: string, id: string, body: unknown, method = 'PATCH') =>
  project.api<{ data: Record<string, unknown>; message: string; code: string }>(
    method,
    `/api/data/${collection}/${id}`,
    {
      body,
    },
  );

describe.each(['PUT', 'PATCH'])('%s', (method) => {
  test('200 with the updated document; only the supplied fields change', async () => {
    const id = await create('notes', { a: 1, b: { c: 2, d: 3 } });
    const answer = await update('notes', id, { a: 2 }, method);
    expect(answer).toMatchObject({ status: 200, body: { success: true, message: 'Updated' } });
    expect(answer.body.data).toMatchObject({ _id: id, a: 2, b: { c: 2, d: 3 }, isDeleted: false, deletedAt: null });
    const { createdAt, updatedAt } = answer.body.data as { createdAt: string; updatedAt: string };
    expect(Date.parse(updatedAt)).toBeGreaterThanOrEqual(Date.parse(createdAt));
  });

  test('200 with dot notation; siblings stay', async () => {
    const id = await create('notes', { meta: { views: 1, likes: 2 }, list: [{ a: 1 }, { a: 2 }] });
    const answer = await update('notes', id, { 'meta.views': 9, 'list.1.a': 7, 'new.path': true }, method);
    expect(answer.body.data).toMatchObject({
      meta: { views: 9, likes: 2 },
      list: [{ a: 1 }, { a: 7 }],
      new: { path: true },
    });
  });
});

describe('updating', () => {
  test('200 when an object replaces the old one', async () => {
    const id = await create('notes', { meta: { views: 1, likes: 2 } });
    expect((await update('notes', id, { meta: { views: 3 } })).body.data.meta).toEqual({ views: 3 });
  });

  test('400 INVALID_UPDATE for tags.00 when the field is an array without a schema, 200 when it is an object', async () => {
    const id = await create('notes', { tags: ['a', 'b'], months: { '01': 1 } });
    expect(await update('notes', id, { 'tags.00': 'x' })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_UPDATE' },
    });
    const { body } = await update('notes', id, { 'months.01': 2 });
    expect(body.data).toMatchObject({ tags: ['a', 'b'], months: { '01': 2 } });
  });

  test('200 without a change of service-only fields', async () => {
    const id = await create('notes', { a: 1 });
    const answer = await update('notes', id, {
      a: 2,
      _id: missing,
      isDeleted: true,
      deletedAt: '2020-01-01',
      createdAt: '2020-01-01',
      'deletedAt.x': 1,
      'isDeleted.y': true,
      $inc: { updatedAt: 5, _rev: 7 },
      $unset: ['createdAt', '_pos.x'],
    });
    expect(answer.body.data).toMatchObject({ _id: id, a: 2, isDeleted: false, deletedAt: null });
    expect(answer.body.data.createdAt).not.toMatch(/^2020/);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['nothing', {}, 'NOTHING_TO_UPDATE'],
    ['nothing but system fields', { _id: missing, $inc: { _rev: 1 } }, 'NOTHING_TO_UPDATE'],
    ['an unknown operator', { _id: missing, $rename: { a: 'b' } }, 'INVALID_UPDATE'],
    ['a path through a scalar', { 'a.b': 1 }, 'INVALID_UPDATE'],
    ['two paths that conflict', { 'meta.x': 1, meta: {} }, 'INVALID_UPDATE'],
    ['an empty path segment', { 'meta..x': 1 }, 'INVALID_UPDATE'],
    ['a positional operator', { 'list.$[].a': 1 }, 'INVALID_UPDATE'],
    ['a positional operator at the end', { 'list.$': 1 }, 'INVALID_UPDATE'],
    ['a name for an index of an array', { 'list.x': 1 }, 'INVALID_UPDATE'],
    ['a huge index of an array', { 'list.99999999': 1 }, 'INVALID_UPDATE'],
    ['a dot below the top level', { meta: { 'a.b': 1 } }, 'INVALID_BODY'],
  ])('400 with %s', async (_what, body, code) => {
    const id = await create('notes', { a: 1, meta: {}, list: [{ a: 1 }] });
    const answer = await update('notes', id, body);
    expect(answer).toMatchObject({ status: 400, body: { code } });
    expect(answer.body.message).not.toMatch(/Mongo|\$set|Cannot create field/);
  });

  test.each<[Record<string, unknown>, string]>([
    [{ title: null }, 'title is required'],
    [{ title: 5 }, 'title must be a String'],
    [{ views: { $inc: 1 } }, 'views must be a Number'],
    [{ 'meta.score': 'x' }, 'meta.score must be a Number'],
    [{ 'meta.source': null }, 'meta.source is required'],
    [{ meta: {} }, 'meta.source is required'],
    [{ 'tags.0': 5 }, 'tags.0 must be a String'],
    [{ 'comments.0.text': 5 }, 'comments.0.text must be a String'],
    [{ author: 'x' }, `author must be a Ref${refForm}`],
    [{ publishedAt: 'x' }, `publishedAt must be a Date${dateForm}`],
  ])('400 with %j against the schema', async (body, message) => {
    const id = await create('posts', { title: 't', meta: { source: 's' }, tags: ['a'], comments: [{ text: 'c' }] });
    expect(await update('posts', id, body)).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED', message: `Validation failed: ${message}` },
    });
  });

  test.each(['toString', 'hasOwnProperty', 'constructor', 'valueOf', 'plain'])(
    '200 with a list of objects in a field named %s, and reads return it unchanged',
    async (name) => {
      const id = await create('notes', { n: 1 });
      const list = [{ k: 1 }, [{ l: [{ m: 2 }] }], 'x'];
      const path = `/api/data/notes/${id}`;
      for (const headers of [{}, { 'if-match': '"2"' }]) {
        const answer = await project.api<{ data: object }>('PATCH', path, { body: { [name]: list }, headers });
        expect(answer).toMatchObject({ status: 200, body: { data: { [name]: list } } });
        expect(answer.body.data).toEqual((await project.api('GET', path)).body);
      }
      expect((await project.api('GET', path)).headers.get('etag')).toBe('"3"');
      await project.api('DELETE', path);
      expect(await project.api('PATCH', `${path}/recover`)).toMatchObject({ body: { data: { [name]: list } } });
    },
  );

  test('200 with dates and references stored as their types', async () => {
    const id = await create('posts', { title: 't', meta: { source: 's' } });
    await update('posts', id, { publishedAt: '2026-01-02', author: missing, 'meta.reviewer': missing });
    const found = await project.api<{ data: { total: number } }>(
      'GET',
      `/api/data/posts?publishedAt_gte=2026-01-02&author=${missing}&meta.reviewer=${missing}`,
    );
    expect(found.body.data.total).toBe(1);
  });

  test('409 when a unique value is taken', async () => {
    await create('posts', { title: 'a', slug: 'one' });
    const id = await create('posts', { title: 'b', slug: 'two' });
    expect(await update('posts', id, { slug: 'one' })).toMatchObject({
      status: 409,
      body: { code: 'DUPLICATE_VALUE', errors: [{ field: 'slug', message: 'slug already exists' }] },
    });
  });

  test('404 for a trashed, an unknown and another collection’s document', async () => {
    const id = await create('notes', { a: 1 });
    expect((await update('posts', id, { title: 'x' })).status).toBe(404);
    await project.api('DELETE', `/api/data/notes/${id}`);
    expect((await update('notes', id, { a: 2 })).status).toBe(404);
    expect((await update('notes', missing, { a: 2 })).status).toBe(404);
  });

  test('400 for a malformed id', async () => {
    expect(await update('notes', 'x', { a: 1 })).toMatchObject({ status: 400, body: { code: 'INVALID_ID' } });
  });

  test('413 when the document would exceed 4 MiB; the stored document does not change', async () => {
    const part = 'x'.repeat(1000 * 1024);
    const id = await create('notes', { p0: part });
    for (const name of ['p1', 'p2', 'p3']) expect((await update('notes', id, { [name]: part })).status).toBe(200);
    expect(await update('notes', id, { p4: part })).toMatchObject({
      status: 413,
      body: { code: 'DOCUMENT_TOO_LARGE' },
    });
    expect((await project.api('GET', `/api/data/notes/${id}`)).body).not.toHaveProperty('p4');
  });

  test('200 for 50 parallel updates of different fields, and no change is lost', async () => {
    const id = await create('notes', { counters: {} });
    const answers = await inParallel(50, (n) => update('notes', id, { [`counters.c${n}`]: n }));
    expect(tally(answers)).toEqual({ 200: 50 });
    const { body } = await project.api<{ counters: object }>('GET', `/api/data/notes/${id}`);
    expect(Object.keys(body.counters)).toHaveLength(50);
  });
});
