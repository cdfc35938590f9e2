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

const create = (collection: string, body: unknown) => project.api('POST', `/api/data/${collection}`, { body });

describe('inserting into a collection with a schema', () => {
  test('201 with the document itself and its defaults', async () => {
    const answer = await create('posts', { title: 'Hello' });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      _id: expect.stringMatching(/^[0-9a-f]{24}$/),
      title: 'Hello',
      views: 0,
      published: false,
      status: 'draft',
      isDeleted: false,
      deletedAt: null,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: answer.body.createdAt,
    });
  });

  test('201 with every type, which reads return as sent', async () => {
    const body = {
      title: 'Everything',
      slug: 'everything',
      views: -1.5,
      published: true,
      publishedAt: '2026-02-28T12:00:00.000Z',
      meta: { source: 'test', score: 1e21, reviewer: missing, extra: [null, { deep: true }] },
      tags: ['a', ''],
      anything: [1, 'two', null, { three: 3 }],
      author: missing,
      readers: [missing],
      comments: [{ text: 'x', by: missing }],
      unknown: { kept: 'yes' },
    };
    const made = await create('posts', body);
    expect(made).toMatchObject({ status: 201, body });
    expect((await project.api('GET', `/api/data/posts/${made.body._id}`)).body).toMatchObject(body);
  });

  test.each<[string, unknown, string]>([
    ['a date', '2026-02-28', '2026-02-28T00:00:00.000Z'],
    ['a date-time with an offset', '2026-02-28T12:00:00+02:00', '2026-02-28T10:00:00.000Z'],
    ['whole milliseconds', 0, '1970-01-01T00:00:00.000Z'],
  ])('201 with %s for a Date', async (_what, sent, stored) => {
    expect((await create('posts', { title: 'x', publishedAt: sent })).body.publishedAt).toBe(stored);
  });

  test('201 when an optional field is null, which is stored instead of the default', async () => {
    expect((await create('posts', { title: 'x', views: null, author: null })).body).toMatchObject({
      views: null,
      author: null,
    });
  });

  test.each<[string, Record<string, unknown>, string, string]>([
    ['without a required field', {}, 'title', 'is required'],
    ['with null for a required field', { title: null }, 'title', 'is required'],
    ['with a number for a String', { title: 5 }, 'title', 'must be a String'],
    ['with an operator for a String', { title: { $ne: null } }, 'title', 'must be a String'],
    ['with a string for a Number', { views: '5' }, 'views', 'must be a Number'],
    ['with 1 for a Boolean', { published: 1 }, 'published', 'must be a Boolean'],
    ["with 'true' for a Boolean", { published: 'true' }, 'published', 'must be a Boolean'],
    ['with an impossible Date', { publishedAt: '2026-02-30' }, 'publishedAt', `must be a Date${dateForm}`],
    ['with a word for a Date', { publishedAt: 'tomorrow' }, 'publishedAt', `must be a Date${dateForm}`],
    ['with a fraction for a Date', { publishedAt: 1.5 }, 'publishedAt', `must be a Date${dateForm}`],
    ['with an object for a Date', { publishedAt: { $date: 0 } }, 'publishedAt', `must be a Date${dateForm}`],
    ['with an array for an Object', { meta: [] }, 'meta', 'must be an Object'],
    ['with an object for an Array', { tags: {} }, 'tags', 'must be an Array'],
    ['with a wrong element', { tags: ['a', 5] }, 'tags.1', 'must be a String'],
    ['with a short Ref', { author: 'abc' }, 'author', `must be a Ref${refForm}`],
    ['with an object for a Ref', { author: { $oid: missing } }, 'author', `must be a Ref${refForm}`],
    ['with a wrong Ref in an Array', { readers: [missing, 'x'] }, 'readers.1', `must be a Ref${refForm}`],
    ['without a required sub-field', { meta: {} }, 'meta.source', 'is required'],
    ['with a wrong sub-field', { meta: { source: 'x', score: 'y' } }, 'meta.score', 'must be a Number'],
    ['without a required sub-field of an element', { comments: [{ text: 'x' }, {}] }, 'comments.1.text', 'is required'],
    ['with a scalar for an element', { comments: ['x'] }, 'comments.0', 'must be an Object'],
  ])('400 %s', async (_what, fields, field, message) => {
    const answer = await create('posts', {
      title: 'x',
      ...fields,
      ...(field === 'title' ? { title: fields.title } : {}),
    });
    expect(answer).toMatchObject({
      status: 400,
      body: {
        success: false,
        code: 'VALIDATION_FAILED',
        message: `Validation failed: ${field} ${message}`,
        errors: [{ field, message: `${field} ${message}` }],
      },
    });
  });

  test('400 with several failures: the first one in the message, all in errors', async () => {
    const answer = await create('posts', { views: 'x', tags: [1] });
    expect(answer.body).toMatchObject({
      message: 'Validation failed: title is required',
      errors: [{ field: 'title' }, { field: 'views' }, { field: 'tags.0' }],
    });
  });

  test('409 for the second document when a unique field is left to its default', async () => {
    const schema = [{ key: 'team', type: 'String', unique: true, default: 'red' }];
    await project.addCollection({ name: 'teams', schema });
    expect(await create('teams', {})).toMatchObject({ status: 201, body: { team: 'red' } });
    expect(await create('teams', {})).toMatchObject({
      status: 409,
      body: { code: 'DUPLICATE_VALUE', errors: [{ field: 'team' }] },
    });
    expect(await create('teams', { team: null })).toMatchObject({ status: 201 });
  });

  test('409 when a unique value is taken', async () => {
    await create('posts', { title: 'a', slug: 'taken' });
    const answer = await create('posts', { title: 'b', slug: 'taken' });
    expect(answer).toMatchObject({ status: 409, body: { code: 'DUPLICATE_VALUE', errors: [{ field: 'slug' }] } });
    expect(answer.body.message).toContain('slug');
    expect(answer.body.message).not.toMatch(/E11000|index|dup key/);
  });

  test('201 twice when the unique value is missing or null', async () => {
    const bodies = [{ title: 'a' }, { title: 'b' }, { title: 'c', slug: null }, { title: 'd', slug: null }];
    for (const body of bodies) expect((await create('posts', body)).status).toBe(201);
  });

  test('201 for exactly one of 50 parallel inserts with the same unique value', async () => {
    const answers = await inParallel(50, () => create('posts', { title: 'race', slug: 'race' }));
    expect(tally(answers)).toEqual({ 201: 1, 409: 49 });
  });
});

describe('inserting into a collection without a schema', () => {
  test('201 with any JSON, byte for byte', async () => {
    const body = {
      text: 'ü \u2028 \0 😀 "\\',
      empty: {},
      list: [1, [2, [3]]],
      float: 0.1,
      big: Number.MAX_SAFE_INTEGER,
      constructor: 'a name like any other',
      prototype: { constructor: 1 },
      date: '2026-01-01',
      nested: { $inc: 1, $ne: null },
    };
    const made = await create('notes', body);
    expect(made.status).toBe(201);
    const read = await project.api('GET', `/api/data/notes/${made.body._id}`);
    expect(read.body).toMatchObject(body);
  });

  test('201 with -0, which reads return as 0', async () => {
    const made = await project.api('POST', '/api/data/notes', { body: '{"n":-0}' });
    expect(made.body.n).toBe(0);
    expect(Object.is((await project.api('GET', `/api/data/notes/${made.body._id}`)).body.n, 0)).toBe(true);
  });

  test('201 without the fields that only the service writes', async () => {
    const answer = await create('notes', {
      _id: missing,
      isDeleted: true,
      deletedAt: '2020-01-01',
      createdAt: '2020-01-01',
      updatedAt: '2020-01-01',
      kept: 1,
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ isDeleted: false, deletedAt: null, kept: 1 });
    expect(answer.body._id).not.toBe(missing);
    expect(answer.body.createdAt).not.toMatch(/^2020/);
  });

  test.each<[string, string, string]>([
    ['with a name that begins with $', '{"a":1,"$set":{"a":2}}', 'INVALID_BODY'],
    ['with a dot in a field name', '{"a.b":1}', 'INVALID_BODY'],
    ['with a dot in a nested field name', '{"a":[{"b.c":1}]}', 'INVALID_BODY'],
    ['with an array for a body', '[{"a":1}]', 'INVALID_BODY'],
    ['with a string for a body', '"a"', 'INVALID_BODY'],
    ['with null for a body', 'null', 'INVALID_BODY'],
    ['without a body', '', 'INVALID_BODY'],
    ['with a body that is not JSON', '{a:1}', 'INVALID_JSON'],
    ['with an integer beyond 2^53', '{"a":9007199254740993}', 'NUMBER_NOT_EXACT'],
    ['with a number that is not finite', '{"a":1e400}', 'INVALID_BODY'],
    ['with a lone surrogate', '{"a":"\\ud800"}', 'INVALID_BODY'],
    ['with __proto__', '{"__proto__":{"isAdmin":true}}', 'INVALID_BODY'],
    ['with _bsontype', '{"a":{"_bsontype":"Code","code":"1"}}', 'INVALID_BODY'],
    ['with 1 000 levels', `{"a":${'['.repeat(1000)}${']'.repeat(1000)}}`, 'INVALID_BODY'],
  ])('400 %s', async (_what, body, code) => {
    expect(await create('notes', body)).toMatchObject({ status: 400, body: { success: false, code } });
  });

  test('413 over 1 MiB', async () => {
    const answer = await create('notes', { text: 'x'.repeat(1024 * 1024) });
    expect(answer).toMatchObject({ status: 413, body: { code: 'BODY_TOO_LARGE' } });
  });

  test('413 when the stored form would exceed 4 MiB', async () => {
    const answer = await create('notes', { list: Array.from({ length: 480_000 }, () => 1) });
    expect(answer).toMatchObject({ status: 413, body: { code: 'DOCUMENT_TOO_LARGE' } });
  });
});

test('404 when a collection is not registered, or its name has another case', async () => {
  for (const name of ['nothing', 'Notes', 'constructor', '__proto__', 'system.profile', '$cmd', 'notes%00']) {
    expect(await create(name, { a: 1 })).toMatchObject({ status: 404, body: { code: 'COLLECTION_NOT_FOUND' } });
  }
});

test.each(['users', 'Users', 'USERS', '%75sers', 'users%2F', 'users.', 'usersX', 'users%00'])(
  '403 for the reserved name %s',
  async (name) => {
    expect(await create(name, { a: 1 })).toMatchObject({ status: 403, body: { code: 'USERS_RESERVED' } });
  },
);

test('403 below /api/data/users at any depth, and 401 without a key', async () => {
  expect(await project.api('PUT', '/api/data/users/a/b/c', { body: {} })).toMatchObject({ status: 403 });
  expect(await project.api('PUT', '/api/data/users/a/b/c', { body: {}, key: '' })).toMatchObject({ status: 401 });
});

test('403 below /api/data/users reports a forbidden origin first', async () => {
  const closed = await newProject();
  const set = { allowedDomains: ['https://mine.example'] };
  expect((await closed.developer.dashboard('PATCH', `/api/projects/${closed.id}`, set)).status).toBe(200);
  const ask = (origin: string, key = closed.publishableKey) =>
    closed.api('PUT', '/api/data/users/a/b/c', { body: {}, key, headers: { origin } });
  expect((await ask('https://evil.example')).body).toMatchObject({ code: 'ORIGIN_NOT_ALLOWED' });
  expect((await ask('https://mine.example')).body).toMatchObject({ code: 'USERS_RESERVED' });
  expect((await ask('https://evil.example', closed.secretKey)).body).toMatchObject({ code: 'ORIGIN_NOT_ALLOWED' });
  expect((await ask('https://mine.example', closed.secretKey)).body).toMatchObject({ code: 'USERS_RESERVED' });
});
