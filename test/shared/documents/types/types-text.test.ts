import { resolve } from 'node:path';
import { runInThisContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { allFields, type Collection, type Field, noRowSecurity } from '../../../../shared/collections/collection.ts';
import { parseSchema } from '../../../../shared/collections/schema/schema.ts';
import { fitsResponse } from '../../../../shared/core/json.ts';
import { parseWhere } from '../../../../shared/documents/query/where.ts';
import { typesText } from '../../../../shared/documents/types/types-text.ts';
import { compile, expecting } from '../../../support/clients/compile.ts';
import { randomSchemas, sampleOf } from '../../../support/data/random-schemas.ts';

const collection = (name: string, schema: unknown, rls: Partial<Collection['rls']> = {}): Collection => ({
  name,
  schema: parseSchema(schema),
  rls: { ...noRowSecurity, ...rls },
});

const lists = (levels: number): object =>
  levels === 0
    ? { type: 'String' }
    : {
        type: 'Array',
        items: {
          type: 'Object',
          fields: [
            { key: 'inner', ...lists(levels - 1) },
            { key: '7', type: 'Date' },
          ],
        },
      };

test('compiles under strict for 500 generated schemas, with the client’s types, and accepts documents of each', {
  timeout: 600_000,
}, async () => {
  const schemas = randomSchemas(500);
  const projects = Array.from({ length: 20 }, (_, at) => schemas.slice(at * 25, at * 25 + 25));
  const files = projects.flatMap((project, at) => {
    const name = (index: number): string => `c${index}-${at}`;
    const text = typesText(
      project.map((schema: readonly Field[], index) => ({ name: name(index), schema, rls: noRowSecurity })),
      'secret',
    );
    const uses = project.flatMap((schema, index) => {
      if (allFields(schema).some(({ key }) => key in Object.prototype)) return [];
      const of = (part: string) => `Schema['${name(index)}']['${part}']`;
      return [
        `const i: ${of('insert')} = ${JSON.stringify(sampleOf(schema))}; const u: ${of('update')} = i; const d: ${of('document')} = { ...i, _id: '', isDeleted: false, deletedAt: null, createdAt: '', updatedAt: '' };`,
        `const i: ${of('insert')} = ${JSON.stringify(sampleOf(schema))}; app['${name(index)}'].insert(i).then(({ _id, _rev }) => app['${name(index)}'].update(_id, i, { rev: _rev }));`,
        `const f: ${of('filter')} = { $or: [{ createdAt: { $gte: '' } }, { $not: { ${JSON.stringify(schema[0]?.key)}: null } }] };`,
      ];
    });
    const before = [
      `import { basalt } from '${resolve('client/src/index.ts')}';`,
      `import type { Schema } from './schema-${at}.ts';`,
      `const app = basalt<Schema>('http://x', 'k');`,
    ].join('\n');
    const wrong = project.map((_, index) => `const f: Schema['${name(index)}']['filter'] = { 'no such field': 1 };`);
    return [
      [`schema-${at}.ts`, text],
      [`uses-${at}.ts`, expecting(before, uses, wrong)],
    ];
  });
  expect(await compile(Object.fromEntries(files))).toBe('');
});

const products = collection(
  'products',
  [
    { key: 'title', type: 'String', required: true },
    { key: 'price', type: 'Number' },
    { key: 'sold', type: 'Boolean' },
    { key: 'since', type: 'Date' },
    { key: 'maker', type: 'Ref', ref: 'users' },
    { key: 'tags', type: 'Array', items: { type: 'String' } },
    {
      key: 'address',
      type: 'Object',
      fields: [
        { key: 'city', type: 'String', required: true },
        { key: 'more', type: 'Object' },
      ],
    },
    {
      key: 'lines',
      type: 'Array',
      items: {
        type: 'Object',
        fields: [
          { key: 'sku', type: 'String', required: true },
          { key: 'n', type: 'Number' },
          { key: '5', type: 'Boolean' },
          { key: '-5', type: 'Date' },
        ],
      },
    },
    { key: 'deep', ...lists(3) },
    { key: 'any', type: 'Array' },
  ],
  { enabled: true, ownerField: 'owner' },
);

const shop = typesText(
  [
    products,
    { name: 'notes', schema: null, rls: noRowSecurity },
    collection('users', [
      { key: 'email', type: 'String', required: true },
      { key: 'password', type: 'String', required: true },
      { key: 'name', type: 'String' },
    ]),
  ],
  'secret',
);

const filter = (value: string): string => `const x: Schema['products']['filter'] = ${value};`;
const update = (value: string): string => `const x: Schema['products']['update'] = ${value};`;
const insert = (value: string): string => `const x: Schema['products']['insert'] = ${value};`;
const product = (line: string): string => `const p = {} as Schema['products']['document']; ${line}`;

const filters = [
  "{ title: 'a', price: { $gte: 1, $lt: 5 }, sold: true, since: { $gt: '2026-01-01' }, maker: null }",
  "{ title: { $contains: 'a', $in: ['b', null] } }",
  "{ tags: 'a' }",
  "{ tags: { $all: ['a'], $size: 2, $startsWith: 'b' }, 'tags.0': 'a' }",
  "{ 'address.city': 'Rome', 'address.more.of.it': 3, address: { $exists: true } }",
  "{ lines: { $elemMatch: { sku: 'a', n: { $gt: 1 } } }, 'lines.sku': 'a', 'lines.0.n': 3, 'lines.5': null }",
  "{ 'deep.inner.inner.inner': 'x', 'deep.0.inner.1.inner.2.inner': { $regex: '^x' } }",
  '{ $or: [{ price: 1 }, { $and: [{ price: 2 }, { $not: { sold: true } }] }] }',
  "{ _id: '6743f0c2a91b5d0012ab34cd', createdAt: { $gte: '2026-01-01' }, owner: 'me', any: 3, 'any.0.b': 'c' }",
];

const right = [
  ...filters.map(filter),
  ...[
    "{ title: 'a', price: null, 'address.city': 'Rome', 'address.more.x': [1], owner: 'me' }",
    "{ 'tags.1': 'b', 'lines.0.sku': 'a', 'lines.0.5': true, 'lines.1': { sku: 'b' }, 'any.0': { a: 1 } }",
    "{ 'deep.0.inner.1.inner.2.inner': 'x' }",
  ].map(update),
  insert("{ title: 'a' }"),
  insert("{ title: 'a', price: undefined, lines: [{ sku: 'a' }], address: { city: 'Rome', more: { a: [{}] } } }"),
  product(
    'const title: string = p.title, id: string = p._id, at: string = p.createdAt, since: string | null | undefined = p.since;',
  ),
  product('const sku: string | undefined = p.lines?.[0]?.sku;'),
  "const n: Schema['notes']['filter'] = { a: 5, 'b.c': { $gt: 3 }, $or: [{ a: 1 }], $not: { x: null } };",
  "const n: Schema['notes']['insert'] = { anything: { goes: [true, null] } };",
  "const u = {} as Schema['users']['document']; const email: string | null | undefined = u.email, verified: boolean = u.emailVerified;",
];

const wrong = [
  "const u = {} as Schema['users']['document']; const email: string = u.email;",
  ...[
    "{ titel: 'a' }",
    '{ title: 5 }',
    "{ price: '5' }",
    "{ price: { $contains: '5' } }",
    "{ price: { $gte: '5' } }",
    '{ price: { $gt: null } }',
    '{ price: { $foo: 5 } }',
    "{ sold: 'true' }",
    '{ since: 5 }',
    "{ since: { $regex: '2026' } }",
    '{ title: { $in: [5] } }',
    "{ title: { $in: 'a' } }",
    '{ tags: [5] }',
    "{ tags: { $size: '2' } }",
    "{ 'tags.0': 5 }",
    "{ 'address.town': 'Rome' }",
    "{ address: { city: 'Rome' } }",
    '{ lines: { $elemMatch: { sku: 5 } } }',
    "{ 'lines.skuu': 'a' }",
    "{ 'lines.0.skuu': 'a' }",
    "{ 'lines.5': true }",
    '{ $or: { price: 5 } }',
    "{ $or: [{ price: 'x' }] }",
    '{ $nor: [{ price: 5 }] }',
    "{ $not: { price: 'x' } }",
    "{ $where: 'true' }",
    '{ isDeleted: true }',
  ].map(filter),
  ...[
    '{ title: null }',
    "{ titel: 'a' }",
    "{ price: 'a' }",
    "{ 'address.city': 5 }",
    "{ 'address.town': 'Rome' }",
    "{ 'tags.x': 'b' }",
    "{ 'lines.sku': 'a' }",
    "{ 'lines.0.sku': null }",
    "{ 'lines.0': { n: 5 } }",
    "{ _id: 'a' }",
    "{ createdAt: '2026-01-01' }",
  ].map(update),
  ...[
    '{}',
    "{ title: 'a', extra: 1 }",
    '{ title: null }',
    "{ title: 'a', lines: [{}] }",
    "{ title: 'a', tags: [null] }",
  ].map(insert),
  product('p.titel;'),
  product("p._id = 'x';"),
  product('const n: number = p.price;'),
  "const u = {} as Schema['users']['document']; u.password;",
  "const u: Schema['users']['filter'] = { password: 'x' };",
  "const s = {} as Schema['none'];",
];

test('the compiler rejects a wrong field, operator or value, and accepts a correct one', async () => {
  expect(
    await compile({
      'schema.ts': shop,
      'uses.ts': expecting("import type { Schema } from './schema.ts';", right, wrong),
    }),
  ).toBe('');
});

test.each(filters)('the syntax of a filter is accepted as where: %s', (text) => {
  expect(parseWhere(products, runInThisContext(`JSON.parse(JSON.stringify(${text}))`))).toBeDefined();
});

describe('the text', () => {
  const one = collection('b', [{ key: 'x', type: 'String' }]);
  const other = collection('a', [{ key: 'y', type: 'String' }]);

  test('is the same for the same collections in any order', () => {
    expect(typesText([one, other], 'secret')).toBe(typesText([other, one], 'secret'));
  });

  test('does not mention passwords', () => {
    expect(shop).not.toContain('password');
  });

  test('grows only with the schema, however deep it is, and stops at the maximum response size', () => {
    const fields = Array.from({ length: 100 }, (_, at) => ({ key: `f${at}`, ...lists(3) }));
    const deep = collection('deep', fields);
    const text = typesText([deep], 'secret');
    expect(text.length).toBeLessThan(3000 * fields.length);
    const many = typesText(
      Array.from({ length: 200 }, (_, at) => ({ ...deep, name: `c${at}` })),
      'secret',
    );
    expect(fitsResponse(many)).toBe(false);
    expect(many.length).toBeLessThan(8e6);
  });
});

test('an enum is a union in documents, inserts and updates, but its filters accept any text', () => {
  const schema = [
    { key: 'state', type: 'String', enum: ['draft', 'public'] },
    { key: 'sizes', type: 'Array', items: { type: 'Number', enum: [1, 2] } },
  ];
  const text = typesText([collection('posts', schema)], 'secret');
  expect(text).toContain('state?: "draft" | "public" | null | undefined;');
  expect(text).toContain('sizes?: (1 | 2)[] | null | undefined;');
  expect(text).toContain('`]: 1 | 2 | undefined;');
  expect(text).toContain('state?: Is<string, Text> | undefined;');
});
