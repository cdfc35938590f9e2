import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { sortKeyField } from '../../../shared/documents/query/sort.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

let project: TestProject;

beforeAll(async () => {
  project = await newProject([
    { name: 'numbers' },
    { name: 'empty' },
    { name: 'mixed' },
    { name: 'big' },
    { name: 'keyed' },
  ]);
  await project.api('POST', '/api/data/numbers/bulk', {
    body: Array.from({ length: 25 }, (_, n) => ({ n, half: Math.floor(n / 2), nested: { m: -n } })),
  });
});

interface Item {
  readonly _id: string;
  readonly n: number;
  readonly [key: string]: unknown;
}

interface List {
  readonly success: boolean;
  readonly data: {
    readonly items: readonly Item[];
    readonly total: number;
    readonly page?: number;
    readonly limit: number;
    readonly cursor?: string;
    readonly nextCursor?: string | null;
    readonly truncated?: true;
    readonly hints?: readonly string[];
  };
  readonly message: string;
  readonly code: string;
}

const list = (query = '', collection = 'numbers') => project.api<List>('GET', `/api/data/${collection}?${query}`);
const numbers = async (query: string): Promise<number[]> => (await list(query)).body.data.items.map(({ n }) => n);

describe('the hints of a list', () => {
  const inner = [{ key: 'm', type: 'Number' }];
  beforeAll(() =>
    project.addCollection({
      name: 'items',
      schema: [
        { key: 'name', type: 'String' },
        { key: 'tags', type: 'Array', items: { type: 'String' } },
        { key: 'any', type: 'Object' },
        { key: 'loose', type: 'Array' },
        { key: 'of', type: 'Object', fields: inner },
        { key: 'all', type: 'Array', items: { type: 'Object', fields: inner } },
      ],
      rls: { enabled: true },
    }),
  );
  const where = (condition: object) => `where=${encodeURIComponent(JSON.stringify(condition))}`;

  test.each([
    ['nmae=x', '"nmae"'],
    ['nmae_ne=x&count=true', '"nmae"'],
    ['sort=-prise,name', '"prise"'],
    ['of.n=1&name.first=x&sort=all.n', '"name.first", "of.n", "all.n"'],
    [where({ $or: [{ name: 'x' }, { $not: { nmae: 'x' } }] }), '"nmae"'],
    [where({ all: { $elemMatch: { n: 1 } } }), '"all.n"'],
  ])('name the fields that the schema lacks: %s', async (query, fields) => {
    const { status, body } = await list(query, 'items');
    expect(status).toBe(200);
    const { hints } = body.data;
    expect(hints).toEqual([expect.stringContaining('The schema of "items" has no field')]);
    expect(new Set(hints?.[0]?.match(/"[^"]+"/g)?.slice(1))).toEqual(new Set(fields.split(', ')));
  });

  test('name at most ten fields', async () => {
    const query = Array.from({ length: 30 }, (_, n) => `x${n}=1`).join('&');
    expect((await list(query, 'items')).body.data.hints?.[0]?.match(/"x\d+"/g)).toHaveLength(10);
  });

  test.each([
    ['items', ''],
    ['items', 'name=x&tags=a&tags.0=b&any.a.b=1&any=null&loose.0.x=1&of.m=1&all.m=1&all.0.m=1&userId=u&sort=-_id'],
    ['items', `createdAt_gt=2026-01-01&sort=updatedAt&${where({ all: { $elemMatch: { m: 1 } } })}`],
    ['numbers', 'nmae=x&sort=-prise'],
  ])('are missing in %s when the list uses only known or possible fields: %s', async (collection, query) => {
    const { status, body } = await list(query, collection);
    expect(status).toBe(200);
    expect(body.data).not.toHaveProperty('hints');
  });
});

describe('a list', () => {
  test('200 with the newest first, 100 a page', async () => {
    const answer = await list();
    expect(answer).toMatchObject({
      status: 200,
      body: { success: true, message: 'Data fetched successfully', data: { total: 25, page: 1, limit: 100 } },
    });
    expect(answer.body.data.items.map(({ n }) => n)).toEqual(Array.from({ length: 25 }, (_, n) => 24 - n));
    expect(answer.body.data).not.toHaveProperty('nextCursor');
  });

  test('200 for an empty collection', async () => {
    expect((await list('', 'empty')).body.data).toEqual({ items: [], total: 0, page: 1, limit: 100 });
  });

  test.each([
    ['page=2&limit=10', [14, 13, 12, 11, 10, 9, 8, 7, 6, 5], 2],
    ['page=3&limit=10', [4, 3, 2, 1, 0], 3],
    ['page=4&limit=10', [], 4],
    ['skip=23&limit=10', [1, 0], undefined],
    ['skip=3&page=2&limit=2', [22, 21], 2],
  ])('200 for %s', async (query, expected, page) => {
    const { data } = (await list(query)).body;
    expect(data.items.map(({ n }) => n)).toEqual(expected);
    expect(data.total).toBe(25);
    if (page !== undefined) expect(data.page).toBe(page);
  });

  test('200 with limit above 1000 treated as 1000', async () => {
    expect((await list('limit=5000')).body.data.limit).toBe(1000);
  });

  test.each([
    'limit=0',
    'limit=-1',
    'limit=1.5',
    'limit=x',
    'limit=',
    'page=0',
    'page=x',
    'page=1e9',
    'skip=-1',
    'skip=x',
    'sort=%24x',
    'sort=a,b,c,d,e',
    'sort=a:up',
    'sort=-',
    'include_deleted=maybe',
    'count=yes',
    'meta=1',
    'limit=1&limit=2',
    'populate=n',
    'expand=nothing',
    'populate=a,b,c,d,e,f',
    'fields=%24x',
    'fields=nested,nested.m',
  ])('400 INVALID_QUERY for %s', async (query) => {
    expect(await list(query)).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY' } });
  });

  test.each([
    ['sort=n&limit=3', [0, 1, 2]],
    ['sort=-n&limit=3', [24, 23, 22]],
    ['sort=n:desc&limit=3', [24, 23, 22]],
    ['sort=-half,n&limit=4', [24, 22, 23, 20]],
    ['sort=half:desc,n:desc&limit=4', [24, 23, 22, 21]],
    ['sort=nested.m&limit=2', [24, 23]],
    ['sort=half&limit=4', [0, 1, 2, 3]],
    ['sort=-half&limit=3', [24, 23, 22]],
    ['sort=_id&limit=2', [0, 1]],
  ])('200 for %s', async (query, expected) => {
    expect(await numbers(query)).toEqual(expected);
  });

  test('200 with fields=… and meta=false', async () => {
    expect((await list('fields=n&limit=1')).body.data.items[0]).toEqual({ _id: expect.any(String), n: 24 });
    expect((await list('fields=nested.m&limit=1')).body.data.items[0]).toEqual({
      _id: expect.any(String),
      nested: { m: -24 },
    });
    expect((await list('meta=false&limit=1')).body.data.items[0]).toEqual({
      _id: expect.any(String),
      n: 24,
      half: 12,
      nested: { m: -24 },
    });
  });

  test('200 with count=true and filters', async () => {
    expect((await project.api('GET', '/api/data/numbers?count=true&n_gte=5')).body).toEqual({
      success: true,
      data: { count: 20 },
      message: 'Count fetched successfully',
    });
  });

  test('200 without trashed documents by default, and with them on request: list, total, count, cursor', async () => {
    const own = await newProject([{ name: 'things' }]);
    const made = await own.api<{ data: { ids: string[] } }>('POST', '/api/data/things/bulk', {
      body: Array.from({ length: 8 }, (_, n) => ({ n })),
    });
    for (const id of made.body.data.ids.slice(0, 3)) await own.api('DELETE', `/api/data/things/${id}`);
    const totals = async (query: string) => {
      const { body } = await own.api<List>('GET', `/api/data/things?${query}`);
      return [body.data.items.length, body.data.total];
    };
    expect(await totals('')).toEqual([5, 5]);
    expect(await totals('limit=2')).toEqual([2, 5]);
    expect(await totals('limit=2&cursor=')).toEqual([2, 5]);
    expect(await totals('limit=2&n_gte=0')).toEqual([2, 5]);
    expect(await totals('limit=2&include_deleted=true')).toEqual([2, 8]);
    expect(await totals('include_deleted=true')).toEqual([8, 8]);
    expect((await own.api('GET', '/api/data/things?count=true')).body).toMatchObject({ data: { count: 5 } });
    expect((await own.api('GET', '/api/data/things?count=true&include_deleted=true')).body).toMatchObject({
      data: { count: 8 },
    });
  });
});

describe('a cursor', () => {
  const walk = async (query: string, collection = 'numbers'): Promise<Item[]> => {
    const items: Item[] = [];
    let cursor: string | null | undefined = '';
    while (typeof cursor === 'string') {
      const { body, status }: Awaited<ReturnType<typeof list>> = await list(
        `${query}&cursor=${encodeURIComponent(cursor)}`,
        collection,
      );
      expect(status).toBe(200);
      expect(body.data).not.toHaveProperty('page');
      items.push(...body.data.items);
      cursor = body.data.nextCursor;
    }
    expect(cursor).toBeNull();
    return items;
  };

  test.each(['', 'sort=n', 'sort=-half', 'sort=half,-n', 'sort=missing', 'n_lt=20&sort=nested.m'])(
    'returns every document once, in the order of the list: %s',
    async (query) => {
      const whole = (await list(`${query}&limit=1000`)).body.data.items;
      expect(await walk(`${query}&limit=4`)).toEqual(whole);
    },
  );

  test('orders ties, nulls, missing values, arrays and mixed types correctly in both directions', async () => {
    const values = [
      1,
      2,
      2,
      'a',
      'b',
      'b',
      null,
      true,
      false,
      [],
      [1],
      [3, 0],
      ['a', 5],
      {},
      { a: 1 },
      { a: 1 },
      -1.5,
      '',
      [null],
      [[2]],
      1e300,
    ];
    const bodies = [...values, ...values].map((v, n) => ({ n, v }));
    await project.api('POST', '/api/data/mixed/bulk', { body: [...bodies, { n: 100 }, { n: 101 }] });
    for (const sort of ['v', '-v', 'v,-n', '-v,n', 'v:desc,other']) {
      const whole = (await list(`sort=${sort}&limit=1000`, 'mixed')).body.data.items.map(({ n }) => n);
      const walked = (await walk(`sort=${sort}&limit=3`, 'mixed')).map(({ n }) => n);
      expect(walked, sort).toEqual(whole);
    }
  });

  test('does not change its order when documents are inserted', async () => {
    const own = await newProject([{ name: 'things' }]);
    const insert = async () => (await own.api<{ _id: string }>('POST', '/api/data/things', { body: {} })).body._id;
    const ids: string[] = [];
    for (let n = 0; n < 6; n++) ids.push(await insert());
    const first = await own.api<List>('GET', '/api/data/things?cursor=&limit=3');
    // Ids that several processes create within one second have no time order.
    await pause(1000 - (Date.now() % 1000));
    await insert();
    const second = await own.api<List>('GET', `/api/data/things?cursor=${first.body.data.nextCursor}&limit=3`);
    expect(second.body.data.items.map(({ _id }) => _id)).toEqual(ids.sort().reverse().slice(3));
    expect(second.body.data.nextCursor).toBeNull();
  });

  test('is short when the sort values are long', async () => {
    const own = await newProject([{ name: 'things' }]);
    for (let n = 0; n < 4; n++) await own.api('POST', '/api/data/things', { body: { n, v: 'x'.repeat(5000) + n } });
    const first = await own.api<List>('GET', '/api/data/things?cursor=&limit=2&sort=v');
    const cursor = first.body.data.nextCursor ?? '';
    expect(cursor.length).toBeLessThanOrEqual(2048);
    const second = await own.api<List>('GET', `/api/data/things?cursor=${cursor}&limit=2&sort=v`);
    expect(second.body.data.items.map(({ n }) => n)).toEqual([2, 3]);
  });

  test('200 with every document when one has a field with the internal name of sort keys', async () => {
    const body = Array.from({ length: 5 }, (_, n) => ({ n, [sortKeyField]: ['z'] }));
    await project.api('POST', '/api/data/keyed/bulk', { body });
    for (const sort of ['', 'sort=n', 'sort=-n']) expect(await walk(`${sort}&limit=2`, 'keyed')).toHaveLength(5);
  });

  test('200 from the same position when an edit gave the sort key another type', async () => {
    const own = await newProject([{ name: 'things', schema: [{ key: 'v', type: 'String' }] }]);
    const insert = (bodies: unknown) => own.api('POST', '/api/data/things/bulk', { body: bodies });
    await insert(['a', 'b', 'c', 'd'].map((v, n) => ({ v, n })));
    const first = await own.api<List>('GET', '/api/data/things?cursor=&limit=2&sort=-v');
    expect(first.body.data.items.map(({ n }) => n)).toEqual([3, 2]);
    const path = `/api/projects/${own.id}/collections/things`;
    const edit = { schema: [{ key: 'v', type: 'Number' }], force: true };
    expect(await own.developer.dashboard('PUT', path, edit)).toMatchObject({ status: 200 });
    const added = [7, 8].map((v, n) => ({ v, n: 4 + n }));
    await expect.poll(async () => (await insert(added)).status).toBe(201);
    const cursor = encodeURIComponent(first.body.data.nextCursor ?? '');
    const second = await own.api<List>('GET', `/api/data/things?cursor=${cursor}&limit=10&sort=-v`);
    expect(second.body.data.items.map(({ n }) => n)).toEqual([1, 0, 5, 4]);
  });

  test('400 INVALID_CURSOR for a malformed or forged cursor, or one of another sort', async () => {
    const good = (await list('cursor=&limit=2&sort=n')).body.data.nextCursor ?? '';
    const forge = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const bad = [
      'x',
      `${good}x`,
      good.slice(2),
      forge([]),
      forge({ $gt: '' }),
      forge([1, { $ne: null }]),
      'a'.repeat(4000),
    ];
    for (const cursor of bad) {
      expect(await list(`cursor=${cursor}&limit=2&sort=n`)).toMatchObject({
        status: 400,
        body: { code: 'INVALID_CURSOR' },
      });
    }
    expect((await list(`cursor=${good}&limit=2&sort=-n`)).status).toBe(400);
    expect((await list(`cursor=${good}&limit=2`)).status).toBe(400);
    expect((await list(`cursor=${good}&limit=2&sort=n:asc`)).status).toBe(200);
  });
});

describe('a list of more than 5 MiB', () => {
  const ids: string[] = [];

  beforeAll(async () => {
    for (let n = 0; n < 80; n += 1) {
      const body = { n, text: 'x'.repeat(100 * 1024) };
      ids.unshift((await project.api<{ _id: string }>('POST', '/api/data/big', { body })).body._id);
    }
  });

  const idsOf = ({ body }: Awaited<ReturnType<typeof list>>) => body.data.items.map(({ _id }) => _id);
  const tooLarge = { status: 400, body: { code: 'RESULT_TOO_LARGE', message: expect.stringContaining('cursor') } };

  test.each(['', 'limit=60', 'page=1&limit=60', 'skip=10&limit=60', 'limit=60&fields=text'])(
    '400 RESULT_TOO_LARGE for a numbered page when cutting it would skip documents: %s',
    async (query) => {
      expect(await list(query, 'big')).toMatchObject(tooLarge);
    },
  );

  test('200 with every document once in numbered pages that fit', async () => {
    const pages = await Promise.all([1, 2, 3].map((page) => list(`page=${page}&limit=40`, 'big')));
    expect(pages.flatMap(idsOf)).toEqual(ids);
    expect((await list('limit=80&fields=n', 'big')).body.data).toMatchObject({ total: 80, page: 1 });
    expect((await list('page=2&limit=60', 'big')).body.data.items).toHaveLength(20);
  });

  test('200 with a page cut at 5 MiB in cursor mode, and a cursor for the rest', async () => {
    const first = await list('cursor=', 'big');
    expect(JSON.stringify(first.body).length).toBeLessThanOrEqual(5 * 1024 * 1024);
    expect(first.body.data).toMatchObject({ truncated: true, total: 80, cursor: '' });
    const second = await list(`cursor=${first.body.data.nextCursor}`, 'big');
    expect([first, second].flatMap(idsOf)).toEqual(ids);
  });
});
