import { beforeAll, describe, expect, test } from 'vitest';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

interface Conflict {
  readonly field: string;
  readonly message: string;
  readonly count: number;
  readonly examples: readonly string[];
}

interface Edited {
  readonly code?: string;
  readonly message: string;
  readonly data: { readonly schema: readonly object[] | null; readonly closed?: boolean };
  readonly errors?: readonly Conflict[];
}

let project: TestProject;
let made = 0;

beforeAll(async () => {
  project = await newProject();
});

const edit = (name: string, body: unknown) =>
  project.developer.dashboard<Edited>('PUT', `/api/projects/${project.id}/collections/${name}`, body);

const collectionOf = async (
  documents: readonly unknown[],
  schema: readonly Record<string, unknown>[] | null = null,
) => {
  const name = `b${++made}`;
  await project.addCollection({ name, schema });
  const ids: string[] = [];
  for (const body of documents) {
    ids.push(String((await project.api('POST', `/api/data/${name}`, { body })).body._id));
  }
  return { name, ids };
};

const a = (rest: object) => [{ key: 'a', type: 'String', ...rest }];
const n = (rest: object) => [{ key: 'a', type: 'Number', ...rest }];
const list = (rest: object) => [{ key: 'a', type: 'Array', ...rest }];
const url = 'must be an absolute URL that begins with http:// or https://';

type Case = readonly [what: string, schema: object[], values: unknown[], message: string, broken: number[]];

const cases: readonly Case[] = [
  ['enum', a({ enum: ['x', 'y'] }), ['x', 'z', null, 'X'], 'must be one of "x", "y"', [1, 3]],
  ['enum of numbers', n({ enum: [1, 2.5] }), [1, 2, 2.5, null], 'must be one of 1, 2.5', [1]],
  ['minLength', a({ minLength: 2 }), ['ab', '😀', '', null], 'must have at least 2 characters', [1, 2]],
  ['maxLength', a({ maxLength: 2 }), ['ab', '😀😀', 'abc'], 'must have at most 2 characters', [2]],
  ['pattern', a({ pattern: '^[\\w.]+$' }), ['a.b', 'a b', 'a\n', 'é'], 'must match the pattern ^[\\w.]+$', [1, 2, 3]],
  [
    'pattern, unanchored',
    a({ pattern: '\\u{1F600}|\\bb' }),
    ['x😀', 'a b', 'ab'],
    'must match the pattern \\u{1F600}|\\bb',
    [2],
  ],
  ['format email', a({ format: 'email' }), ['a@b.cd', 'a@b', 'a@b.cd\n'], 'must be an email address', [1, 2]],
  ['format url', a({ format: 'url' }), ['http://a', 'ftp://a', 'https://a/ b'], url, [1, 2]],
  ['min', n({ min: 0 }), [0, -0.5, null, 3], 'must be at least 0', [1]],
  ['max', n({ max: 1.5 }), [1.5, 2], 'must be at most 1.5', [1]],
  ['integer', n({ integer: true }), [1, 1.5, -3, 1e15], 'must be a whole number', [1]],
  ['minItems', list({ minItems: 1 }), [[], [1], null], 'must have at least 1 element', [0]],
  ['maxItems', list({ maxItems: 1 }), [[], [1, 2]], 'must have at most 1 element', [1]],
  [
    'uniqueItems',
    list({ uniqueItems: true }),
    [
      [1, 2],
      [1, 1],
      [
        { x: 1, y: 2 },
        { y: 2, x: 1 },
      ],
      [1, '1'],
    ],
    'must not have the same element twice',
    [1, 2],
  ],
  [
    'elements',
    list({ items: { type: 'Number', min: 0 } }),
    [[0], [1, -1]],
    'may only have elements of which each must be at least 0',
    [1],
  ],
];

describe('409 SCHEMA_CONFLICT for bounds that stored documents violate', () => {
  test.each(cases)(
    '%s, with count and examples, and 200 with force',
    async (_what, schema, values, message, broken) => {
      const { name, ids } = await collectionOf(values.map((value) => ({ a: value })));
      const { status, body } = await edit(name, { schema });
      expect({ status, code: body.code }).toEqual({ status: 409, code: 'SCHEMA_CONFLICT' });
      expect(body.errors?.map(({ examples, ...rest }) => ({ ...rest, examples: [...examples].sort() }))).toEqual([
        { field: 'a', message: `a ${message}`, count: broken.length, examples: broken.map((at) => ids[at]).sort() },
      ]);
      const forced = await edit(name, { schema, force: true });
      expect(forced).toMatchObject({ status: 200, body: { data: { schema } } });
    },
  );

  test('of a field inside an object', async () => {
    const { name, ids } = await collectionOf([{ o: { n: 1 } }, { o: { n: -1 } }, { o: null }]);
    const schema = [{ key: 'o', type: 'Object', fields: [{ key: 'n', type: 'Number', min: 0 }] }];
    expect((await edit(name, { schema })).body.errors).toEqual([
      { field: 'o.n', message: 'o.n must be at least 0', count: 1, examples: [ids[1]] },
    ]);
  });

  test('200 for wider bounds with any stored documents', async () => {
    const { name } = await collectionOf([{ a: 'abc' }]);
    await edit(name, { schema: a({ maxLength: 2, enum: ['x'] }), force: true });
    expect((await edit(name, { schema: a({ maxLength: 2, enum: ['y', 'x'] }) })).status).toBe(200);
    expect((await edit(name, { schema: a({ maxLength: 3 }) })).status).toBe(200);
    expect((await edit(name, { schema: a({ maxLength: 2 }) })).status).toBe(409);
  });
});

describe('closing a collection', () => {
  const schema = [
    { key: 'name', type: 'String' },
    { key: 'meta', type: 'Object', fields: [{ key: 'x', type: 'Number' }] },
    { key: 'lines', type: 'Array', items: { type: 'Object', fields: [{ key: 'y', type: 'Number' }] } },
    { key: 'open', type: 'Object' },
  ];

  test('409 SCHEMA_CONFLICT with each field that the schema lacks, the document count and examples', async () => {
    const { name, ids } = await collectionOf(
      [
        { name: 'fits', meta: { x: 1 }, lines: [{ y: 1 }], open: { any: 1 } },
        { nmae: 1, other: 1 },
        { nmae: 1, meta: { z: 1 } },
        { lines: [{ y: 1 }, { q: 1 }, { q: 2 }] },
      ],
      schema,
    );
    const { status, body } = await edit(name, { closed: true });
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'SCHEMA_CONFLICT' });
    const conflict = (field: string, ...at: number[]) => ({
      field,
      message: `${field} is not a field of "${name}"`,
      count: at.length,
      examples: at.map((index) => ids[index]).sort(),
    });
    expect(body.errors?.map((error) => ({ ...error, examples: [...error.examples].sort() }))).toEqual([
      conflict('nmae', 1, 2),
      conflict('other', 1),
      conflict('meta.z', 2),
      conflict('lines.q', 3),
    ]);
    expect(await edit(name, { closed: true, force: true })).toMatchObject({
      status: 200,
      body: { data: { closed: true } },
    });
    expect(await project.api('POST', `/api/data/${name}`, { body: { nmae: 1 } })).toMatchObject({ status: 400 });
  });

  test('409 SCHEMA_CONFLICT when a closed schema loses a field that documents have', async () => {
    const { name, ids } = await collectionOf([{ name: 'x' }], schema);
    expect((await edit(name, { closed: true })).status).toBe(200);
    const { body } = await edit(name, { schema: schema.slice(1) });
    expect(body.errors).toEqual([
      { field: 'name', message: `name is not a field of "${name}"`, count: 1, examples: [ids[0]] },
    ]);
    expect((await edit(name, { schema: [...schema, { key: 'more', type: 'Date' }] })).status).toBe(200);
  });

  test('400 INVALID_SCHEMA when a closed collection loses its schema, and 200 when it is opened too', async () => {
    const { name } = await collectionOf([], schema);
    expect((await edit(name, { closed: true })).status).toBe(200);
    expect(await edit(name, { schema: null })).toMatchObject({ status: 400, body: { code: 'INVALID_SCHEMA' } });
    expect(await edit(name, { rls: { enabled: true } })).toMatchObject({
      status: 200,
      body: { data: { closed: true } },
    });
    const opened = await edit(name, { schema: null, closed: false });
    expect(opened.status).toBe(200);
    expect(opened.body.data).not.toHaveProperty('closed');
  });

  test('200 when documents have only the schema’s fields, their owner and system fields', async () => {
    const { name } = await collectionOf([{ name: 'x', userId: 'u' }], schema);
    await edit(name, { rls: { enabled: true } });
    expect((await edit(name, { closed: true })).status).toBe(200);
  });
});
