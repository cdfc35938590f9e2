import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as queryDocuments } from '../../../functions/data/query-documents.ts';
import { clock } from '../../../shared/core/clock.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

listenToCommands();
process.env.RATE_LIMIT = '0';

const ann = 'a'.repeat(24);
let project: TestProject;
let token: string;

afterEach(() => {
  vi.restoreAllMocks();
});

beforeAll(async () => {
  project = await newProject([
    {
      name: 'posts',
      schema: [
        { key: 'title', type: 'String' },
        { key: 'views', type: 'Number' },
        { key: 'tags', type: 'Array', items: { type: 'String' } },
        { key: 'author', type: 'Ref', ref: 'people' },
        { key: 'at', type: 'Date' },
        { key: 'count', type: 'Number' },
        { key: 'where', type: 'String' },
        { key: 'query', type: 'String' },
      ],
    },
    { name: 'people' },
    { name: 'diaries', rls: { enabled: true, mode: 'private' } },
  ]);
  token = await project.tokenFor(ann);
  const person = await project.api<{ _id: string }>('POST', '/api/data/people', { body: { name: 'Ann' } });
  const posts = Array.from({ length: 20 }, (_, n) => ({
    ...{ title: `post ${n}`, views: n, tags: n % 2 ? ['odd'] : ['even', 'two'], count: n, where: `w${n}`, query: 'q' },
    author: person.body._id,
  }));
  const diaries = Array.from({ length: 10 }, (_, n) => ({ n, userId: n % 2 ? ann : 'b'.repeat(24) }));
  for (const [name, body] of [
    ['posts', posts],
    ['diaries', diaries],
  ] as const) {
    expect((await project.api('POST', `/api/data/${name}/bulk`, { body })).status).toBe(201);
  }
});

interface Answered {
  readonly code?: string;
  readonly message: string;
  readonly errors?: readonly { readonly field: string }[];
  readonly data: {
    readonly items: readonly Readonly<Record<string, unknown>>[];
    readonly total: number;
    readonly nextCursor?: string | null;
    readonly count?: number;
  };
}

const query = (body: unknown, collection = 'posts', options = {}) =>
  project.api<Answered>('POST', `/api/data/${collection}/query`, { body, ...options });
const list = (parameters: string, collection = 'posts') =>
  project.api<Answered>('GET', `/api/data/${collection}?${parameters}`);
const sent = (where: unknown): string => `where=${encodeURIComponent(JSON.stringify(where))}`;

const half = { $or: [{ views: { $lt: 3 } }, { tags: 'odd' }] };

describe('a query', () => {
  test('200 with the same result as a list with these parameters', async () => {
    const more = {
      sort: ['-views', 'title'],
      fields: 'title,author',
      limit: 4,
      page: 2,
      populate: ['author'],
      meta: false,
    };
    const [byBody, byAddress] = await Promise.all([
      query({ where: half, ...more }),
      list(`${sent(half)}&sort=-views,title&fields=title,author&limit=4&page=2&populate=author&meta=false`),
    ]);
    expect(byBody.status).toBe(200);
    expect(byBody.body).toEqual(byAddress.body);
    expect(byBody.body.data.items[0]).toEqual({
      _id: expect.any(String),
      title: 'post 11',
      author: expect.objectContaining({ name: 'Ann' }),
    });
    expect(byBody.body.data.total).toBe(12);
  });

  test('200 with an empty body', async () => {
    expect((await query({})).body.data.total).toBe(20);
    expect((await query({ where: {} })).body.data.total).toBe(20);
  });

  test('200 with a count, and with trashed documents', async () => {
    expect((await query({ where: half, count: true })).body).toEqual({
      success: true,
      data: { count: 12 },
      message: 'Count fetched successfully',
    });
    expect((await query({ where: half, include_deleted: true, skip: 11 })).body.data.items).toHaveLength(1);
  });

  test('200 for all pages of a cursor, with each document once', async () => {
    const seen: unknown[] = [];
    for (let cursor: string | null | undefined = ''; typeof cursor === 'string'; ) {
      const { body } = await query({ where: half, sort: 'views', limit: 5, cursor });
      seen.push(...body.data.items.map(({ views }) => views));
      cursor = body.data.nextCursor;
    }
    expect(seen).toEqual([0, 1, 2, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
  });

  test('any field name is allowed inside where', async () => {
    for (const where of [{ count: 3 }, { where: 'w3' }, { query: 'q', views: 3 }]) {
      expect((await query({ where })).body.data.items.map(({ views }) => views)).toEqual([3]);
      expect((await list(sent(where))).body.data.total).toBe(1);
    }
    expect((await list('where_eq=w3&query_eq=q')).body.data.total).toBe(1);
  });

  test('applies where, filters and row security together', async () => {
    expect((await list(`${sent(half)}&views_gte=10`)).body.data.total).toBe(5);
    const own = await query({ where: { $or: [{ n: 0 }, { n: { $gt: 4 } }] } }, 'diaries', {
      ...{ key: project.publishableKey, token },
    });
    expect(own.body.data.items.map(({ n }) => n)).toEqual([9, 7, 5]);
  });

  test('401 in a private collection without a token, before the condition is checked', async () => {
    const answer = await query({ where: { $foo: 1 } }, 'diaries', { key: project.publishableKey });
    expect(answer).toMatchObject({ status: 401, body: { code: 'TOKEN_MISSING' } });
  });

  test('costs 1 find when the page shows the total, otherwise also 1 count', async () => {
    const ask = (body: object) => () =>
      invoke(queryDocuments, { key: project.secretKey, params: { collectionName: 'posts' }, body });
    // A stopped clock keeps cached lookups from being repeated in between.
    vi.spyOn(clock, 'now').mockReturnValue(Date.now());
    await ask({})();
    expect(await commandsOf(ask({ where: half }))).toEqual(['mongodb find']);
    expect(await commandsOf(ask({ where: half, limit: 5 }))).toEqual(['mongodb count', 'mongodb find']);
  });

  test.each<[unknown, string]>([
    [{ filter: {} }, 'INVALID_BODY'],
    [{ views_gte: 5 }, 'INVALID_BODY'],
    [{ expand: 'author' }, 'INVALID_BODY'],
    [[], 'INVALID_BODY'],
    [5, 'INVALID_BODY'],
    [{ limit: '5' }, 'INVALID_QUERY'],
    [{ limit: 0 }, 'INVALID_QUERY'],
    [{ limit: 1.5 }, 'INVALID_QUERY'],
    [{ page: null }, 'INVALID_QUERY'],
    [{ sort: [5] }, 'INVALID_QUERY'],
    [{ sort: { views: 1 } }, 'INVALID_QUERY'],
    [{ fields: ['$a'] }, 'INVALID_QUERY'],
    [{ populate: ['title'] }, 'INVALID_QUERY'],
    [{ count: 'true' }, 'INVALID_QUERY'],
    [{ cursor: null }, 'INVALID_QUERY'],
    [{ cursor: 'a' }, 'INVALID_CURSOR'],
    [{ where: null }, 'INVALID_FILTER'],
    [{ where: [] }, 'INVALID_FILTER'],
    [{ where: { $where: '1' } }, 'INVALID_FILTER'],
    [{ where: { title: { $regex: '(' } } }, 'INVALID_REGEX'],
  ])('400 for %j', async (body, code) => {
    expect(await query(body)).toMatchObject({ status: 400, body: { code } });
  });

  test('400 for parameters in its URL', async () => {
    const answer = await project.api('POST', '/api/data/posts/query?views=5', { body: {} });
    const message = 'views belongs in the body';
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'INVALID_QUERY', message, errors: [{ field: 'views', message }] },
    });
  });

  test('413 for more than 64 KiB, 200 for exactly 64 KiB', async () => {
    const body = (length: number) => JSON.stringify({ where: { title: '' } }).replace('""', `"${'a'.repeat(length)}"`);
    const room = 64 * 1024 - body(0).length;
    expect((await query(JSON.parse(body(room)))).status).toBe(200);
    expect(await query(JSON.parse(body(room + 1)))).toMatchObject({ status: 413, body: { code: 'BODY_TOO_LARGE' } });
  });
});

describe('where in the URL', () => {
  test.each([
    '{',
    'a',
    '',
    '[]',
    '5',
    '{"a":1e999}',
    '{"__proto__":1}',
    '{"a":"\\ud800"}',
    '{"a":12345678901234567890}',
  ])('400 INVALID_FILTER for %s', async (text) => {
    const answer = await list(`where=${encodeURIComponent(text)}`);
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_FILTER', errors: [{ field: 'where' }] } });
  });

  test('400 for over 8 KiB as sent, 200 for exactly 8 KiB with any decoded size', async () => {
    const filler = (length: number) =>
      `where=%7B%22title%22:%22${'%20'.repeat(Math.floor(length / 3))}${'a'.repeat(length % 3)}%22%7D`;
    const room = 8 * 1024 - (filler(0).length - 'where='.length);
    expect((await list(`limit=1&${filler(room)}`)).status).toBe(200);
    for (const name of ['where', '%77here']) {
      const answer = await list(`limit=1&${filler(room + 1).replace('where', name)}`);
      expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_FILTER' } });
      expect(answer.body.message).toContain('8 KiB');
    }
  });

  test('400 INVALID_QUERY when where is given twice, and for query', async () => {
    expect(await list('where={}&where={}')).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY' } });
    expect(await list('query=q')).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY' } });
  });

  test.each([
    ['{', 'Filter "where": it is not valid JSON from character 2 on. Percent-encode its JSON in the address.'],
    ['{"a":{"__proto__":1}}', 'Filter "where": A field may not be named __proto__.'],
  ])('400 INVALID_FILTER for %s; only invalid JSON may lack its percent-encoding', async (where, message) => {
    expect(await list(`where=${encodeURIComponent(where)}`)).toMatchObject({ status: 400, body: { message } });
  });

  test('names the path in message and errors', async () => {
    const { body } = await list(sent({ $or: [{ title: 'a' }, { views: { $foo: 1 } }] }));
    expect(body.message).toMatch(/^Filter "\$or\.1\.views\.\$foo": there is no such operator/);
    expect(body.errors?.map(({ field }) => field)).toEqual(['$or.1.views.$foo']);
  });
});

const kinds = [
  null,
  true,
  0,
  -1,
  1.5,
  1e300,
  '',
  'a',
  '(',
  '2026-01-01',
  ann,
  [],
  [null],
  [1, 'a'],
  [[]],
  {},
  { a: 1 },
  { $gt: 1 },
];
const operators = [
  ...['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$exists', '$regex', '$contains', '$startsWith'],
  ...['$endsWith', '$all', '$size', '$elemMatch', '$and', '$or', '$not', '$where', '$type', '$mod', '$nor', '$expr'],
];

test('every operator accepts, or rejects with a 400 that names its path, every value on every field type', async () => {
  const fields = ['title', 'views', 'tags', 'author', 'at', 'free', '_id'];
  const answers = new Map<number, number>();
  for (const operator of operators) {
    for (const field of fields) {
      for (const kind of kinds) {
        const body = { where: { $or: [{ [field]: { [operator]: kind } }] }, limit: 1 };
        const answer = await invoke(queryDocuments, {
          key: project.secretKey,
          params: { collectionName: 'posts' },
          body,
        });
        answers.set(answer.status, (answers.get(answer.status) ?? 0) + 1);
        const what = JSON.stringify([body, answer.body]);
        if (answer.status === 200) continue;
        expect(answer.status, what).toBe(400);
        const { code, errors } = answer.body as unknown as Answered;
        if (code !== 'INVALID_REGEX') expect(errors?.[0]?.field, what).toMatch(`$or.0.${field}.${operator}`);
      }
    }
  }
  expect([...answers.keys()].sort()).toEqual([200, 400]);
  expect(answers.get(200)).toBeGreaterThan(200);
}, 60_000);
