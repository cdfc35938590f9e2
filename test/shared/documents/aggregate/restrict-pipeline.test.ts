import { MinKey, ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import type { Pipeline, Source } from '../../../../shared/documents/aggregate/pipeline.ts';
import { restrictPipeline } from '../../../../shared/documents/aggregate/restrict-pipeline.ts';
import { people, posts, refusal, todos } from './collections.ts';

const hex = '0123456789abcdef01234567';
const id = new ObjectId(hex);

const active = { isDeleted: { $ne: true } };
const own = { userId: { $eq: 'me' } };
const ownActive = { $and: [active, own] };
const barrier = { $limit: Number.MAX_SAFE_INTEGER };
const telling = { $expr: { $gt: [{ $divide: [1, '$n'] }, 0] } };
const silent = { $expr: { $or: [{ $eq: ['$a', '$$b'] }, { $gt: ['$a', { $literal: 5 }] }] } };
const text = { $text: { $search: 'x' } };
const join = { localField: 'a', foreignField: 'b', as: 'x' };

const whole = (collection: Source['collection']): Source => ({
  collection,
  visibilityFilter: undefined,
  unreadable: [],
});
const mine: Source = { collection: todos, visibilityFilter: own, unreadable: [] };
const joined = new Map([
  ['people', whole(people)],
  ['posts', whole(posts)],
  ['todos', mine],
]);
const publicOnly = new Map([['people', whole(people)]]);

type Rows = readonly (readonly [title: string, pipeline: Pipeline, expected: Pipeline])[];

const hide = JSON.stringify({ $unset: ['_rev', '_pos', '_gone', '_fuse', '_effects'] });

/** The pipeline without the stages that remove hidden fields, which hide-fields.test.ts checks. */
const shown = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.filter((stage) => JSON.stringify(stage) !== hide).map(shown);
  const isPlain = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  if (!isPlain) return value;
  const kept = Object.entries(value).filter(([, inner]) => JSON.stringify(inner) !== `[${hide}]`);
  return Object.fromEntries(kept.map(([key, inner]) => [key, shown(inner)]));
};

const run = (pipeline: Pipeline, main: Source, includeDeleted = false, sources = joined): Pipeline =>
  shown(restrictPipeline(pipeline, { main, joined: sources, includeDeleted })) as Pipeline;

describe('the pipeline of a collection that everyone may read', () => {
  test.each<Rows[number]>([
    ['begins with the active documents', [{ $count: 'n' }], [{ $match: active }, { $count: 'n' }]],
    ['keeps its own $match', [{ $match: { a: 1 } }], [{ $match: active }, { $match: { a: 1 } }]],
    ['keeps a telling $match: nothing is hidden', [{ $match: telling }], [{ $match: active }, { $match: telling }]],
    ['keeps $text first', [{ $match: text }], [{ $match: { $and: [active, text] } }]],
    [
      'keeps a nested $text first',
      [{ $match: { $and: [{ $or: [text] }] } }],
      [{ $match: { $and: [active, { $and: [{ $or: [text] }] }] } }],
    ],
    ['restricts $geoNear within', [{ $geoNear: { near: [1, 1] } }], [{ $geoNear: { near: [1, 1], query: active } }]],
    [
      'restricts the query of $geoNear, converted',
      [{ $geoNear: { near: [1, 1], query: { author: hex } } }, { $limit: 1 }],
      [{ $geoNear: { near: [1, 1], query: { $and: [active, { author: id }] } } }, { $limit: 1 }],
    ],
    [
      'continues after $search',
      [{ $search: { a: 1 } }, { $limit: 1 }],
      [{ $search: { a: 1 } }, { $match: active }, { $limit: 1 }],
    ],
    ['continues after $vectorSearch', [{ $vectorSearch: {} }], [{ $vectorSearch: {} }, { $match: active }]],
    [
      'does not move a later $geoNear',
      [{ $limit: 1 }, { $geoNear: {} }],
      [{ $match: active }, { $limit: 1 }, { $geoNear: {} }],
    ],
    [
      'converts while documents are as stored',
      [
        { $match: { _id: hex } },
        { $sort: { a: 1 } },
        { $match: { author: hex } },
        { $project: { author: 1 } },
        { $match: { author: hex } },
      ],
      [
        { $match: active },
        { $match: { _id: id } },
        { $sort: { a: 1 } },
        { $match: { author: id } },
        { $project: { author: 1 } },
        { $match: { author: hex } },
      ],
    ],
    [
      'converts in a leading $facet',
      [{ $facet: { a: [{ $match: { _id: hex } }], b: [{ $count: 'n' }] } }],
      [{ $match: active }, { $facet: { a: [{ $match: { _id: id } }], b: [{ $count: 'n' }] } }],
    ],
    [
      'converts nothing in a $facet of made documents',
      [{ $group: { _id: '$title' } }, { $facet: { a: [{ $match: { _id: hex } }] } }],
      [{ $match: active }, { $group: { _id: '$title' } }, { $facet: { a: [{ $match: { _id: hex } }] } }],
    ],
  ])('%s', (_title, pipeline, expected) => {
    expect(run(pipeline, whole(posts), false, publicOnly)).toEqual(expected);
  });

  test.each<[Pipeline]>([
    [[{ $match: { a: 1 } }]],
    [[{ $match: text }]],
    [[{ $geoNear: { near: [1, 1] } }]],
    [[{ $lookup: { from: 'people', ...join } }]],
    [[{ $graphLookup: { from: 'people' } }]],
    [[{ $unionWith: { coll: 'people' } }]],
  ])('stays unchanged with the trash included: %j', (pipeline) => {
    expect(run(pipeline, whole(posts), true, publicOnly)).toEqual(pipeline);
  });
});

describe('the pipeline of a private collection', () => {
  test.each<Rows[number]>([
    ["begins with the caller's own", [{ $count: 'n' }], [{ $match: ownActive }, barrier, { $count: 'n' }]],
    ['holds a condition back', [{ $match: { a: 1 } }], [{ $match: ownActive }, barrier, { $match: { a: 1 } }]],
    ['holds an order back', [{ $sort: { a: 1 } }], [{ $match: ownActive }, barrier, { $sort: { a: 1 } }]],
    [
      'holds only the first condition back',
      [{ $match: telling }, { $project: { a: 1 } }, { $match: { a: 1 } }],
      [{ $match: ownActive }, barrier, { $match: telling }, { $project: { a: 1 } }, { $match: { a: 1 } }],
    ],
    [
      'restricts $geoNear within',
      [{ $geoNear: { distanceField: 'userId' } }],
      [{ $geoNear: { distanceField: 'userId', query: ownActive } }, barrier],
    ],
    [
      'filters $vectorSearch within',
      [{ $vectorSearch: { limit: 3 } }],
      [{ $vectorSearch: { limit: 3, filter: own } }, { $match: ownActive }, barrier],
    ],
    [
      'filters inside $vectorSearch, with the caller’s filter',
      [{ $vectorSearch: { filter: { a: 1 } } }, { $match: telling }],
      [{ $vectorSearch: { filter: { $and: [own, { a: 1 }] } } }, { $match: ownActive }, barrier, { $match: telling }],
    ],
  ])('%s', (_title, pipeline, expected) => {
    expect(run(pipeline, mine)).toEqual(expected);
  });

  test('returns only the caller’s own documents with the trash included', () => {
    expect(run([{ $count: 'n' }], mine, true)).toEqual([{ $match: own }, barrier, { $count: 'n' }]);
  });

  test('filters hidden trashed documents in $vectorSearch, without conditions that it does not support', () => {
    const visibilityFilter = { $or: [active, { userId: { $eq: 'me', $not: { $type: 'array' } } }] };
    const [search] = run([{ $vectorSearch: {} }], { collection: posts, visibilityFilter, unreadable: [] }, true);
    expect(search).toEqual({ $vectorSearch: { filter: { $or: [active, own] } } });
  });

  test('finds places by an index that begins with the owner, also for callers who may read all documents', () => {
    const ofAny = { userId: { $gte: new MinKey() } };
    expect(run([{ $geoNear: {} }], whole(todos), true)).toEqual([{ $geoNear: { query: ofAny } }]);
    expect(run([{ $geoNear: { query: { a: 1 } } }], whole(todos), true)).toEqual([
      { $geoNear: { query: { $and: [ofAny, { a: 1 }] } } },
    ]);
  });

  test.each<[string, Pipeline]>([
    ['$text', [{ $match: text }]],
    ['$text inside', [{ $match: { $and: [{ a: 1 }, { $or: [text] }] } }]],
    ['$search', [{ $search: { a: 1 } }]],
    ['$geoNear.query', [{ $geoNear: { query: telling } }]],
    ['$geoNear.query', [{ $geoNear: { query: { $jsonSchema: {} } } }]],
  ])('INVALID_PIPELINE when a search would read other users’ documents: %s', (what, pipeline) => {
    expect(refusal(() => run(pipeline, mine))).toMatch(/^INVALID_PIPELINE .*collection "todos"/);
    expect(refusal(() => run(pipeline, mine))).toContain(what.split(' ')[0]);
  });
});

describe('a join', () => {
  test.each<Rows[number]>([
    [
      '$lookup of a public collection finds active documents',
      [{ $lookup: { from: 'people', ...join } }],
      [{ $lookup: { from: 'people', ...join, pipeline: [{ $match: active }] } }],
    ],
    [
      "$lookup of a private collection finds the caller's own",
      [{ $lookup: { from: 'todos', pipeline: [], as: 'x' } }],
      [{ $lookup: { from: 'todos', let: {}, pipeline: [{ $match: ownActive }, barrier], as: 'x' } }],
    ],
    [
      '$lookup puts ours before its pipeline, and converts by the joined schema',
      [{ $lookup: { from: 'todos', as: 'x', let: { p: '$a' }, pipeline: [{ $match: { post: hex, author: hex } }] } }],
      [
        {
          $lookup: {
            from: 'todos',
            as: 'x',
            let: { p: '$a' },
            pipeline: [{ $match: ownActive }, barrier, { $match: { post: id, author: hex } }],
          },
        },
      ],
    ],
    [
      '$lookup keeps $text first',
      [{ $lookup: { from: 'posts', as: 'x', pipeline: [{ $match: text }] } }],
      [{ $lookup: { from: 'posts', as: 'x', pipeline: [{ $match: { $and: [active, text] } }] } }],
    ],
    [
      '$lookup holds a $match back',
      [{ $lookup: { from: 'todos', as: 'x', pipeline: [{ $match: silent }] } }],
      [
        {
          $lookup: { from: 'todos', as: 'x', let: {}, pipeline: [{ $match: ownActive }, barrier, { $match: silent }] },
        },
      ],
    ],
    [
      '$unionWith of a name becomes one with a pipeline',
      [{ $unionWith: 'todos' }],
      [{ $unionWith: { coll: 'todos', pipeline: [{ $match: ownActive }, barrier] } }],
    ],
    [
      '$unionWith continues after $geoNear',
      [{ $unionWith: { coll: 'todos', pipeline: [{ $geoNear: { query: { a: 1 } } }] } }],
      [
        {
          $unionWith: { coll: 'todos', pipeline: [{ $geoNear: { query: { $and: [ownActive, { a: 1 }] } } }, barrier] },
        },
      ],
    ],
    [
      'a $match after $unionWith is not moved into it',
      [{ $unionWith: 'todos' }, { $match: silent }],
      [{ $unionWith: { coll: 'todos', pipeline: [{ $match: ownActive }, barrier] } }, barrier, { $match: silent }],
    ],
    [
      'a $match after $lookup and $unwind is not moved into it',
      [{ $match: { a: 1 } }, { $lookup: { from: 'people', ...join } }, { $unwind: '$x' }, { $match: { 'x.a': 1 } }],
      [
        { $match: { a: 1 } },
        { $lookup: { from: 'people', ...join, pipeline: [{ $match: active }] } },
        { $unwind: '$x' },
        barrier,
        { $match: { 'x.a': 1 } },
      ],
    ],
    [
      '$graphLookup is restricted, with the caller’s filter converted',
      [{ $graphLookup: { from: 'posts', restrictSearchWithMatch: { author: hex } } }],
      [{ $graphLookup: { from: 'posts', restrictSearchWithMatch: { $and: [active, { author: id }] } } }],
    ],
    [
      'a join inside a join inside a facet is restricted',
      [{ $facet: { f: [{ $lookup: { from: 'people', as: 'x', pipeline: [{ $unionWith: 'todos' }] } }] } }],
      [
        {
          $facet: {
            f: [
              {
                $lookup: {
                  from: 'people',
                  as: 'x',
                  pipeline: [
                    { $match: active },
                    { $unionWith: { coll: 'todos', pipeline: [{ $match: ownActive }, barrier] } },
                  ],
                },
              },
            ],
          },
        },
      ],
    ],
  ])('%s', (_title, pipeline, expected) => {
    expect(run(pipeline, whole(posts))).toEqual([{ $match: active }, ...expected]);
  });

  test('by fields of a private collection compares behind the barrier', () => {
    const [, joined] = run([{ $lookup: { from: 'todos', let: { n: '$n' }, ...join } }], whole(posts));
    const { let: variables, pipeline, ...rest } = (joined as { $lookup: Record<string, unknown> }).$lookup;
    expect(rest).toEqual({ from: 'todos', as: 'x' });
    expect(variables).toMatchObject({ n: '$n', basaltLocalValues: expect.anything() });
    expect(pipeline).toEqual([{ $match: ownActive }, barrier, { $match: { $expr: expect.anything() } }]);
  });

  test.each<[string, Pipeline]>([
    ['$graphLookup', [{ $graphLookup: { from: 'todos' } }]],
    ['$text', [{ $lookup: { from: 'todos', pipeline: [{ $match: text }], as: 'x' } }]],
    ['$search', [{ $unionWith: { coll: 'todos', pipeline: [{ $search: {} }] } }]],
    ['foreignField', [{ $lookup: { from: 'todos', localField: 'a', foreignField: 'a.0', as: 'x' } }]],
    ['localField', [{ $lookup: { from: 'todos', localField: '0.a', foreignField: 'a', as: 'x' } }]],
    ['localField', [{ $lookup: { from: 'todos', foreignField: 'a', as: 'x' } }]],
    ['foreignField', [{ $lookup: { from: 'todos', localField: 'a', foreignField: '$a', as: 'x' } }]],
  ])('INVALID_PIPELINE into a private collection that names %s', (what, pipeline) => {
    const message = refusal(() => run(pipeline, whole(posts)));
    expect(message).toMatch(/^INVALID_PIPELINE .*collection "todos"/);
    expect(message).toContain(what);
  });

  test('INVALID_PIPELINE for a variable with an internal name', () => {
    const pipeline = [{ $lookup: { from: 'todos', let: { basaltLocalValues: 1 }, ...join } }];
    expect(refusal(() => run(pipeline, whole(posts)))).toMatch(/^INVALID_PIPELINE .*another name/);
  });
});
