import { beforeAll, describe, expect, test } from 'vitest';
import { handler as updateDocument } from '../../../functions/data/update-document.ts';
import { clock } from '../../../shared/core/clock.ts';
import { inParallel, type RequestOptions, tally } from '../../support/clients/client.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

listenToCommands();
Object.assign(process.env, { RATE_LIMIT: '1000000', RATE_BLOCK: '1' });

const number = (key: string, more: object = {}) => ({ key, type: 'Number', ...more });

const products = {
  name: 'products',
  schema: [
    { key: 'name', type: 'String', required: true, maxLength: 20 },
    { key: 'sku', type: 'String', unique: true },
    number('stock', { min: 0, integer: true }),
    number('rank', { unique: true }),
    number('level', { enum: [1, 2, 4] }),
    number('rate', { min: 0.1, max: 0.7 }),
    { key: 'seenAt', type: 'Date' },
    { key: 'tags', type: 'Array', items: { type: 'String' }, maxItems: 3, minItems: 1, uniqueItems: true },
    { key: 'maker', type: 'Ref', ref: 'products', exists: true },
    { key: 'makers', type: 'Array', items: { type: 'Ref', ref: 'products', exists: true } },
    {
      key: 'lines',
      type: 'Array',
      items: {
        type: 'Object',
        fields: [{ key: 'sku', type: 'String', required: true }, number('count', { max: 9 })],
      },
    },
    {
      key: 'meta',
      type: 'Object',
      fields: [{ key: 'source', type: 'String', required: true }, number('views'), { key: 'note', type: 'String' }],
    },
  ],
};

let project: UsersProject;
let ann: RequestOptions;
let annId: string;

beforeAll(async () => {
  project = await newUsersProject();
  for (const collection of [
    { name: 'notes' },
    products,
    { ...products, name: 'closed', closed: true },
    { name: 'mine', schema: [number('n', { min: 0 })], rls: { enabled: true, mode: 'public-read' } },
    { name: 'fed', changes: true },
    {
      name: 'ruled',
      schema: [number('likes'), { key: 'people', type: 'Array', items: { type: 'String' } }, number('other')],
      rls: {
        enabled: true,
        mode: 'rules',
        ownerField: '',
        rules: {
          read: true,
          create: true,
          update: {
            after: {
              $or: [
                { $only: ['likes'], likes: { $stored: 'likes', plus: 1 } },
                { $only: ['people'], people: { $stored: 'people', adds: { $user: '_id' } } },
              ],
            },
          },
        },
      },
    },
  ])
    await project.addCollection(collection);
  const user = await project.newUser();
  annId = user.userId;
  ann = { key: project.publishableKey, token: user.accessToken };
});

type Doc = Record<string, unknown> & { readonly _id: string };
interface Body {
  readonly code: string;
  readonly message: string;
  readonly data: Doc;
  readonly errors: readonly { readonly field: string }[];
}

const create = async (collection: string, body: unknown): Promise<string> => {
  const made = await project.api<Doc>('POST', `/api/data/${collection}`, { body });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body._id;
};
const update = (collection: string, id: string, body: unknown, options: RequestOptions = {}, method = 'PATCH') =>
  project.api<Body>(method, `/api/data/${collection}/${id}`, { ...options, body });
const get = async (collection: string, id: string): Promise<Doc> =>
  (await project.api<Doc>('GET', `/api/data/${collection}/${id}`)).body;

describe('operators of one update', () => {
  test.each(['PATCH', 'PUT'])('200 with %s: all operators apply together, with plain fields', async (method) => {
    const id = await create('notes', { a: 1, b: 2, c: 3, d: 4, list: ['x', 'y'], set: [1], old: true, meta: { n: 1 } });
    const body = {
      title: 'set',
      'meta.m': 2,
      $inc: { a: 5, 'meta.n': 1, fresh: 2 },
      $mul: { b: 3, none: 4 },
      $min: { c: 1 },
      $max: { d: 9 },
      $push: { list: { $each: ['z', 'w'], $position: 0, $slice: 3 } },
      $addToSet: { set: { $each: [1, 2] } },
      $unset: ['old'],
      $currentDate: ['seenAt'],
    };
    const before = Date.now();
    const answer = await update('notes', id, body, {}, method);
    expect(answer).toMatchObject({ status: 200, body: { message: 'Updated' } });
    const { data } = answer.body;
    expect(data).toMatchObject({ title: 'set', meta: { n: 2, m: 2 }, a: 6, b: 6, c: 1, d: 9, fresh: 2, none: 0 });
    expect(data).toMatchObject({ list: ['z', 'w', 'x'], set: [1, 2] });
    expect(data).not.toHaveProperty('old');
    expect(Date.parse(String(data.seenAt))).toBeGreaterThanOrEqual(before - 1000);
    expect(await get('notes', id)).toEqual(data);
    expect(answer.headers.get('etag')).toBe('"2"');
  });

  test('200 with elements removed by value, condition, pattern and id', async () => {
    const id = await create('notes', {
      values: [1, 'x', null, [1, 2], 3],
      rows: [
        { k: 'a', n: 1 },
        { k: 'b', n: 2 },
        { k: 'ab', n: 3 },
      ],
    });
    const pulled = async (body: object) => (await update('notes', id, { $pull: body })).body.data;
    expect(await pulled({ values: 'x' })).toMatchObject({ values: [1, null, [1, 2], 3] });
    expect(await pulled({ values: null })).toMatchObject({ values: [1, [1, 2], 3] });
    expect(await pulled({ values: [1, 2] })).toMatchObject({ values: [1, 3] });
    expect(await pulled({ values: { $gt: 2 } })).toMatchObject({ values: [1] });
    expect(await pulled({ rows: { $or: [{ n: 1 }, { k: { $regex: '^b' } }] } })).toMatchObject({ rows: [{ k: 'ab' }] });
    const [one, two] = [await create('products', { name: 'one' }), await create('products', { name: 'two' })];
    const of = await create('products', { name: 'of', makers: [one, two, one] });
    expect((await update('products', of, { $pull: { makers: one } })).body.data.makers).toEqual([two]);
  });

  test('200 with dates: $min and $max compare them as dates when the schema has a Date', async () => {
    const id = await create('products', { name: 'dated', seenAt: '2026-01-02T00:00:00Z' });
    const seen = async (body: object) => (await update('products', id, body)).body.data.seenAt;
    expect(await seen({ $max: { seenAt: '2026-01-01' } })).toBe('2026-01-02T00:00:00.000Z');
    expect(await seen({ $min: { seenAt: '2026-01-01' } })).toBe('2026-01-01T00:00:00.000Z');
  });

  test('200 when $unset removes a numeric name of an object', async () => {
    const id = await create('notes', { months: { 1: 'a', 2: 'b' } });
    expect((await update('notes', id, { $unset: ['months.1', 'nothing.1.x'] })).body.data.months).toEqual({ 2: 'b' });
  });

  test('200 when an operator changes an element by its position', async () => {
    const id = await create('products', { name: 'lines', lines: [{ sku: 'a', count: 1 }, { sku: 'b' }] });
    const body = { $inc: { 'lines.0.count': 2, 'lines.1.count': 5 } };
    expect((await update('products', id, body)).body.data.lines).toEqual([
      { sku: 'a', count: 3 },
      { sku: 'b', count: 5 },
    ]);
  });

  test('200 in the dashboard', async () => {
    const id = await create('notes', { n: 1 });
    const path = `/api/projects/${project.id}/collections/notes/documents/${id}`;
    const answer = await project.developer.dashboard('PATCH', path, { $inc: { n: 1 } });
    expect(answer).toMatchObject({ status: 200, body: { data: { n: 2 } } });
  });

  test('200 with system fields ignored', async () => {
    const id = await create('notes', { n: 1 });
    const body = { $inc: { n: 1, _rev: 5 }, $unset: ['createdAt', '_id'], $max: { 'deletedAt.x': 1 } };
    expect(await update('notes', id, body)).toMatchObject({ status: 200, body: { data: { n: 2 } } });
    expect((await project.api('GET', `/api/data/notes/${id}`)).headers.get('etag')).toBe('"2"');
  });
});

describe('400 INVALID_UPDATE', () => {
  test.each<[string, unknown, string]>([
    ['an unknown operator', { $rename: { a: 'b' } }, '$rename'],
    ['$set', { $set: { a: 1 } }, 'beside the operators'],
    ['no object of fields', { $inc: 5 }, 'takes an object'],
    ['a text when $inc needs a number', { $inc: { a: '1' } }, 'takes a number'],
    ['null when $mul needs a number', { $mul: { a: null } }, 'takes a number'],
    ['a list when $max needs a number', { $max: { a: [1] } }, 'takes a number'],
    ['a path twice', { $inc: { a: 1 }, $mul: { a: 2 } }, 'twice'],
    ['a path twice, once as a plain field', { a: 1, $inc: { a: 1 } }, 'twice'],
    ['a path twice in a list', { $unset: ['a', 'a'] }, 'twice'],
    ['a path inside another', { $inc: { 'meta.n': 1 }, $unset: ['meta'] }, 'contains the other'],
    ['a plain path around that of an operator', { meta: {}, $push: { 'meta.list': 1 } }, 'contains the other'],
    ['the object form of $unset', { $unset: { a: 1 } }, '{"$unset":["a","b.c"]}'],
    ['the object form of $currentDate', { $currentDate: { a: true } }, '{"$currentDate":["a","b.c"]}'],
    ['a list of other things than paths', { $unset: [1] }, 'list of fields'],
    ['another member next to $each', { $push: { list: { $each: [1], $sort: 1 } } }, '$sort'],
    ['a field next to $each', { $push: { list: { $each: [1], note: 1 } } }, 'note'],
    ['$position of $addToSet', { $addToSet: { list: { $each: [1], $position: 0 } } }, '$position'],
    ['$each without a list', { $push: { list: { $each: 1 } } }, '$each'],
    ['$position without $each', { $push: { list: { $position: 1 } } }, '$each'],
    ['$slice that is not a whole number', { $push: { list: { $each: [], $slice: 1.5 } } }, '$slice'],
    ['an element in $unset', { $unset: ['list.0'] }, '$pull'],
    ['a path through an element in $unset', { $unset: ['rows.0.k'] }, '$pull'],
    ['an empty name', { $inc: { 'a..b': 1 } }, 'empty name'],
    ['a $ in a path', { $inc: { 'list.$[]': 1 } }, '$'],
    ['a path through a number', { $inc: { 'a.b': 1 } }, 'not an object'],
    ['a position beyond the end', { $inc: { 'list.9': 1 } }, 'beyond the end'],
    ['$inc of a text', { $inc: { text: 1 } }, '"text" is a String'],
    ['$inc of null', { $inc: { none: 1 } }, 'null'],
    ['$mul of an array', { $mul: { list: 2 } }, 'an Array'],
    ['$min of a text', { $min: { text: 1 } }, 'a String'],
    ['$max of an array', { $max: { list: 1 } }, 'an Array'],
    ['$push to a number', { $push: { a: 1 } }, 'needs an Array'],
    ['$push to null', { $push: { none: 1 } }, 'needs an Array'],
    ['$addToSet to a text', { $addToSet: { text: 1 } }, 'needs an Array'],
    ['$pull from an object', { $pull: { meta: 1 } }, 'needs an Array'],
    ['$inc beyond 2^53-1', { $inc: { big: 2 } }, 'larger than 9007199254740991'],
    ['$inc below -(2^53-1)', { $inc: { low: -2 } }, 'larger than 9007199254740991'],
    ['$mul beyond 2^53-1', { $mul: { big: -2 } }, 'larger than 9007199254740991'],
    ['$mul with a result that is too large', { $mul: { huge: 1e300 } }, 'larger than 9007199254740991'],
  ])('for %s, which changes nothing', async (_what, body, said) => {
    const fields = {
      ...{ a: 1, text: 'x', none: null, list: [1], rows: [{ k: 1 }], meta: { n: 1 } },
      ...{ big: 9_007_199_254_740_990, low: -9_007_199_254_740_990, huge: 1e300 },
    };
    const id = await create('notes', fields);
    const answer = await update('notes', id, body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_UPDATE' } });
    expect(answer.body.message).toContain(said);
    expect(await get('notes', id)).toMatchObject(fields);
  });

  test('for a position of an array that the schema declares, even when nothing is stored', async () => {
    const id = await create('products', { name: 'x' });
    const answer = await update('products', id, { $unset: ['lines.0.count'] });
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_UPDATE' } });
  });

  test('200 up to 2^53-1 exactly', async () => {
    const id = await create('notes', { big: 9_007_199_254_740_990, low: -9_007_199_254_740_990 });
    const answer = await update('notes', id, { $inc: { big: 1, low: -1 } });
    expect(answer.body.data).toMatchObject({ big: 9_007_199_254_740_991, low: -9_007_199_254_740_991 });
  });
});

describe('400 VALIDATION_FAILED', () => {
  test.each<[string, unknown, string]>([
    ['a result below min', { $inc: { stock: -6 } }, 'stock must be at least 0'],
    ['a result that is not a whole number', { $inc: { stock: 0.5 } }, 'stock must be a whole number'],
    ['a product that is not a whole number', { $mul: { stock: 0.5 } }, 'stock must be a whole number'],
    ['a result that is not allowed', { $inc: { level: 1 } }, 'level must be one of 1, 2, 4'],
    ['a result above max', { $mul: { rate: 2 } }, 'rate must be at most 0.7'],
    ['a maximum above max', { $max: { rate: 0.8 } }, 'rate must be at most 0.7'],
    ['a minimum below min', { $min: { rate: 0 } }, 'rate must be at least 0.1'],
    ['a first value below min', { $inc: { 'lines.0.count': 12 } }, 'lines.0.count must be at most 9'],
    ['$inc of a String', { $inc: { name: 1 } }, 'name is a String, and $inc needs a Number'],
    ['$max of a String', { $max: { name: 1 } }, 'name is a String, and $max needs a Number or a Date'],
    ['$push to a Number', { $push: { stock: 1 } }, 'stock is a Number, and $push needs an Array'],
    ['$pull from a String', { $pull: { name: 'x' } }, 'name is a String, and $pull needs an Array'],
    ['$currentDate of a Number', { $currentDate: ['stock'] }, 'stock is a Number, and $currentDate needs a Date'],
    ['$min of a Date with a text', { $min: { seenAt: 'x' } }, 'seenAt must be a Date'],
    ['an element of another type', { $push: { tags: 1 } }, 'tags.0 must be a String'],
    ['an element without a required field', { $push: { lines: { count: 1 } } }, 'lines.0.sku is required'],
    ['a field of an element beyond its bounds', { $addToSet: { lines: { sku: 'x', count: 10 } } }, 'at most 9'],
    ['more elements than maxItems', { $push: { tags: { $each: ['c', 'd'] } } }, 'tags must have at most 3 elements'],
    ['an element twice', { $push: { tags: 'a' } }, 'tags must not have the same element twice'],
    ['less elements than minItems', { $pull: { tags: { $in: ['a', 'b'] } } }, 'tags must have at least 1 element'],
    ['no elements by $slice', { $push: { tags: { $each: [], $slice: 0 } } }, 'tags must have at least 1 element'],
    ['a required field that is removed', { $unset: ['name'] }, 'name is required'],
    ['a required field of an object', { $unset: ['meta.source'] }, 'meta.source is required'],
    ['an absent object without its required field', { $inc: { 'meta.views': 1 } }, 'meta.source is required'],
    ['a reference to nothing', { $push: { makers: 'f'.repeat(24) } }, 'makers.0 must be the id'],
  ])('for %s, which changes nothing', async (_what, body, said) => {
    const fields = { name: 'n', stock: 5, level: 2, rate: 0.5, tags: ['a', 'b'], lines: [{ sku: 'a' }] };
    const id = await create('products', fields);
    const answer = await update('products', id, body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
    expect(answer.body.message).toContain(said);
    expect(await get('products', id)).toMatchObject(fields);
  });

  test.each<[unknown, string]>([
    [{ $inc: { nmae: 1 } }, 'nmae is not a field of "closed"'],
    [{ $unset: ['nmae'] }, 'nmae is not a field of "closed"'],
    [{ $push: { lines: { sku: 'x', cuont: 1 } } }, 'lines.0.cuont is not a field of "closed"'],
    [{ $pull: { lines: { cuont: 1 } } }, 'lines.cuont is not a field of "closed"'],
  ])('for %j in a closed collection', async (body, said) => {
    const id = await create('closed', { name: 'n' });
    const answer = await update('closed', id, body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
    expect(answer.body.message).toContain(said);
  });

  test('200 at a bound, with fractions', async () => {
    const id = await create('products', { name: 'n', rate: 0.3 });
    expect((await update('products', id, { $inc: { rate: -0.1 } })).body.data.rate).toBe(0.3 - 0.1);
    // 0.3 - 0.1 is slightly less than 0.2, so half of it is less than 0.1.
    expect(await update('products', id, { $mul: { rate: 0.5 } })).toMatchObject({ status: 400 });
    expect((await update('products', id, { $max: { rate: 0.2 } })).body.data.rate).toBe(0.2);
    expect((await update('products', id, { $mul: { rate: 0.5 } })).body.data.rate).toBe(0.1);
  });
});

describe('other failures', () => {
  test('400 INVALID_FILTER for an invalid $pull condition, and for a pattern that may take long', async () => {
    const id = await create('notes', { list: ['x'] });
    for (const condition of [{ $near: 1 }, {}, { $regex: '(a)\\1' }])
      expect(await update('notes', id, { $pull: { list: condition } })).toMatchObject({
        status: 400,
        body: { code: 'INVALID_FILTER' },
      });
  });

  test('404 DOCUMENT_NOT_FOUND for a missing document, and for a trashed one', async () => {
    const id = await create('products', { name: 'gone', stock: 1 });
    await project.api('DELETE', `/api/data/products/${id}`);
    for (const missing of [id, 'f'.repeat(24)])
      expect(await update('products', missing, { $inc: { stock: -5 } })).toMatchObject({ status: 404 });
  });

  test('403 NOT_OWNER before errors about the stored value', async () => {
    const id = await create('mine', { n: 1, userId: 'b'.repeat(24) });
    expect(await update('mine', id, { $inc: { n: -5 } }, ann)).toMatchObject({
      status: 403,
      body: { code: 'NOT_OWNER' },
    });
  });

  test.each<[object]>([[{ $unset: ['userId'] }], [{ $push: { userId: 'x' } }], [{ $inc: { 'userId.x': 1 } }]])(
    '403 OWNER_IMMUTABLE for %j, with either key',
    async (body) => {
      const id = await create('mine', { n: 1, userId: annId });
      for (const caller of [ann, {}])
        expect(await update('mine', id, body, caller)).toMatchObject({
          status: 403,
          body: { code: 'OWNER_IMMUTABLE' },
        });
      expect(await get('mine', id)).toMatchObject({ userId: annId });
    },
  );

  test('409 DUPLICATE_VALUE when the result of a unique field is taken', async () => {
    await create('products', { name: 'n', rank: 11 });
    const id = await create('products', { name: 'n', rank: 10 });
    expect(await update('products', id, { $inc: { rank: 1 } })).toMatchObject({
      status: 409,
      body: { code: 'DUPLICATE_VALUE', errors: [{ field: 'rank' }] },
    });
  });

  test('412 REVISION_MISMATCH before errors about the stored value', async () => {
    const id = await create('products', { name: 'n', stock: 0 });
    const answer = await update('products', id, { $inc: { stock: -1 } }, { headers: { 'if-match': '"7"' } });
    expect(answer).toMatchObject({ status: 412, body: { code: 'REVISION_MISMATCH', data: { stock: 0 } } });
  });

  test('413 DOCUMENT_TOO_LARGE when added elements make the document too large', async () => {
    const big = 'x'.repeat(900_000);
    const id = await create('notes', { list: [big] });
    for (let round = 0; round < 3; round += 1) await update('notes', id, { $push: { list: big } });
    expect(await update('notes', id, { $push: { list: big } })).toMatchObject({
      status: 413,
      body: { code: 'DOCUMENT_TOO_LARGE' },
    });
    expect(await update('notes', id, { $pull: { list: big } })).toMatchObject({
      status: 200,
      body: { data: { list: [] } },
    });
  });
});

describe('rules check the result', () => {
  test('200 when after allows the result, 403 RULE_DENIED otherwise', async () => {
    const id = await create('ruled', { likes: 1, people: [], other: 1 });
    expect(await update('ruled', id, { $inc: { likes: 1 } }, ann)).toMatchObject({ status: 200 });
    expect(await update('ruled', id, { $push: { people: annId } }, ann)).toMatchObject({ status: 200 });
    for (const body of [
      { $inc: { likes: 2 } },
      { $mul: { likes: 3 } },
      { $push: { people: 'x' } },
      { $pull: { people: annId } },
      { $inc: { likes: 1, other: 1 } },
      { $unset: ['likes'] },
    ])
      expect(await update('ruled', id, body, ann)).toMatchObject({ status: 403, body: { code: 'RULE_DENIED' } });
    expect(await get('ruled', id)).toMatchObject({ likes: 2, people: [annId], other: 1 });
  });

  test('50 concurrent callers each count, or get 503 TOO_MANY_WRITERS', async () => {
    const id = await create('ruled', { likes: 0, people: [] });
    const answers = await inParallel(50, () => update('ruled', id, { $inc: { likes: 1 } }, ann));
    const { 200: done = 0, 503: busy = 0 } = tally(answers);
    expect(done + busy).toBe(50);
    expect(await get('ruled', id)).toMatchObject({ likes: done });
  });
});

describe('concurrent callers', () => {
  test('exactly 20 of 50 callers succeed with a stock of 20, in 20 rounds', async () => {
    for (let round = 0; round < 20; round += 1) {
      const id = await create('products', { name: 'n', stock: 20 });
      const answers = await inParallel(50, () => update('products', id, { $inc: { stock: -1 } }));
      expect(tally(answers)).toEqual({ 200: 20, 400: 30 });
      const left = answers.flatMap(({ body }) => (body.data ? [body.data.stock] : []));
      expect(new Set(left).size).toBe(20);
      expect(await get('products', id)).toMatchObject({ stock: 0 });
      expect((await project.api('GET', `/api/data/products/${id}`)).headers.get('etag')).toBe('"21"');
    }
  });

  test('every added element is stored, and never more than maxItems', async () => {
    const [list, few] = [await create('notes', { list: [] }), await create('products', { name: 'n' })];
    const pushed = await inParallel(50, (n) => update('notes', list, { $push: { list: n } }));
    expect(tally(pushed)).toEqual({ 200: 50 });
    expect(new Set((await get('notes', list)).list as unknown[]).size).toBe(50);
    const added = await inParallel(50, (n) => update('products', few, { $addToSet: { tags: `t${n}` } }));
    expect(tally(added)).toEqual({ 200: 3, 400: 47 });
    expect((await get('products', few)).tags).toHaveLength(3);
  });
});

describe('the effects of a write', () => {
  test('the feed contains it, and an Idempotency-Key replays the response without counting again', async () => {
    const id = await create('fed', { n: 1 });
    const { body: start } = await project.api<{ data: { next: string } }>('GET', '/api/data/fed/changes');
    const headers = { 'idempotency-key': 'count-once' };
    const [one, two] = [
      await update('fed', id, { $inc: { n: 1 } }, { headers }),
      await update('fed', id, { $inc: { n: 1 } }, { headers }),
    ];
    expect(one).toMatchObject({ status: 200, body: { data: { n: 2 } } });
    expect(two.body).toEqual(one.body);
    const reused = await update('fed', id, { $inc: { n: 2 } }, { headers });
    expect(reused).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_KEY_REUSED' } });
    const since = encodeURIComponent(start.data.next);
    const feed = await project.api('GET', `/api/data/fed/changes?since=${since}`);
    expect(feed.body).toMatchObject({ data: { changes: [{ _id: id, rev: 2, document: { n: 2 } }] } });
  });
});

describe('commands of a warm request', () => {
  const costOf = (collectionName: string, id: string, body: object) =>
    commandsOf(async () => {
      const options = { key: project.secretKey, params: { collectionName, id }, body };
      const answer = await invoke(updateDocument, options);
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    });

  test('an operator needs one command, like a plain update', async () => {
    const frozen = Date.now();
    clock.now = () => frozen;
    const [notes, shop] = [
      await create('notes', { n: 1 }),
      await create('products', { name: 'n', stock: 9, rate: 0.5, tags: ['z'] }),
    ];
    for (const [name, id] of [
      ['notes', notes],
      ['products', shop],
    ] as const)
      await costOf(name, id, { name: 'warm' });
    const plain = await costOf('notes', notes, { n: 2 });
    expect(plain.filter((command) => command.startsWith('mongodb'))).toEqual(['mongodb findAndModify']);
    for (const body of [
      { $inc: { n: 1 } },
      { $inc: { fresh: 0.1 } },
      { $mul: { n: 1.5 } },
      { $min: { n: 1 } },
      { $max: { n: 7 } },
      { $push: { list: 1 } },
      { $addToSet: { set: 1 } },
      { $pull: { list: 1 } },
      { $unset: ['x'] },
      { $currentDate: ['at'] },
    ])
      expect(await costOf('notes', notes, body), JSON.stringify(body)).toEqual(plain);
    for (const body of [
      { $inc: { stock: -1 } },
      { $mul: { stock: 2 } },
      { $max: { stock: 3 } },
      { $inc: { level: 1 } },
      { $inc: { rate: 0.1 } },
      { $min: { rate: 0.4 } },
      { $max: { seenAt: '2026-01-01' } },
      { $addToSet: { tags: 'a' } },
    ])
      expect(await costOf('products', shop, body), JSON.stringify(body)).toEqual(plain);
  });
});
