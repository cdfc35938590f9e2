import { ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import type { Pipeline } from '../../../../shared/documents/aggregation/pipeline.ts';
import { restrictPipeline, type Source } from '../../../../shared/documents/aggregation/restrict-pipeline.ts';
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

const whole = (collection: Source['collection']): Source => ({ collection, readFilter: undefined });
const mine: Source = { collection: todos, readFilter: own };
const joined = new Map([
  ['people', whole(people)],
  ['posts', whole(posts)],
  ['todos', mine],
]);
const publicOnly = new Map([['people', whole(people)]]);

type Rows = readonly (readonly [title: string, pipeline: Pipeline, expected: Pipeline])[];

const run = (pipeline: Pipeline, main: Source, includeDeleted = false, sources = joined) =>
  restrictPipeline(pipeline, { main, joined: sources, includeDeleted });

describe('the pipeline of a collection that all may read', () => {
  test.each<Rows[number]>([
    ['begins with the active documents', [{ $count: 'n' }], [{ $match: active }, { $count: 'n' }]],
    ['keeps its own $match', [{ $match: { a: 1 } }], [{ $match: active }, { $match: { a: 1 } }]],
    ['keeps a telling $match: nothing is hidden', [{ $match: telling }], [{ $match: active }, { $match: telling }]],
    ['keeps $text first', [{ $match: text }], [{ $match: { $and: [active, text] } }]],
    [
      'keeps $text first that is nested',
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
      'goes on after $search',
      [{ $search: { a: 1 } }, { $limit: 1 }],
      [{ $search: { a: 1 } }, { $match: active }, { $limit: 1 }],
    ],
    ['goes on after $vectorSearch', [{ $vectorSearch: {} }], [{ $vectorSearch: {} }, { $match: active }]],
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
    [[{ $unionWith: { coll: 'people', pipeline: [] } }]],
  ])('stays as it is with the trash included: %j', (pipeline) => {
    expect(run(pipeline, whole(posts), true, publicOnly)).toEqual(pipeline);
  });
});

describe('the pipeline of a private collection', () => {
  test.each<Rows[number]>([
    ["begins with the caller's own", [{ $count: 'n' }], [{ $match: ownActive }, { $count: 'n' }]],
    ['keeps $text first', [{ $match: text }], [{ $match: { $and: [ownActive, text] } }]],
    [
      'restricts $geoNear within',
      [{ $geoNear: { distanceField: 'userId' } }],
      [{ $geoNear: { distanceField: 'userId', query: ownActive } }],
    ],
    ['goes on after $search', [{ $search: {} }], [{ $search: {} }, { $match: ownActive }]],
    ['holds a telling $match back', [{ $match: telling }], [{ $match: ownActive }, barrier, { $match: telling }]],
    [
      'holds a telling alternative back',
      [{ $match: { $or: [telling, { a: 1 }] } }],
      [{ $match: ownActive }, barrier, { $match: { $or: [telling, { a: 1 }] } }],
    ],
    [
      'holds a pattern back',
      [{ $match: { a: { $regex: 'x' } } }],
      [{ $match: ownActive }, barrier, { $match: { a: { $regex: 'x' } } }],
    ],
    ['lets comparisons through', [{ $match: silent }], [{ $match: ownActive }, { $match: silent }]],
    [
      'holds a telling $match back after $text',
      [{ $match: text }, { $match: telling }],
      [{ $match: { $and: [ownActive, text] } }, barrier, { $match: telling }],
    ],
    [
      'holds a telling $match back after $search',
      [{ $search: {} }, { $match: telling }],
      [{ $search: {} }, { $match: ownActive }, barrier, { $match: telling }],
    ],
  ])('%s', (_title, pipeline, expected) => {
    expect(run(pipeline, mine)).toEqual(expected);
  });

  test("has only the caller's own with the trash included", () => {
    expect(run([{ $count: 'n' }], mine, true)).toEqual([{ $match: own }, { $count: 'n' }]);
  });

  test.each<[string, Pipeline]>([
    ['$text', [{ $match: { ...text, ...telling } }]],
    ['$text and a pattern', [{ $match: { ...text, a: { $not: { $regex: 'x' } } } }]],
    ['$geoNear', [{ $geoNear: { query: telling } }]],
    ['$geoNear and a schema', [{ $geoNear: { query: { $jsonSchema: {} } } }]],
  ])('INVALID_PIPELINE where a telling condition has to run with ours: %s', (_title, pipeline) => {
    expect(refusal(() => run(pipeline, mine))).toMatch(/^INVALID_PIPELINE .*private collection "todos"/);
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
      [{ $lookup: { from: 'todos', ...join } }],
      [{ $lookup: { from: 'todos', ...join, pipeline: [{ $match: ownActive }] } }],
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
            pipeline: [{ $match: ownActive }, { $match: { post: id, author: hex } }],
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
      '$lookup holds a telling $match back',
      [{ $lookup: { from: 'todos', as: 'x', pipeline: [{ $match: telling }] } }],
      [{ $lookup: { from: 'todos', as: 'x', pipeline: [{ $match: ownActive }, barrier, { $match: telling }] } }],
    ],
    [
      '$unionWith of a name becomes one with a pipeline',
      [{ $unionWith: 'todos' }],
      [{ $unionWith: { coll: 'todos', pipeline: [{ $match: ownActive }] } }],
    ],
    [
      '$unionWith goes on after $geoNear',
      [{ $unionWith: { coll: 'todos', pipeline: [{ $geoNear: { query: { a: 1 } } }] } }],
      [{ $unionWith: { coll: 'todos', pipeline: [{ $geoNear: { query: { $and: [ownActive, { a: 1 }] } } }] } }],
    ],
    [
      'a telling $match after $unionWith is not moved into it',
      [{ $unionWith: 'todos' }, { $match: telling }],
      [{ $unionWith: { coll: 'todos', pipeline: [{ $match: ownActive }] } }, barrier, { $match: telling }],
    ],
    [
      '$graphLookup is restricted',
      [{ $graphLookup: { from: 'todos' } }],
      [{ $graphLookup: { from: 'todos', restrictSearchWithMatch: ownActive } }],
    ],
    [
      '$graphLookup is restricted besides what the caller wants, converted',
      [{ $graphLookup: { from: 'todos', restrictSearchWithMatch: { post: hex } } }],
      [{ $graphLookup: { from: 'todos', restrictSearchWithMatch: { $and: [ownActive, { post: id }] } } }],
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
                  pipeline: [{ $match: active }, { $unionWith: { coll: 'todos', pipeline: [{ $match: ownActive }] } }],
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

  test('INVALID_PIPELINE where a telling condition restricts $graphLookup of a private collection', () => {
    const pipeline = [{ $graphLookup: { from: 'todos', restrictSearchWithMatch: { $nor: [telling] } } }];
    expect(refusal(() => run(pipeline, whole(posts)))).toMatch(/^INVALID_PIPELINE .*private collection "todos"/);
  });
});
