import { describe, expect, test } from 'vitest';
import { checkPipeline } from '../../../../shared/documents/aggregate/check-pipeline.ts';
import { refusal } from './collections.ts';

const nestedLookups = (depth: number): unknown[] =>
  depth === 0 ? [{ $count: 'n' }] : [{ $lookup: { from: 'people', as: 'x', pipeline: nestedLookups(depth - 1) } }];

const limits = (count: number) => Array.from({ length: count }, () => ({ $limit: 1 }));
const alternatives = (count: number) => ({ $or: Array.from({ length: count }, (_, i) => ({ a: i })) });

const facets = (count: number, ...stages: object[]) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, stages]));

describe('a pipeline', () => {
  test.each<[string, unknown, string]>([
    ['INVALID_PIPELINE when it is missing', undefined, 'INVALID_PIPELINE Send {"pipeline": […]}'],
    ['INVALID_PIPELINE when it is null', null, 'INVALID_PIPELINE Send {"pipeline": […]}'],
    ['INVALID_PIPELINE when it is empty', [], 'INVALID_PIPELINE Send {"pipeline": […]}'],
    ['INVALID_PIPELINE when it is an object', { $match: {} }, 'INVALID_PIPELINE Send {"pipeline": […]}'],
    ['INVALID_PIPELINE for a stage that is a number', [1], 'INVALID_PIPELINE pipeline[0] must be an object'],
    ['INVALID_PIPELINE for a stage that is an array', [[]], 'INVALID_PIPELINE pipeline[0] must be an object'],
    ['INVALID_PIPELINE for a stage without key', [{ $limit: 1 }, {}], 'INVALID_PIPELINE pipeline[1] must be an object'],
    ['INVALID_PIPELINE for two keys', [{ $limit: 1, $out: 'x' }], 'INVALID_PIPELINE pipeline[0] must be an object'],
    ['INVALID_PIPELINE for 51 stages', limits(51), 'INVALID_PIPELINE A pipeline may have at most 50 stages'],
    [
      'INVALID_PIPELINE for 51 stages with those of sub-pipelines',
      [...limits(48), { $facet: { a: limits(1), b: limits(1) } }],
      'INVALID_PIPELINE A pipeline may have at most 50 stages',
    ],
    ['INVALID_PIPELINE five deep', nestedLookups(5), 'INVALID_PIPELINE Pipelines may be nested at most 4 deep'],
    [
      'INVALID_PIPELINE for 10 000 alternatives',
      [{ $match: alternatives(10_000) }],
      'more than 2000 fields and operators',
    ],
    [
      'INVALID_PIPELINE for conditions that are too many together',
      [{ $match: alternatives(1500) }, { $unionWith: { coll: 'people', pipeline: [{ $match: alternatives(1500) }] } }],
      'more than 2000 fields and operators',
    ],
    ['INVALID_PIPELINE for a $match that is not an object', [{ $match: [] }], 'pipeline[0].$match must be an object'],
    [
      'INVALID_PIPELINE for a $geoNear that is not an object',
      [{ $geoNear: 1 }],
      'pipeline[0].$geoNear must be an object',
    ],
    [
      'INVALID_PIPELINE for a query that is not an object',
      [{ $geoNear: { query: 1 } }],
      '$geoNear.query must be an object',
    ],
    [
      'INVALID_PIPELINE for three stages in $facet that gather',
      [{ $facet: facets(3, { $group: { _id: '$a', x: { $push: '$b' } } }) }],
      'pipeline[0].$facet.f2: at most 2 stages inside $facet may gather documents',
    ],
    [
      'INVALID_PIPELINE for three sorts in $facet without end',
      [{ $facet: facets(3, { $sort: { a: 1 } }) }],
      'a $sort without a $limit behind it',
    ],
    [
      'INVALID_PIPELINE for six counts in $facet',
      [{ $facet: facets(6, { $sortByCount: '$a' }) }],
      'pipeline[0].$facet.f5: at most 5 stages inside $facet may group or sort',
    ],
    ['INVALID_PIPELINE for a $facet that is not an object', [{ $facet: [] }], 'pipeline[0].$facet must be an object'],
    [
      'INVALID_PIPELINE for a facet that is not an array',
      [{ $facet: { a: {} } }],
      '$facet.a must be an array of stages',
    ],
  ])('is rejected: %s', (_title, pipeline, expected) => {
    expect(refusal(() => checkPipeline(pipeline))).toContain(expected);
  });

  test('passes with 50 stages, 4 levels and 2000 condition keys', () => {
    const pipeline = [...limits(44), { $match: alternatives(1999) }, ...nestedLookups(4)];
    expect(checkPipeline(pipeline).pipeline).toEqual(pipeline);
  });
});

describe('a stage', () => {
  const everywhere: [string, (stage: unknown) => unknown[]][] = [
    ['at the top', (stage) => [{ $limit: 1 }, stage]],
    ['in $lookup', (stage) => [{ $lookup: { from: 'people', as: 'x', pipeline: [stage] } }]],
    ['in $unionWith', (stage) => [{ $unionWith: { coll: 'people', pipeline: [stage] } }]],
    ['in $facet', (stage) => [{ $facet: { a: [{ $limit: 1 }], b: [stage] } }]],
    ['in $facet in $lookup', (stage) => [{ $lookup: { from: 'p', as: 'x', pipeline: [{ $facet: { a: [stage] } }] } }]],
  ];
  const blocked = [
    ...['$out', '$merge', '$documents', '$currentOp', '$collStats', '$indexStats', '$planCacheStats', '$listSessions'],
    ...['$listLocalSessions', '$changeStream', '$searchMeta', '$rankFusion', '$scoreFusion', '$queryStats', '$OUT'],
    ...['$_internalInhibitOptimization', 'match', 'constructor', ''],
  ];
  const cases = everywhere.flatMap(([where, wrap]) =>
    blocked.map((name) => [name, where, wrap({ [name]: {} })] as const),
  );
  test.each(cases)('BLOCKED_STAGE %s %s', (name, _where, pipeline) => {
    expect(refusal(() => checkPipeline(pipeline))).toContain(`BLOCKED_STAGE The stage ${name} (`);
  });

  test('BLOCKED_STAGE with a very long name shortened', () => {
    expect(refusal(() => checkPipeline([{ ['$x'.repeat(1000)]: 1 }])).length).toBeLessThan(150);
  });

  test.each<[string, unknown]>([
    ['$where', { $match: { $where: '1' } }],
    ['$where', { $match: { $and: [{ $or: [{ $where: '1' }] }] } }],
    ['$function', { $project: { a: { $add: [1, { $function: { body: '', args: [], lang: 'js' } }] } } }],
    ['$accumulator', { $group: { _id: null, a: { $accumulator: {} } } }],
    ['$_internalExprEq', { $match: { a: { $_internalExprEq: 1 } } }],
    ['$_testApiVersion', { $project: { a: { $_testApiVersion: {} } } }],
    ['$where', { $lookup: { from: 'p', as: 'x', let: { a: { $where: 1 } }, pipeline: [] } }],
    ['$where', { $graphLookup: { from: 'p', restrictSearchWithMatch: { $where: '1' } } }],
    ['$where', { $geoNear: { query: { $where: '1' } } }],
  ])('BLOCKED_STAGE with the operator %s: %j', (name, stage) => {
    expect(refusal(() => checkPipeline([stage]))).toBe(`BLOCKED_STAGE ${name} is not allowed in an aggregation.`);
  });

  test('may contain the names of blocked operators as text', () => {
    const pipeline = [{ $match: { a: '$where' } }, { $project: { b: { $literal: '$function' } } }];
    expect(checkPipeline(pipeline).pipeline).toEqual(pipeline);
  });
});

describe('a join', () => {
  test.each<[string, unknown, string]>([
    [
      'INVALID_PIPELINE for $lookup without from',
      { $lookup: { as: 'x', pipeline: [] } },
      '$lookup.from must be the name',
    ],
    [
      'INVALID_PIPELINE for another database',
      { $lookup: { from: { db: 'control', coll: 'projects' }, as: 'x' } },
      '$lookup.from must be the name',
    ],
    ['INVALID_PIPELINE for an empty name', { $lookup: { from: '' } }, '$lookup.from must be the name'],
    ['INVALID_PIPELINE for an unknown option', { $lookup: { from: 'p', $_x: 1 } }, 'unknown option "$_x"'],
    ['INVALID_PIPELINE for a collation', { $lookup: { from: 'p', _internalCollation: {} } }, 'unknown option'],
    ['INVALID_PIPELINE for a $lookup that is text', { $lookup: 'people' }, '$lookup must be an object'],
    [
      'INVALID_PIPELINE for a pipeline of null',
      { $lookup: { from: 'p', pipeline: null } },
      'must be an array of stages',
    ],
    [
      'INVALID_PIPELINE for $unionWith without coll',
      { $unionWith: { pipeline: [] } },
      '$unionWith.coll must be the name',
    ],
    ['INVALID_PIPELINE for $unionWith and a database', { $unionWith: { coll: 'p', db: 'x' } }, 'unknown option "db"'],
    ['INVALID_PIPELINE for variables of null', { $lookup: { from: 'p', let: null } }, '$lookup.let must be an object'],
    ['INVALID_PIPELINE for a $vectorSearch of null', { $vectorSearch: null }, '$vectorSearch must be an object'],
    ['INVALID_PIPELINE for $unionWith of a number', { $unionWith: 5 }, '$unionWith must be an object'],
    ['INVALID_PIPELINE for $graphLookup without from', { $graphLookup: {} }, '$graphLookup.from must be the name'],
    [
      'INVALID_PIPELINE for a restriction that is not an object',
      { $graphLookup: { from: 'p', restrictSearchWithMatch: 1 } },
      'restrictSearchWithMatch must be an object',
    ],
  ])('is rejected: %s', (_title, stage, expected) => {
    expect(refusal(() => checkPipeline([stage]))).toMatch(/^INVALID_PIPELINE /);
    expect(refusal(() => checkPipeline([stage]))).toContain(expected);
  });

  const names = ['users', 'Users', 'USERS', 'users.', 'users/', 'userS_2', 'users.x'];
  const joins = names.flatMap((name) => [
    [name, { $lookup: { from: name, localField: 'a', foreignField: 'b', as: 'x' } }] as const,
    [name, { $graphLookup: { from: name } }] as const,
    [name, { $unionWith: name }] as const,
    [name, { $unionWith: { coll: name } }] as const,
    [name, { $facet: { a: [{ $unionWith: name }] } }] as const,
  ]);
  test.each(joins)('USERS_RESERVED for %s: %j', (_name, stage) => {
    expect(refusal(() => checkPipeline([stage]))).toMatch(/^USERS_RESERVED /);
  });

  test('is found at any depth, with each collection once', () => {
    const { joined } = checkPipeline([
      { $unionWith: 'a' },
      { $lookup: { from: 'b', as: 'x', pipeline: [{ $unionWith: { coll: 'c', pipeline: [{ $unionWith: 'a' }] } }] } },
      { $facet: { f: [{ $graphLookup: { from: 'd' } }] } },
    ]);
    expect([...joined]).toEqual(['a', 'b', 'c', 'd']);
  });
});
