import { beforeAll, describe, expect, test } from 'vitest';
import { everyType, notes, people } from '../../support/fixtures/collections.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

let project: TestProject;

beforeAll(async () => {
  project = await newProject([everyType, people, notes]);
});

interface Bulk {
  readonly data: { readonly insertedCount: number; readonly ids: readonly string[] };
  readonly message: string;
  readonly errors?: readonly { readonly index: number }[];
}

const bulk = (body: unknown, collection = 'notes') =>
  project.api<Bulk>('POST', `/api/data/${collection}/bulk`, { body });
const countOf = async (query: string): Promise<number> =>
  (await project.api<{ data: { count: number } }>('GET', `/api/data/posts?count=true&include_deleted=true&${query}`))
    .body.data.count;

describe('inserting in bulk', () => {
  test('201 with the count and the ids in order', async () => {
    const answer = await bulk(Array.from({ length: 100 }, (_, n) => ({ n })));
    expect(answer.status).toBe(201);
    expect(answer.body.data.insertedCount).toBe(100);
    const third = await project.api('GET', `/api/data/notes/${answer.body.data.ids[2]}`);
    expect(third.body).toMatchObject({ n: 2, isDeleted: false });
  });

  test('201 with defaults', async () => {
    const answer = await bulk([{ title: 'a' }], 'posts');
    const read = await project.api('GET', `/api/data/posts/${answer.body.data.ids[0]}`);
    expect(read.body).toMatchObject({ title: 'a', status: 'draft', views: 0 });
  });

  test.each<[string, unknown]>([
    ['an empty array', []],
    ['101 documents', Array.from({ length: 101 }, () => ({}))],
    ['an object', { a: 1 }],
    ['an array with something else than objects', [{ a: 1 }, 'x']],
    ['an array of arrays', [[{ a: 1 }]]],
  ])('400 for %s', async (_what, body) => {
    expect((await bulk(body)).status).toBe(400);
  });

  test('400 with every failure by index; no document is stored', async () => {
    const answer = await bulk([{ title: 'bulk-invalid' }, {}, { title: 'bulk-invalid', views: 'x' }], 'posts');
    expect(answer).toMatchObject({
      status: 400,
      body: {
        code: 'VALIDATION_FAILED',
        errors: [
          { index: 1, field: 'title', message: 'title is required' },
          { index: 2, field: 'views', message: 'views must be a Number' },
        ],
      },
    });
    expect(await countOf('title=bulk-invalid')).toBe(0);
  });

  test('400 with the first 100 failures of all documents and the total', async () => {
    const { status, body } = await bulk(
      [{ title: 'x' }, ...Array.from({ length: 3 }, () => ({ title: 1, tags: Array(60).fill(1) }))],
      'posts',
    );
    expect(status).toBe(400);
    expect(body).toMatchObject({
      message: 'Validation failed: title must be a String (item 1); errors has the first 100 of at least 183',
    });
    expect(body.errors).toHaveLength(100);
    expect(body.errors?.at(-1)).toMatchObject({ index: 2 });
  });

  test.each([
    [413, 'DOCUMENT_TOO_LARGE', { list: Array(450_000).fill(1) }, ''],
    [400, 'INVALID_BODY', { 'a.b': 1 }, 'a.b'],
  ])('%i %s names the item', async (status, code, document, field) => {
    expect(await bulk([{ n: 0 }, document])).toMatchObject({
      status,
      body: { code, errors: [{ index: 1, field, message: expect.stringMatching(/./) }] },
    });
  });

  test('409 with the index when a unique value is taken; inserted documents are removed', async () => {
    await bulk([{ title: 'x', slug: 'bulk-taken' }], 'posts');
    const answer = await bulk(
      [
        { title: 'bulk-clash', slug: 'bulk-new' },
        { title: 'bulk-clash', slug: 'bulk-taken' },
        { title: 'bulk-clash', slug: 'bulk-newer' },
      ],
      'posts',
    );
    expect(answer).toMatchObject({
      status: 409,
      body: { code: 'DUPLICATE_VALUE', errors: [{ index: 1, field: 'slug' }] },
    });
    expect(await countOf('title=bulk-clash')).toBe(0);
  });

  test('409 when two of the documents have the same unique value', async () => {
    const answer = await bulk(
      [
        { title: 'bulk-twin', slug: 't' },
        { title: 'bulk-twin', slug: 't' },
      ],
      'posts',
    );
    expect(answer).toMatchObject({ status: 409, body: { errors: [{ index: 1 }] } });
    expect(await countOf('title=bulk-twin')).toBe(0);
  });
});
