import { beforeAll, describe, expect, test } from 'vitest';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

const fields = [
  { key: 'stock', type: 'Number', min: 0, integer: true },
  { key: 'status', type: 'String', enum: ['draft', 'public'] },
  { key: 'tags', type: 'Array', items: { type: 'String', maxLength: 5 }, maxItems: 3, uniqueItems: true },
  {
    key: 'meta',
    type: 'Object',
    fields: [
      { key: 'score', type: 'Number', max: 10 },
      { key: 'ids', type: 'Array', uniqueItems: true, items: { type: 'Number' } },
    ],
  },
  { key: 'lines', type: 'Array', items: { type: 'Object', fields: [{ key: 'n', type: 'Number', min: 1 }] } },
];

let project: TestProject;

beforeAll(async () => {
  project = await newProject([{ name: 'posts', schema: fields }]);
});

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly errors: readonly { readonly field: string; readonly message: string; readonly index?: number }[];
}

const insert = (body: unknown) => project.api<Failure & { _id: string }>('POST', '/api/data/posts', { body });
const insertAll = (body: unknown) => project.api<Failure>('POST', '/api/data/posts/bulk', { body });
const newId = async (body: unknown): Promise<string> => (await insert(body)).body._id;
const change = (method: string, id: string, body: unknown) =>
  project.api<Failure & { readonly data: unknown }>(method, `/api/data/posts/${id}`, { body });

const failed = (field: string, asked: string) => ({
  status: 400,
  body: {
    code: 'VALIDATION_FAILED',
    message: `Validation failed: ${field} ${asked}`,
    errors: [{ field, message: `${field} ${asked}` }],
  },
});

const outside: readonly (readonly [object, string, string])[] = [
  [{ stock: -1 }, 'stock', 'must be at least 0'],
  [{ stock: 0.5 }, 'stock', 'must be a whole number'],
  [{ status: 'gone' }, 'status', 'must be one of "draft", "public"'],
  [{ tags: ['abcdef'] }, 'tags.0', 'must have at most 5 characters'],
  [{ tags: ['a', 'b', 'c', 'd'] }, 'tags', 'must have at most 3 elements'],
  [{ tags: ['a', 'a'] }, 'tags', 'must not have the same element twice'],
  [{ meta: { score: 11 } }, 'meta.score', 'must be at most 10'],
  [{ lines: [{ n: 1 }, { n: 0 }] }, 'lines.1.n', 'must be at least 1'],
];

describe('400 VALIDATION_FAILED for a value outside the bounds of its field', () => {
  test.each(outside)('of an insert: %j', async (body, field, asked) => {
    expect(await insert(body)).toMatchObject(failed(field, asked));
  });

  test.each(outside)('of PUT and PATCH: %j', async (body, field, asked) => {
    const id = await newId({});
    for (const method of ['PUT', 'PATCH']) expect(await change(method, id, body)).toMatchObject(failed(field, asked));
  });

  test('of a bulk insert, by index, with nothing stored', async () => {
    const { status, body } = await insertAll([{ stock: 1, status: 'public' }, { stock: -1 }, { tags: ['a', 'a'] }]);
    expect({ status, code: body.code, errors: body.errors }).toEqual({
      status: 400,
      code: 'VALIDATION_FAILED',
      errors: [
        { index: 1, field: 'stock', message: 'stock must be at least 0' },
        { index: 2, field: 'tags', message: 'tags must not have the same element twice' },
      ],
    });
    expect((await project.api('GET', '/api/data/posts?status=public&stock=1')).body).toMatchObject({
      data: { items: [] },
    });
  });

  test.each<[object, string, string]>([
    [{ 'meta.score': 11 }, 'meta.score', 'must be at most 10'],
    [{ 'tags.0': 'abcdef' }, 'tags.0', 'must have at most 5 characters'],
    [{ 'tags.3': 'd' }, 'tags', 'must have at most 3 elements'],
    [{ 'tags.2': 'a' }, 'tags', 'must not have the same element twice'],
    [{ 'tags.0': 'x', 'tags.1': 'x' }, 'tags', 'must not have the same element twice'],
    [{ 'meta.ids.1': 1 }, 'meta.ids', 'must not have the same element twice'],
    [{ 'lines.0.n': 0 }, 'lines.0.n', 'must be at least 1'],
  ])('of a dotted path: %j', async (body, field, asked) => {
    const id = await newId({ tags: ['a', 'b', 'c'], meta: { score: 1, ids: [1, 2] }, lines: [{ n: 1 }] });
    expect(await change('PUT', id, body)).toMatchObject(failed(field, asked));
  });
});

describe('a value within the bounds of its field', () => {
  test('201 and 200 when an optional field is null', async () => {
    const id = await newId({ stock: 0, status: null, tags: ['a', 'ab', 'abc'], meta: null });
    const changed = await change('PATCH', id, { stock: null, status: 'draft' });
    expect(changed).toMatchObject({ status: 200, body: { data: { stock: null, status: 'draft' } } });
  });

  test('200 when an element is set to its own value, set to a new one, or swapped', async () => {
    const id = await newId({ tags: ['a', 'b'] });
    expect((await change('PUT', id, { 'tags.0': 'a' })).body.data).toMatchObject({ tags: ['a', 'b'] });
    expect((await change('PUT', id, { 'tags.2': 'c' })).body.data).toMatchObject({ tags: ['a', 'b', 'c'] });
    expect((await change('PUT', id, { 'tags.0': 'b', 'tags.1': 'a' })).body.data).toMatchObject({
      tags: ['b', 'a', 'c'],
    });
  });

  test('exactly one of 50 callers succeeds when they put one value at different places of a unique array', async () => {
    const id = await newId({ tags: ['a', 'b', 'c'] });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => change('PUT', id, { [`tags.${index % 3}`]: 'x' })),
    );
    const { body } = await project.api<{ tags: string[] }>('GET', `/api/data/posts/${id}`);
    expect(body.tags.filter((tag) => tag === 'x')).toHaveLength(1);
    const place = body.tags.indexOf('x');
    for (const [index, { status, body: answer }] of answers.entries()) {
      const expected = index % 3 === place ? [200, 503] : [400, 503];
      expect(expected, JSON.stringify(answer)).toContain(status);
    }
  });
});

test.each([{ $set: { a: 1 } }, { a: 1, $inc: 1 }])(
  '400 INVALID_BODY when a field name of an insert begins with $: %j',
  async (body) => {
    const [name = ''] = Object.keys(body).filter((key) => key.startsWith('$'));
    const answer = await insert(body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_BODY', errors: [{ field: name }] } });
    expect(answer.body.message).toContain(`"${name}"`);
  },
);
