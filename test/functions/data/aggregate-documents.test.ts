import { beforeAll, describe, expect, test } from 'vitest';
import type { Answer, RequestOptions } from '../../support/clients/client.ts';
import { type CollectionInput, newProject, type TestProject } from '../../support/fixtures/project.ts';

const collections: readonly CollectionInput[] = [
  {
    name: 'orders',
    schema: [
      { key: 'n', type: 'Number' },
      { key: 'city', type: 'String' },
      { key: 'paidAt', type: 'Date' },
      { key: 'buyer', type: 'Ref', ref: 'buyers' },
      { key: 'watchers', type: 'Array', items: { type: 'Ref', ref: 'buyers' } },
      { key: 'visits', type: 'Array', items: { type: 'Date' } },
      { key: 'lines', type: 'Array', items: { type: 'Object', fields: [{ key: 'by', type: 'Ref', ref: 'buyers' }] } },
      { key: 'meta', type: 'Object', fields: [{ key: 'by', type: 'Ref', ref: 'buyers' }] },
      { key: 'place', type: 'Object' },
    ],
  },
  { name: 'buyers' },
  { name: 'feed', rls: { enabled: true } },
  { name: 'todos', rls: { enabled: true, mode: 'private' } },
  { name: 'large' },
];

const annId = 'a'.repeat(24);
const bobId = 'b'.repeat(24);

let project: TestProject;
let ann: RequestOptions;
let nobody: RequestOptions;
let buyers: string[];
let orders: string[];
/** Starts before the tests because it takes five seconds. */
let endless: Promise<Answer<Aggregated>>;
let askEndless: () => Promise<Answer<Aggregated>>;

interface Aggregated {
  readonly data: readonly Record<string, unknown>[];
  readonly code: string;
  readonly message: string;
}

const aggregate = (collection: string, pipeline: unknown, options: RequestOptions = {}, query = '') =>
  project.api<Aggregated>('POST', `/api/data/${collection}/aggregate${query}`, { ...options, body: { pipeline } });

const insert = async (collection: string, body: unknown): Promise<string> => {
  const made = await project.api<{ _id: string }>('POST', `/api/data/${collection}`, { body });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return made.body._id;
};

const range = (n: number) => ({ $range: [0, n] });

beforeAll(async () => {
  project = await newProject(collections);
  ann = { key: project.publishableKey, token: await project.tokenFor(annId) };
  nobody = { key: project.publishableKey };
  buyers = [await insert('buyers', { name: 'ann', age: 30 }), await insert('buyers', { name: 'bob', age: 40 })];
  const [first, second] = buyers;
  const at = (x: number) => ({ type: 'Point', coordinates: [x, 0] });
  orders = [
    await insert('orders', {
      n: 1,
      city: 'Rome',
      paidAt: '2026-01-01',
      buyer: first,
      watchers: [first, second],
      visits: ['2026-01-01', '2026-01-02'],
      lines: [{ by: first }],
      meta: { by: first },
      place: at(1),
    }),
    await insert('orders', { n: 2, city: 'Rome', paidAt: '2026-02-01', buyer: second, place: at(2) }),
    await insert('orders', { n: 3, city: 'Oslo', paidAt: '2026-03-01', buyer: first, place: at(3) }),
    await insert('orders', { n: 4, city: 'Bern', place: at(4) }),
  ];
  await project.api('DELETE', `/api/data/orders/${orders[3]}`);
  const trashedBuyer = await insert('buyers', { name: 'gone', age: 50 });
  await project.api('DELETE', `/api/data/buyers/${trashedBuyer}`);
  for (const userId of [annId, bobId]) {
    await insert('todos', { task: `of ${userId}`, userId });
    await insert('feed', { text: `of ${userId}`, userId });
  }
  const indexes = `/api/projects/${project.id}/collections/orders/indexes`;
  for (const keys of [{ place: '2dsphere' }, { city: 'text' }]) {
    await project.developer.dashboard('POST', indexes, { keys });
  }
  const many = ['a', 'b', 'c'].flatMap((name) => [{ $set: { [name]: range(10_000) } }, { $unwind: `$${name}` }]);
  askEndless = () => aggregate('buyers', [{ $limit: 1 }, ...many, { $group: { _id: null, n: { $sum: '$c' } } }]);
  endless = askEndless();
});

const numbers = ({ body }: Answer<Aggregated>): unknown => body.data?.map(({ n }) => n) ?? body.code;
const near = { near: { type: 'Point', coordinates: [0, 0] }, distanceField: 'far', key: 'place' };
const joinBuyer = { from: 'buyers', localField: 'buyer', foreignField: '_id', as: 'who' };

describe('an aggregation', () => {
  test('200 with the specified body', async () => {
    const answer = await aggregate('orders', [{ $match: { city: 'Oslo' } }, { $project: { _id: 0, n: 1 } }]);
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.body).toEqual({ success: true, data: [{ n: 3 }], message: 'Aggregation executed successfully.' });
  });

  test.each<[string, unknown[], unknown]>([
    ['$match', [{ $match: { n: { $gte: 2 } } }, { $sort: { n: 1 } }], [2, 3]],
    ['$sort, $skip, $limit', [{ $sort: { n: -1 } }, { $skip: 1 }, { $limit: 1 }], [2]],
    ['$addFields', [{ $sort: { n: 1 } }, { $addFields: { n: { $multiply: ['$n', 10] } } }], [10, 20, 30]],
    [
      '$set and $unset',
      [{ $sort: { n: 1 } }, { $set: { m: 1 } }, { $unset: ['m', 'n'] }],
      [undefined, undefined, undefined],
    ],
    ['$group', [{ $group: { _id: '$city', n: { $sum: '$n' } } }, { $sort: { _id: 1 } }], [3, 3]],
    ['$count', [{ $count: 'n' }], [3]],
    ['$unwind', [{ $unwind: '$visits' }, { $sort: { visits: 1 } }], [1, 1]],
    ['$lookup', [{ $lookup: joinBuyer }, { $match: { 'who.name': 'bob' } }], [2]],
    ['$unionWith', [{ $unionWith: 'buyers' }, { $group: { _id: null, n: { $sum: 1 } } }], [5]],
    [
      '$graphLookup',
      [
        {
          $graphLookup: {
            from: 'orders',
            startWith: '$city',
            connectFromField: 'city',
            connectToField: 'city',
            as: 'same',
          },
        },
        { $match: { same: { $size: 2 } } },
        { $sort: { n: 1 } },
      ],
      [1, 2],
    ],
    [
      '$facet',
      [{ $facet: { a: [{ $count: 'c' }], b: [{ $limit: 1 }] } }, { $project: { n: { $first: '$a.c' } } }],
      [3],
    ],
    ['$bucket', [{ $bucket: { groupBy: '$n', boundaries: [0, 2, 9], output: { n: { $sum: 1 } } } }], [1, 2]],
    ['$bucketAuto', [{ $bucketAuto: { groupBy: '$n', buckets: 1, output: { n: { $max: '$n' } } } }], [3]],
    ['$sortByCount', [{ $sortByCount: '$city' }, { $limit: 1 }, { $project: { n: '$count' } }], [2]],
    ['$replaceRoot', [{ $sort: { n: 1 } }, { $replaceRoot: { newRoot: { n: { $add: ['$n', 1] } } } }], [2, 3, 4]],
    ['$replaceWith', [{ $sort: { n: 1 } }, { $replaceWith: { n: '$n' } }], [1, 2, 3]],
    ['$sample', [{ $sample: { size: 9 } }, { $sort: { n: 1 } }], [1, 2, 3]],
    ['$geoNear', [{ $geoNear: near }], [1, 2, 3]],
    ['$geoNear with a query', [{ $geoNear: { ...near, query: { city: 'Rome' } } }], [1, 2]],
    ['$match with $text', [{ $match: { $text: { $search: 'rome' } } }, { $sort: { n: 1 } }], [1, 2]],
    [
      '$setWindowFields',
      [
        {
          $setWindowFields: {
            sortBy: { n: 1 },
            output: { n: { $sum: '$n', window: { documents: ['unbounded', 'current'] } } },
          },
        },
      ],
      [1, 3, 6],
    ],
    [
      '$densify',
      [{ $project: { _id: 0, n: 1 } }, { $densify: { field: 'n', range: { step: 0.5, bounds: 'full' } } }],
      [1, 1.5, 2, 2.5, 3],
    ],
    ['$fill', [{ $sort: { n: 1 } }, { $fill: { output: { n: { value: 0 } } } }], [1, 2, 3]],
    ['$redact', [{ $redact: { $cond: [{ $eq: ['$city', 'Oslo'] }, '$$KEEP', '$$PRUNE'] } }], [3]],
  ])('200 with %s', async (_stage, pipeline, expected) => {
    expect(numbers(await aggregate('orders', pipeline))).toEqual(expected);
  });

  test('200 with every kind of value in JSON', async () => {
    const value = {
      $project: {
        _id: 0,
        id: { $toObjectId: 'c'.repeat(24) },
        date: { $toDate: { $toLong: 0 } },
        long: { $toLong: '9007199254740993' },
        decimal: { $toDecimal: '1.5' },
        large: { $literal: 1e300 },
        nan: { $toDouble: 'NaN' },
        nothing: { $literal: null },
        list: [{ $toLong: 5 }, [{ $toDecimal: '2' }]],
        names: {
          $arrayToObject: [
            [
              ['_bsontype', 'ObjectId'],
              ['__proto__', { a: 1 }],
              ['toJSON', 'x'],
            ],
          ],
        },
      },
    };
    const answer = await aggregate('buyers', [{ $limit: 1 }, value]);
    expect(answer.body.data).toEqual([
      {
        id: 'c'.repeat(24),
        date: '1970-01-01T00:00:00.000Z',
        long: 9007199254740992,
        decimal: 1.5,
        large: 1e300,
        nan: null,
        nothing: null,
        list: [5, [2]],
        names: JSON.parse('{"_bsontype":"ObjectId","__proto__":{"a":1},"toJSON":"x"}') as unknown,
      },
    ]);
  });
});

describe('an invalid pipeline', () => {
  test.each([
    [[]],
    [{}],
    ['x'],
    [null],
    [5],
    [[[]]],
    [[null]],
    [['$match']],
    [[{}]],
    [[{ $match: {}, $limit: 1 }]],
    [[{ $match: [] }]],
    [[{ $match: null }]],
    [[{ $facet: [] }]],
    [[{ $facet: { a: {} } }]],
    [[{ $lookup: 'x' }]],
    [[{ $lookup: { from: 'buyers', pipeline: {}, as: 'x' } }]],
    [[{ $lookup: { from: ['buyers'], pipeline: [], as: 'x' } }]],
    [[{ $lookup: { from: { $ne: null }, pipeline: [], as: 'x' } }]],
    [[{ $lookup: { pipeline: [], as: 'x' } }]],
    [[{ $lookup: { from: 'buyers', pipeline: [], as: 'x', db: 'admin' } }]],
    [[{ $unionWith: { coll: 'buyers', db: 'admin' } }]],
    [[{ $unionWith: ['buyers'] }]],
    [[{ $unionWith: {} }]],
    [[{ $graphLookup: { from: 'buyers', restrictSearchWithMatch: [] } }]],
    [[{ $geoNear: [] }]],
    [[{ $geoNear: { ...near, query: 'x' } }]],
  ])('400 INVALID_PIPELINE for %j', async (pipeline) => {
    const answer = await aggregate('orders', pipeline);
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_PIPELINE' } });
  });

  test.each<[object, string]>([
    [{ $group: { n: { $sum: 1 } } }, 'A $group needs an _id'],
    [{ $group: 1 }, 'A $group must be an object'],
    [{ $group: { _id: null, n: 1 } }, 'must be an accumulator'],
    [{ $group: { _id: null, 'a.b': { $sum: 1 } } }, 'must not have a dot'],
    [{ $limit: 0 }, 'A $limit must be at least 1.'],
    [{ $count: '' }, 'A $count must be the name'],
    [{ $count: 1 }, 'A $count must be the name'],
    [{ $count: '$n' }, 'A $count must be the name'],
    [{ $count: 'a.b' }, 'A $count must be the name'],
    [{ $sortByCount: 1 }, 'A $sortByCount must be'],
    [{ $sortByCount: 'n' }, 'A $sortByCount must be'],
    [{ $sortByCount: { a: 1 } }, 'A $sortByCount must be'],
    [{ $replaceWith: '$n' }, '$replaceRoot or $replaceWith must be an object'],
  ])('400 with a message that names the error in %j', async (stage, message) => {
    const answer = await aggregate('orders', [stage]);
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_PIPELINE' } });
    expect(answer.body.message).toContain(message);
  });

  test.each([
    [{ $limit: 0 }],
    [{ $limit: 'x' }],
    [{ $skip: -1 }],
    [{ $project: {} }],
    [{ $unwind: 'n' }],
    [{ $group: {} }],
    [{ $sort: {} }],
    [{ $sample: { size: -1 } }],
    [{ $count: '' }],
    [{ $bucket: {} }],
    [{ $geoNear: {} }],
    [{ $search: {} }],
    [{ $vectorSearch: {} }],
    [{ $match: { $nope: 1 } }],
    [{ $match: { n: { $regex: '(' } } }],
    [{ $set: { x: { $nope: 1 } } }],
    [{ $set: { x: '$$nope' } }],
    [{ $set: { x: { $divide: [1, 0] } } }],
    [{ $set: { x: { $toDate: 'x' } } }],
    [{ $set: { x: { $size: range(100_000_000) } } }],
    [{ $replaceWith: '$n' }],
    [{ $match: { $text: { $search: 'x' }, $and: [{ $text: { $search: 'y' } }] } }],
    [{ $facet: { a: [{ $geoNear: near }] } }],
  ])('400 without MongoDB’s own error text for %j', async (stage) => {
    const answer = await aggregate('orders', [stage]);
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_PIPELINE' } });
    expect(Object.keys(answer.body).sort()).toEqual(['code', 'docUrl', 'message', 'requestId', 'success']);
    expect(answer.body.message).not.toMatch(/Mongo|PlanExecutor|BSON|Location\d|p_[0-9a-f]{24}|::|namespace/);
  });

  test.each<[string, unknown]>([
    ['an array', []],
    ['nothing', undefined],
    ['text', '"x"'],
    ['no JSON', '{'],
  ])('400 for a body that is %s', async (_what, body) => {
    const answer = await project.api('POST', '/api/data/orders/aggregate', body === undefined ? {} : { body });
    expect(answer.status).toBe(400);
    expect(['INVALID_BODY', 'INVALID_JSON']).toContain(answer.body.code);
  });
});

/** Positions at which one pipeline contains another. */
const holders: readonly (readonly [string, (inner: unknown[]) => unknown])[] = [
  ['$lookup', (pipeline) => ({ $lookup: { from: 'buyers', as: 'x', pipeline } })],
  ['$unionWith', (pipeline) => ({ $unionWith: { coll: 'buyers', pipeline } })],
  ['$facet', (pipeline) => ({ $facet: { a: [{ $limit: 1 }], b: pipeline } })],
];

const nested = (hold: (inner: unknown[]) => unknown, depth: number, innermost: unknown[]): unknown[] =>
  depth === 0 ? innermost : [hold(nested(hold, depth - 1, innermost))];

describe('a stage that is not allowed', () => {
  test.each([
    ...['$out', '$merge', '$collStats', '$indexStats', '$planCacheStats', '$currentOp', '$listSessions', '$queryStats'],
    ...['$listLocalSessions', '$listSearchIndexes', '$listSampledQueries', '$listCatalog', '$changeStream'],
    ...['$changeStreamSplitLargeEvent', '$documents', '$queue', '$searchMeta', '$rankFusion', '$scoreFusion', '$score'],
    ...['$shardedDataDistribution', '$_internalInhibitOptimization', '$_internalUnpackBucket', '$backupCursor'],
    ...['$OUT', '$Out', ' $out', '$out ', 'out', 'match', '', '$', '__proto__x', 'constructor', 'toString'],
  ])('400 BLOCKED_STAGE for %j, at every depth', async (stage) => {
    for (const [, hold] of holders) {
      for (const depth of [0, 1, 4]) {
        const answer = await aggregate('orders', nested(hold, depth, [{ [stage]: 'target' }]));
        expect(answer).toMatchObject({ status: 400, body: { code: 'BLOCKED_STAGE' } });
        expect(answer.body.message).toContain(stage);
      }
    }
    expect((await project.api('GET', '/api/data/target')).status).toBe(404);
  });

  const graph = { from: 'buyers', connectFromField: 'n', connectToField: 'n', as: 'x' };
  const js = { body: 'function() { return 1 }', args: [], lang: 'js' };
  test.each<[string, unknown]>([
    ['$where in $match', { $match: { $where: 'true' } }],
    ['$where in $and', { $match: { $and: [{ n: 1 }, { $where: 'true' }] } }],
    ['$where in $elemMatch', { $match: { lines: { $elemMatch: { $where: 'true' } } } }],
    ['$where in $geoNear', { $geoNear: { ...near, query: { $where: 'true' } } }],
    ['$function in $expr', { $match: { $expr: { $function: js } } }],
    ['$function in $project', { $project: { x: { $add: [1, { $function: js }] } } }],
    ['$function in $group', { $group: { _id: { $function: js } } }],
    ['$function in let', { $lookup: { from: 'buyers', let: { x: { $function: js } }, pipeline: [], as: 'x' } }],
    ['$function in startWith', { $graphLookup: { ...graph, startWith: { $function: js } } }],
    ['$accumulator in $group', { $group: { _id: null, x: { $accumulator: js } } }],
    ['$accumulator in $bucket', { $bucket: { groupBy: '$n', boundaries: [0], output: { x: { $accumulator: js } } } }],
    ['$accumulator in $setWindowFields', { $setWindowFields: { output: { x: { $accumulator: js } } } }],
    ['an internal expression', { $project: { x: { $_internalJsEmit: js } } }],
    ['an internal condition', { $match: { $_internalSchemaType: 1 } }],
  ])('400 for %s, at every depth', async (_what, stage) => {
    for (const [, hold] of holders) {
      for (const depth of [0, 1, 3]) {
        const answer = await aggregate('orders', nested(hold, depth, [stage]));
        expect(answer).toMatchObject({ status: 400, body: { code: 'BLOCKED_STAGE' } });
      }
    }
  });

  test.each(['$$USER_ROLES', '$$USER_ROLES.role', '$$SEARCH_META', '$$SEARCH_META.count'])(
    '400 for the variable %s',
    async (variable) => {
      for (const stage of [{ $set: { x: variable } }, { $match: { $expr: { $eq: [variable, 1] } } }]) {
        expect(await aggregate('orders', [stage])).toMatchObject({ status: 400, body: { code: 'INVALID_PIPELINE' } });
      }
    },
  );
});

describe('a limit', () => {
  const many = (count: number) => Array.from({ length: count }, () => ({ $match: { n: { $gte: 0 } } }));

  test('200 with 50 stages, 400 with 51, at any nesting', async () => {
    expect((await aggregate('orders', many(50))).status).toBe(200);
    expect(await aggregate('orders', many(51))).toMatchObject({ status: 400, body: { code: 'INVALID_PIPELINE' } });
    for (const [, hold] of holders) {
      const extra = JSON.stringify(hold([])).includes('$limit') ? 1 : 0;
      expect((await aggregate('orders', [hold(many(49 - extra))])).status).toBe(200);
      expect((await aggregate('orders', [hold(many(50 - extra))])).status).toBe(400);
    }
  });

  test.each(holders.filter(([name]) => name !== '$facet'))('200 with %s 4 deep, 400 with 5', async (_name, hold) => {
    expect((await aggregate('orders', nested(hold, 4, [{ $limit: 1 }]))).status).toBe(200);
    expect(await aggregate('orders', nested(hold, 5, [{ $limit: 1 }]))).toMatchObject({
      status: 400,
      body: { code: 'INVALID_PIPELINE' },
    });
  });

  test('400 RESULT_TOO_LARGE when many documents, a few or one exceed 5 MiB', async () => {
    const text = 'x'.repeat(900 * 1024);
    await Promise.all(Array.from({ length: 6 }, (_, n) => insert('large', { n, text })));
    const tooLarge = { status: 400, body: { code: 'RESULT_TOO_LARGE' } };
    expect(await aggregate('large', [{ $sort: { n: 1 } }])).toMatchObject(tooLarge);
    expect((await aggregate('large', [{ $limit: 5 }])).status).toBe(200);
    expect(await aggregate('large', [{ $group: { _id: null, all: { $push: '$text' } } }])).toMatchObject(tooLarge);
    const copies = [{ $limit: 1 }, { $project: { n: range(10_000), _id: 0 } }, { $unwind: '$n' }];
    expect(await aggregate('large', [...copies, { $set: { pad: 'y'.repeat(600) } }])).toMatchObject(tooLarge);
    const huge = { $reduce: { input: range(25), initialValue: 'x', in: { $concat: ['$$value', '$$value'] } } };
    expect(await aggregate('buyers', [{ $project: { huge } }])).toMatchObject({ status: 400 });
  });

  test('400 QUERY_TIMEOUT after 5 s', async () => {
    let answer = await endless;
    // If the database stops slightly late, the client has already given up.
    for (let tries = 0; tries < 3 && answer.body.code === 'DATABASE_UNAVAILABLE'; tries++) answer = await askEndless();
    expect(answer).toMatchObject({ status: 400, body: { code: 'QUERY_TIMEOUT' } });
  });
});

describe('Extended JSON and text', () => {
  const id = (index: number) => ({ $oid: orders[index] ?? '' });

  test('200 with $oid and $date at any depth', async () => {
    for (const condition of [
      { _id: id(0) },
      { _id: { $in: [id(0)] } },
      { $or: [{ $and: [{ _id: id(0) }] }] },
      { $expr: { $eq: ['$_id', id(0)] } },
      { paidAt: { $date: '2026-01-01' } },
      { paidAt: { $lt: { $date: '2026-01-02T00:00:00.000Z' } } },
      { paidAt: { $lt: { $date: 1_767_312_000_000 } } },
      { $expr: { $lt: ['$paidAt', { $date: '2026-01-15T00:00:00+01:00' }] } },
    ]) {
      expect(numbers(await aggregate('orders', [{ $match: condition }])), JSON.stringify(condition)).toEqual([1]);
    }
    const projected = await aggregate('orders', [{ $limit: 1 }, { $project: { _id: 0, n: { $literal: id(1) } } }]);
    expect(numbers(projected)).toEqual([orders[1]]);
  });

  test.each([
    { $oid: 'x' },
    { $oid: 5 },
    { $oid: { $ne: null } },
    { $oid: 'a'.repeat(24), x: 1 },
    { $date: 'tomorrow' },
    { $date: '2026-02-30' },
    { $date: {} },
    { $date: 1.5 },
    { $date: 1e300 },
    { $date: null },
  ])('400 for %j', async (value) => {
    for (const stage of [{ $match: { n: value } }, { $set: { x: [value] } }]) {
      expect(await aggregate('orders', [stage])).toMatchObject({ status: 400, body: { code: 'INVALID_PIPELINE' } });
    }
  });

  test.each<[string, (order: string, buyer: string) => object]>([
    ['_id', (order) => ({ _id: order })],
    ['_id in capitals', (order) => ({ _id: order.toUpperCase() })],
    ['_id with $eq', (order) => ({ _id: { $eq: order } })],
    ['_id with $in', (order) => ({ _id: { $in: [order, 'x'] } })],
    ['_id with $not', (order) => ({ n: { $lt: 3 }, buyer: { $exists: true }, _id: { $not: { $ne: order } } })],
    ['_id in $or', (order) => ({ $or: [{ _id: order }, { _id: 'x' }] })],
    ['_id in $nor', (order) => ({ $and: [{ $nor: [{ _id: { $ne: order } }] }] })],
    ['a Ref', (_order, buyer) => ({ buyer, city: 'Rome' })],
    ['an Array of Ref', (_order, buyer) => ({ watchers: buyer })],
    ['all of an Array of Ref', (_order, buyer) => ({ watchers: { $all: [buyer] } })],
    ['$elemMatch on an Array of Ref', (_order, buyer) => ({ watchers: { $elemMatch: { $eq: buyer } } })],
    ['$elemMatch on an Array of Object', (_order, buyer) => ({ lines: { $elemMatch: { by: buyer } } })],
    ['a Ref in an Array of Object', (_order, buyer) => ({ 'lines.by': buyer })],
    ['a Ref in an Object', (_order, buyer) => ({ 'meta.by': buyer })],
    ['a Date', () => ({ paidAt: '2026-01-01' })],
    ['a Date with an order', () => ({ paidAt: { $gt: '2025-12-31', $lte: '2026-01-01T00:00:00Z' } })],
    ['an Array of Date', () => ({ visits: '2026-01-02' })],
    ['createdAt', (order) => ({ createdAt: { $gt: '2020-01-01' }, _id: order })],
  ])('200 with text converted when a leading $match compares it with %s', async (_what, condition) => {
    const match = { $match: condition(orders[0] ?? '', buyers[0] ?? '') };
    for (const pipeline of [
      [match],
      [{ $sort: { n: 1 } }, match],
      [{ $facet: { a: [match] } }, { $unwind: '$a' }, { $replaceWith: '$a' }],
    ]) {
      expect(numbers(await aggregate('orders', pipeline))).toEqual([1]);
    }
  });

  test('200 with text converted by the joined collection’s schema, but not after a projection', async () => {
    const match = { $match: { buyer: buyers[0], paidAt: '2026-01-01' } };
    const joined = await aggregate('buyers', [
      { $match: { name: 'ann' } },
      { $lookup: { from: 'orders', pipeline: [match], as: 'x' } },
      { $project: { n: { $size: '$x' } } },
    ]);
    expect(numbers(joined)).toEqual([1]);
    expect(numbers(await aggregate('orders', [{ $project: { n: 1, buyer: 1, paidAt: 1 } }, match]))).toEqual([]);
  });
});

describe('trash', () => {
  const count = [{ $count: 'n' }];
  const inJoin = (stage: object) => [{ $match: { n: 1 } }, stage, { $project: { n: { $size: '$x' } } }];
  const joins = [
    inJoin({ $lookup: { from: 'orders', pipeline: [], as: 'x' } }),
    inJoin({ $lookup: { from: 'orders', pipeline: [{ $match: { n: { $gt: 0 } } }], as: 'x' } }),
    inJoin({
      $graphLookup: {
        from: 'orders',
        startWith: { $literal: [1, 2, 3, 4] },
        connectFromField: 'none',
        connectToField: 'n',
        as: 'x',
      },
    }),
    [{ $match: { n: 99 } }, { $unionWith: 'orders' }, ...count],
    [{ $match: { n: 99 } }, { $unionWith: { coll: 'orders', pipeline: [{ $limit: 9 }] } }, ...count],
  ];

  test('200 without trashed documents, and with them everywhere when include_deleted=true', async () => {
    for (const pipeline of [count, [{ $facet: { a: count } }, { $unwind: '$a' }, { $replaceWith: '$a' }], ...joins]) {
      expect(numbers(await aggregate('orders', pipeline)), JSON.stringify(pipeline)).toEqual([3]);
      expect(numbers(await aggregate('orders', pipeline, {}, '?include_deleted=true'))).toEqual([4]);
      expect(numbers(await aggregate('orders', pipeline, nobody, '?include_deleted=false'))).toEqual([3]);
    }
  });

  test.each(['1', 'yes', '', 'TRUE', 'true,true'])('400 for include_deleted=%s', async (value) => {
    const answer = await aggregate('orders', count, {}, `?include_deleted=${value}`);
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY' } });
  });
});

describe('row security', () => {
  const lookup = { $lookup: { from: 'todos', pipeline: [], as: 'x' } };
  const size = { $project: { n: { $size: '$x' } } };
  const privateReads: [string, string, unknown[]][] = [
    ['the collection itself', 'todos', [{ $count: 'n' }]],
    ['$lookup', 'buyers', [{ $limit: 1 }, lookup, size]],
    [
      '$lookup by fields',
      'todos',
      [{ $limit: 1 }, { $lookup: { from: 'todos', localField: 'none', foreignField: 'none', as: 'x' } }, size],
    ],
    ['$unionWith', 'buyers', [{ $match: { name: 'x' } }, { $unionWith: 'todos' }, { $count: 'n' }]],
    ['$facet', 'buyers', [{ $limit: 1 }, { $facet: { a: [lookup, size] } }, { $unwind: '$a' }, { $replaceWith: '$a' }]],
    [
      '$lookup in $unionWith',
      'large',
      [{ $match: { n: -1 } }, { $unionWith: { coll: 'buyers', pipeline: [{ $limit: 1 }, lookup, size] } }],
    ],
  ];

  test.each(privateReads)(
    '200 with only the caller’s documents by %s; all with the secret key; 401 without a token',
    async (_by, collection, pipeline) => {
      expect(numbers(await aggregate(collection, pipeline, ann))).toEqual([1]);
      expect(numbers(await aggregate(collection, pipeline))).toEqual([2]);
      expect(await aggregate(collection, pipeline, nobody)).toMatchObject({
        status: 401,
        body: { code: 'TOKEN_MISSING' },
      });
      const garbage = await aggregate(collection, pipeline, { ...nobody, token: 'x.y.z' });
      expect(garbage.status).toBe(401);
    },
  );

  test('200 with all documents of a public-read collection for every caller', async () => {
    for (const who of [nobody, ann, { ...nobody, token: 'garbage' }]) {
      expect(numbers(await aggregate('feed', [{ $count: 'n' }], who))).toEqual([2]);
    }
  });

  test('404 for a join of a missing collection, also without a token', async () => {
    const answer = await aggregate('buyers', [{ $unionWith: 'nothing' }], nobody);
    expect(answer).toMatchObject({ status: 404, body: { code: 'COLLECTION_NOT_FOUND' } });
  });

  test('200 for a join after a failed join of a missing collection with any name', async () => {
    expect((await aggregate('buyers', [{ $unionWith: 'feed\norders' }])).status).toBe(404);
    expect((await aggregate('buyers', [{ $unionWith: 'feed' }, { $unionWith: 'orders' }])).status).toBe(200);
  });
});

test('200 and no document changes when a pipeline sets or removes fields', async () => {
  const before = await project.api('GET', '/api/data/orders?include_deleted=true');
  await aggregate('orders', [{ $set: { n: 100, isDeleted: true } }, { $unset: 'city' }]);
  const after = await project.api('GET', '/api/data/orders?include_deleted=true');
  expect(after.body).toEqual(before.body);
});
