import { beforeAll, describe, expect, inject, test } from 'vitest';
import type { Answer } from '../../support/clients/client.ts';
import { send } from '../../support/clients/local-gateway.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

/** No request takes minutes: one that reaches MongoDB’s or our own limit of five seconds has a different outcome. */
const boundMs = 15_000;

let project: TestProject;
let id: string;

beforeAll(async () => {
  project = await newProject([
    { name: 'notes' },
    {
      name: 'posts',
      schema: [
        { key: 'n', type: 'Number' },
        { key: 'tags', type: 'Array', items: { type: 'String' } },
      ],
    },
  ]);
  const evil = { t: `${'a'.repeat(5000)}c`, list: Array.from({ length: 100 }, (_, n) => n) };
  const documents = Array.from({ length: 50 }, (_, n) => ({ n, ...evil }));
  await project.api('POST', '/api/data/notes/bulk', { body: documents });
  id = (await project.api<{ _id: string }>('POST', '/api/data/notes', { body: { a: {}, list: [1] } })).body._id;
});

const keys = (count: number, value: (n: number) => unknown, prefix = 'k'): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, value(n)]));
const list = <T>(count: number, value: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => value(n));
const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const deepList = (levels: number): string => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
const path = (segments: number): string => list(segments, () => 'a').join('.');

interface Coded {
  readonly code?: string;
}

/** Returns status and code, in bounded time. */
const outcome = async (request: () => Promise<Answer<Coded>>): Promise<string> => {
  const start = performance.now();
  const { status, body } = await request();
  expect(performance.now() - start).toBeLessThan(boundMs);
  return body.code === undefined ? String(status) : `${status} ${body.code}`;
};

const post =
  (body: unknown, collection = 'notes') =>
  () =>
    project.api<Coded>('POST', `/api/data/${collection}`, { body });
const patch = (body: unknown) => () => project.api<Coded>('PATCH', `/api/data/notes/${id}`, { body });
const aggregate = (pipeline: unknown) => () =>
  project.api<Coded>('POST', '/api/data/notes/aggregate', { body: { pipeline } });
const get =
  (query: string, collection = 'notes') =>
  () =>
    project.api<Coded>('GET', `/api/data/${collection}?${query}`);

describe('deep bodies', () => {
  test.each<[string, string, string]>([
    ['64 objects', deep(64), '201'],
    ['65 objects', deep(65), '400 INVALID_BODY'],
    ['1000 objects', deep(1000), '400 INVALID_BODY'],
    ['100 000 objects', deep(100_000), '400 INVALID_BODY'],
    ['63 arrays', deepList(63), '201'],
    ['64 arrays', deepList(64), '400 INVALID_BODY'],
    ['400 000 arrays', deepList(400_000), '400 INVALID_BODY'],
    ['a million brackets that never close', '['.repeat(1_000_000), '400 INVALID_JSON'],
  ])('%s', async (_what, body, expected) => {
    expect(await outcome(post(body))).toBe(expected);
    if (expected !== '201') expect(await outcome(patch(body))).toBe(expected);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['64 names', { [path(64)]: 1 }, '200'],
    ['65 names', { [path(65)]: 1 }, '400 INVALID_UPDATE'],
    ['100 000 names', { [path(100_000)]: 1 }, '400 INVALID_UPDATE'],
    ['32 names to 33 levels', { [path(32)]: JSON.parse(deep(33)) as unknown }, '400 INVALID_UPDATE'],
  ])('a path of %s', async (_what, body, expected) => {
    expect(await outcome(patch(body))).toBe(expected);
  });
});

describe('wide bodies', () => {
  test.each<[string, () => Promise<Answer<Coded>>, string]>([
    ['20 000 fields', post(keys(20_000, (n) => n)), '201'],
    ['a list of 100 000', post({ list: list(100_000, (n) => n) }), '201'],
    ['a typed list of 50 000 wrong elements', post({ tags: list(50_000, (n) => n) }, 'posts'), '400 VALIDATION_FAILED'],
    [
      'a bulk of 100 000',
      () => project.api('POST', '/api/data/notes/bulk', { body: `[${'{},'.repeat(99_999)}{}]` }),
      '400 INVALID_BODY',
    ],
    ['an update of 1000 fields', patch(keys(1000, (n) => n)), '200'],
    ['an update of 40 000 fields', patch(keys(40_000, (n) => n)), '400 INVALID_UPDATE'],
    ['an update of 40 000 paths', patch(keys(40_000, (n) => n, 'a.k')), '400 INVALID_UPDATE'],
    ['an update of 40 000 positions', patch(keys(40_000, (n) => n, 'list.')), '400 INVALID_UPDATE'],
    ['an update of 1000 positions', patch(keys(1000, (n) => n, 'list.')), '200'],
    ['more than 1 MiB', post({ text: 'x'.repeat(1024 * 1024) }), '413 BODY_TOO_LARGE'],
    ['more than 1 MiB in UTF-8 only', post({ text: '€'.repeat(360_000) }), '413 BODY_TOO_LARGE'],
  ])('%s', async (_what, request, expected) => {
    expect(await outcome(request)).toBe(expected);
  });

  test('a response names at most 100 failures when more occurred', async () => {
    const answer = await project.api('POST', '/api/data/posts', { body: { tags: list(50_000, (n) => n) } });
    expect(answer.body.errors).toHaveLength(100);
  });
});

const copies = (count: number, of = '$a') => ({ $set: { a: { $concatArrays: list(count, () => of) } } });
const hundredfold = [{ $limit: 1 }, { $project: { a: { $range: [0, 1000] } } }, copies(100), copies(100), copies(100)];
const tooLargeForIt = '400 RESULT_TOO_LARGE';

describe('pipelines that multiply documents', () => {
  test.each<[string, unknown, string]>([
    ['lists by lists by stages', [...hundredfold, { $project: { n: { $size: '$a' } } }], tooLargeForIt],
    ['the same in $facet', [{ $facet: { f: hundredfold } }, { $count: 'n' }], tooLargeForIt],
    ['a hundred ranges of documents', [{ $set: keys(100, () => ({ $range: [0, '$n'] })) }], '400 INVALID_PIPELINE'],
    ['a hundred ranges', [{ $set: keys(100, (n) => ({ $range: [0, 6_000_000 + n] })) }], '400 INVALID_PIPELINE'],
    ['a list of 6000 fields', [{ $set: { a: list(6000, () => '$a') } }], '400 INVALID_PIPELINE'],
    [
      'a value that doubles 40 times',
      [
        {
          $set: {
            x: {
              $reduce: { input: { $range: [0, 40] }, initialValue: [1], in: { $concatArrays: ['$$value', '$$value'] } },
            },
          },
        },
      ],
      '400 INVALID_PIPELINE',
    ],
    [
      'field paths that mean something else',
      [{ $set: { x: { $map: { input: '$list', as: 'CURRENT', in: { $concatArrays: ['$a', '$a'] } } } } }],
      '400 INVALID_PIPELINE',
    ],
    [
      'field paths that mean something else in a join',
      [{ $lookup: { from: 'posts', let: { CURRENT: '$list' }, pipeline: [], as: 'x' } }],
      '400 INVALID_PIPELINE',
    ],
    ['11 joins', list(11, (n) => ({ $lookup: { from: 'posts', pipeline: [], as: `x${n}` } })), '400 INVALID_PIPELINE'],
    ['11 groups side by side', [{ $facet: keys(11, () => [{ $group: { _id: '$n' } }]) }], '400 INVALID_PIPELINE'],
    [
      '10 joins',
      [{ $limit: 1 }, ...list(10, (n) => ({ $lookup: { from: 'posts', pipeline: [], as: `x${n}` } }))],
      '200',
    ],
    [
      'lists flattened',
      [
        { $group: { _id: null, a: { $push: '$list' } } },
        {
          $project: {
            n: { $size: { $reduce: { input: '$a', initialValue: [], in: { $concatArrays: ['$$value', '$$this'] } } } },
          },
        },
      ],
      '200',
    ],
    [
      'lists by lists of small documents',
      [{ $match: { n: 1 } }, { $set: { a: { $range: [0, 10] } } }, copies(100), copies(100), { $count: 'n' }],
      '200',
    ],
  ])('%s', async (_what, pipeline, expected) => {
    expect(await outcome(aggregate(pipeline))).toBe(expected);
  });

  test('400 names the stage, the field and the fix', async () => {
    const { body } = await project.api<{ message: string }>('POST', '/api/data/notes/aggregate', {
      body: { pipeline: hundredfold },
    });
    expect(body.message).toMatch(
      /^The aggregation was stopped before pipeline\[3\]\.\$set: it could take too much memory for "a", with a document of \d+ bytes\. Project fewer fields/,
    );
  });
});

const term = (n: number) => ({ n: n + 1000 });
const branch = (n: number) => Object.fromEntries(['case', 'then'].map((part) => [part, n]));

describe('expensive pipelines', () => {
  test.each<[string, unknown, string]>([
    ['$or of 10 000', [{ $match: { $or: list(10_000, term) } }], '400 INVALID_PIPELINE'],
    ['$or of 1000', [{ $match: { $or: list(1000, term) } }], '200'],
    ['$or of 10 000 in $expr', [{ $match: { $expr: { $or: list(10_000, term) } } }], '400 INVALID_PIPELINE'],
    [
      '$or of 10 000 in $lookup',
      [{ $lookup: { from: 'notes', as: 'x', pipeline: [{ $match: { $or: list(10_000, term) } }] } }],
      '400 INVALID_PIPELINE',
    ],
    ['$or of 10 000 in $facet', [{ $facet: { a: [{ $match: { $or: list(10_000, term) } }] } }], '400 INVALID_PIPELINE'],
    ['50 of $or of 100', list(50, () => ({ $match: { $or: list(100, term) } })), '400 INVALID_PIPELINE'],
    ['$and of $or', [{ $match: { $and: list(30, (i) => ({ $or: list(30, (j) => ({ [`f${i}`]: j })) })) } }], '200'],
    ['$in of 100 000', [{ $match: { n: { $in: list(100_000, (n) => n + 1000) } } }], '200'],
    ['1000 stages', list(1000, () => ({ $match: {} })), '400 INVALID_PIPELINE'],
    ['100 000 stages', list(50_000, () => ({ $match: {} })), '400 INVALID_PIPELINE'],
    ['$sort by 1000 keys', [{ $sort: keys(1000, () => 1) }], '400 INVALID_PIPELINE'],
    ['$project of 20 000', [{ $project: keys(20_000, () => '$n') }], '400 INVALID_PIPELINE'],
    ['$project of 20 000 below one', [{ $project: { a: keys(20_000, () => '$n') } }], '400 INVALID_PIPELINE'],
    ['$fill of 20 000', [{ $fill: { output: keys(20_000, () => ({ value: 1 })) } }], '400 INVALID_PIPELINE'],
    ['$group of 20 000', [{ $group: { _id: null, ...keys(20_000, () => ({ $sum: 1 })) } }], '400 INVALID_PIPELINE'],
    ['$facet of 1000', [{ $facet: keys(1000, () => [{ $sort: { n: 1 } }]) }], '400 INVALID_PIPELINE'],
    ['$switch of 10 000', [{ $set: { x: { $switch: { branches: list(10_000, branch) } } } }], '400 INVALID_PIPELINE'],
    ['$project of 2000', [{ $project: keys(2000, () => '$n') }, { $count: 'n' }], '200'],
    ['a list of 100 million', [{ $project: { n: { $size: { $range: [0, 100_000_000] } } } }], '400 INVALID_PIPELINE'],
    [
      'text that doubles 40 times',
      [
        {
          $project: {
            t: list(1, () => 0).reduce<unknown>(
              (x) => ({ $let: { vars: { t: x }, in: { $concat: ['$$t', '$$t'] } } }),
              '$t',
            ),
          },
        },
        { $count: 'n' },
      ],
      '200',
    ],
    ['a pattern of 20 000', [{ $match: { t: { $regex: 'a?'.repeat(10_000) } } }, { $count: 'n' }], '200'],
    [
      'a pattern of nested repeats',
      [{ $match: { t: { $regex: '((a{1,100}){1,100}){1,100}b' } } }],
      '400 INVALID_PIPELINE',
    ],
    ['an exponential pattern', [{ $match: { t: { $regex: '^(a|aa)+$' } } }, { $count: 'n' }], '200'],
    [
      'an exponential pattern in $expr',
      [{ $match: { $expr: { $regexMatch: { input: '$t', regex: '^(a+)+$' } } } }, { $count: 'n' }],
      '200',
    ],
  ])('%s', async (_what, pipeline, expected) => {
    expect(await outcome(aggregate(pipeline))).toBe(expected);
  });

  test('expressions may be nested as deeply as a body', async () => {
    const not = (levels: number): string => `${'{"$not":['.repeat(levels)}1${']}'.repeat(levels)}`;
    const body = (levels: number) => `{"pipeline":[{"$set":{"x":${not(levels)}}},{"$count":"n"}]}`;
    const run = (levels: number) => () =>
      project.api<Coded>('POST', '/api/data/notes/aggregate', { body: body(levels) });
    expect(await outcome(run(29))).toBe('200');
    expect(await outcome(run(40))).toBe('400 INVALID_BODY');
    expect(await outcome(run(10_000))).toBe('400 INVALID_BODY');
  });
});

describe('expensive lists', () => {
  const query = (count: number, make: (n: number) => string, by = '&') => list(count, make).join(by);

  test.each<[string, string, string]>([
    ['50 filters', query(50, (n) => `f${n}_ne=${n}`), '200'],
    ['51 filters', query(51, (n) => `f${n}_ne=${n}`), '400 INVALID_FILTER'],
    ['the same filter 51 times', query(51, () => 'n=1'), '400 INVALID_FILTER'],
    ['_in with 1000 values', `n_in=${query(1000, (n) => `${n}`, ',')}`, '200'],
    ['_in with 1001 values', `n_in=${query(1001, (n) => `${n}`, ',')}`, '400 INVALID_FILTER'],
    ['_in with 4000 empty values', `n_in=${','.repeat(4000)}`, '400 INVALID_FILTER'],
    ['_in with 1000 values, five times', query(4, () => `n_in=${query(500, (n) => `${n}`, ',')}`), '200'],
    ['sort by 4 keys', 'sort=a,b,c,d', '200'],
    ['sort by 1000 keys', `sort=${query(1000, (n) => `k${n}`, ',')}`, '400 INVALID_QUERY'],
    ['sort by the same key twice', 'sort=a,-a', '400 INVALID_QUERY'],
    ['sort by a path of 65 names', `sort=${path(65)}`, '400 INVALID_QUERY'],
    ['a filter by a path of 65 names', `${path(65)}=1`, '400 INVALID_FILTER'],
    ['1000 fields', `fields=${query(1000, (n) => `k${n}`, ',')}`, '200'],
    ['6 populated fields', `populate=${query(6, (n) => `k${n}`, ',')}`, '400 INVALID_QUERY'],
    ['a page far away', 'page=9007199254740991&limit=1000', '200'],
    ['a page beyond numbers', 'page=99999999999999999999', '400 NUMBER_NOT_EXACT'],
    ['a limit of 400 digits', `limit=${'9'.repeat(400)}`, '200'],
    ['an offset beyond numbers', 'skip=99999999999999999999', '400 NUMBER_NOT_EXACT'],
    ['40 exponential patterns', query(40, (n) => `t_regex=${encodeURIComponent('(a*)*(a*)*b')}${n}`), '200'],
    [
      'a pattern of nested repeats',
      `t_regex=${encodeURIComponent('((a{1,100}){1,100}){1,100}b')}`,
      '400 INVALID_REGEX',
    ],
    [
      '100 exponential patterns in one condition',
      `where=${encodeURIComponent(
        JSON.stringify({
          $and: [0, 1].map((half) => ({ $or: list(50, (n) => ({ t: { $regex: `(a*)*(a*)*b${half}${n}` } })) })),
        }),
      )}&count=true`,
      '200',
    ],
    ['a pattern with look-behinds', `t_regex=${encodeURIComponent('(?<=(a+)+)$')}`, '400 INVALID_REGEX'],
    ['a recursive pattern', `t_regex=${encodeURIComponent('^((?1)?a)+$')}`, '200'],
    ['a pattern that calls itself', `t_regex=${encodeURIComponent('(?R)')}`, '200'],
  ])('%s', async (_what, text, expected) => {
    expect(await outcome(get(text))).toBe(expected);
  });

  const asked = (where: unknown, more: object = {}) => ({ where, count: true, ...more });
  const inAll = (members: number, each: (n: number) => object) => ({ $and: list(members, each) });

  test.each<[string, object, string]>([
    ['20 alternatives of 5', asked(inAll(20, (m) => ({ $or: list(5, (n) => ({ [`k${m}`]: n })) }))), '200'],
    ['50 alternatives of 2 of one field', asked(inAll(50, (m) => ({ $or: [{ n: m }, { tags: `${m}` }] }))), '200'],
    ['10 lists of 1000 values', asked(inAll(10, (m) => ({ n: { $in: list(1000, (n) => n + m) } }))), '200'],
    ['denials in one another', asked(list(7, (n) => n).reduce<object>(($not) => ({ $not, n: 1 }), { n: 1 })), '200'],
    [
      'elements of elements',
      asked(list(3, (n) => n).reduce<object>((inner) => ({ list: { $elemMatch: inner } }), { a: 1 })),
      '200',
    ],
    ['a word of 256 letters', { search: 'e'.repeat(256) }, '400 SEARCH_NOT_ENABLED'],
    ['101 conditions', asked(inAll(50, () => ({ a: 1, b: 2, c: 3 }))), '400 INVALID_FILTER'],
    ['60 lists in one another', { where: JSON.parse('['.repeat(60) + ']'.repeat(60)) }, '400 INVALID_FILTER'],
  ])('where: %s', async (_what, body, expected) => {
    expect(await outcome(() => project.api<Coded>('POST', '/api/data/posts/query', { body }))).toBe(expected);
  });

  test.each([
    ['a cursor of 3000 characters', `cursor=${'A'.repeat(3000)}`],
    ['a cursor of nested documents', `cursor=${Buffer.from([255, 255, 0, 0, 3]).toString('base64url')}`],
    ['a cursor that claims gigabytes', `cursor=${Buffer.from([255, 255, 255, 127, 0]).toString('base64url')}`],
  ])('400 INVALID_CURSOR for %s', async (_what, text) => {
    expect(await outcome(get(text))).toBe('400 INVALID_CURSOR');
  });
});

describe('huge requests', () => {
  const port = (): number => Number(new URL(inject('stack').baseUrl).port);

  test.each<[string, Parameters<typeof send>[1], number]>([
    ['a path of 20 000 characters', { path: `/api/data/${'a'.repeat(20_000)}` }, 431],
    ['a query of 20 000 characters', { path: `/api/data/notes?a=${'a'.repeat(20_000)}` }, 431],
    ['a header of 20 000 characters', { path: '/api/data/notes', headers: ['x-a', 'a'.repeat(20_000)] }, 431],
    ['a key of 9000 characters', { path: '/api/data/notes', headers: ['x-api-key', 'sk_live_'.repeat(1100)] }, 401],
    ['a path of 2000 segments', { path: `/api/data${'/a'.repeat(2000)}` }, 404],
    ['a query of 4000 parameters', { path: `/api/data/notes?${'a&'.repeat(4000)}` }, 401],
  ])('%s', async (_what, request, status) => {
    const answer = await send(port(), request);
    expect(answer.status).toBe(status);
    expect(() => JSON.parse(answer.body) as unknown).not.toThrow();
  });

  test('a collection name of 2000 characters is shortened in the response', async () => {
    const answer = await project.api('GET', `/api/data/${'n'.repeat(2000)}`);
    expect(answer).toMatchObject({ status: 404, body: { code: 'COLLECTION_NOT_FOUND' } });
    expect(String(answer.body.message).length).toBeLessThan(300);
  });
});

describe('long input of a caller is shortened in the response', () => {
  const long = 'x'.repeat(3000);

  test.each<[string, () => Promise<Answer>]>([
    ['a filter', () => project.api('GET', `/api/data/posts?n=${long}`)],
    ['a name of a filter', () => project.api('GET', `/api/data/posts?${long}.$a=1`)],
    ['a pattern', () => project.api('GET', `/api/data/posts?${long}_regex=${long}`)],
    ['a sort', () => project.api('GET', `/api/data/posts?sort=$${long}`)],
    ['a page', () => project.api('GET', `/api/data/posts?page=${long}`)],
    ['a projection', () => project.api('GET', `/api/data/posts?fields=${long}..`)],
    ['a populated field', () => project.api('GET', `/api/data/posts?populate=${long}`)],
    ['an id', () => project.api('GET', `/api/data/posts/${long}`)],
    ['a field', () => project.api('POST', '/api/data/notes', { body: { [`${long}.a`]: 1 } })],
    ['a nested field', () => project.api('POST', '/api/data/notes', { body: { a: { [`${long}.a`]: 1 } } })],
    ['a path', () => project.api('PATCH', `/api/data/notes/${id}`, { body: { [`${long}..a`]: 1 } })],
    ['a stage', () => project.api('POST', '/api/data/notes/aggregate', { body: { pipeline: [{ [long]: 1 }] } })],
    [
      'a joined collection',
      () => project.api('POST', '/api/data/notes/aggregate', { body: { pipeline: [{ $unionWith: long }] } }),
    ],
    [
      'an option',
      () =>
        project.api('POST', '/api/data/notes/aggregate', {
          body: { pipeline: [{ $unionWith: { coll: 'notes', [long]: 1 } }] },
        }),
    ],
    [
      'a facet',
      () => project.api('POST', '/api/data/notes/aggregate', { body: { pipeline: [{ $facet: { [long]: 1 } }] } }),
    ],
    [
      'an operator',
      () =>
        project.api('POST', '/api/data/notes/aggregate', { body: { pipeline: [{ $match: { [`$_${long}`]: 1 } }] } }),
    ],
    ['an unknown route', () => project.api('GET', `/api/${long}`)],
  ])('%s', async (_what, request) => {
    const answer = await request();
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    expect(JSON.stringify(answer.body).length).toBeLessThan(1200);
  });
});
