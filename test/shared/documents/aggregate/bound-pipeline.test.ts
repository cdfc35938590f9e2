import { describe, expect, test } from 'vitest';
import { boundPipeline } from '../../../../shared/documents/aggregate/bound-pipeline.ts';
import { refusal } from './collections.ts';

const stored = 4 * 1024 * 1024;
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);
const guardsOf = (pipeline: readonly Record<string, unknown>[]): number =>
  JSON.stringify(boundPipeline(pipeline, stored)).split('The aggregation was stopped before').length - 1;

const join = (as: string) => ({ $lookup: { from: 'people', localField: as, foreignField: '_id', as } });
const flatten = { $reduce: { input: '$t', initialValue: [], in: { $concatArrays: ['$$value', '$$this'] } } };
const copies = (count: number) => ({ $concatArrays: times(count, '$a') });

describe('an ordinary pipeline', () => {
  test.each<[string, Record<string, unknown>[]]>([
    ['a filter and a sort', [{ $match: { a: 1 } }, { $sort: { a: 1 } }, { $limit: 5 }]],
    ['a sum by two fields', [{ $group: { _id: { y: { $year: '$at' }, c: '$c' }, n: { $sum: '$n' } } }]],
    [
      'a sum whose keys are named again',
      [{ $group: { _id: '$c', n: { $sum: 1 } } }, { $project: { c: '$_id', n: 1 } }],
    ],
    [
      'a join of one',
      [join('x'), { $unwind: '$x' }, { $project: { a: '$x.a', b: '$x.b', c: { $concat: ['$d', '$e'] } } }],
    ],
    ['three joins', [join('x'), join('y'), join('z'), { $match: { 'x.a': 1 } }]],
    ['a list of what is in a group', [{ $group: { _id: '$c', items: { $push: { a: '$a', b: '$b' } } } }]],
    ['thirty fields', [{ $project: Object.fromEntries(times(30, 0).map((_, n) => [`f${n}`, `$g${n}`])) }]],
    ['text by text', [{ $set: { t: { $trim: { input: { $toLower: '$t' } } }, n: { $size: '$list' } } }]],
    ['a condition', [{ $match: { $expr: { $gt: ['$spent', '$budget'] } } }, { $count: 'n' }]],
  ])('runs as it is: %s', (_what, pipeline) => {
    expect(boundPipeline(pipeline, stored)).toEqual(pipeline);
  });

  test.each<[string, Record<string, unknown>[]]>([
    [
      'lists of a group are flattened',
      [{ $group: { _id: null, t: { $push: '$tags' } } }, { $project: { t: flatten } }],
    ],
    ['joins go on', [join('x'), join('y'), join('z'), join('w')]],
    [
      'lists are joined in a document',
      [
        {
          $set: {
            x: {
              $map: { input: '$a', in: { $mergeObjects: ['$$this', { b: { $filter: { input: '$b', cond: true } } }] } },
            },
          },
        },
      ],
    ],
    ['fields become a list and back', [{ $project: { x: { $arrayToObject: { $objectToArray: '$$ROOT' } } } }]],
    [
      'a variable of a join is mapped',
      [
        {
          $lookup: {
            from: 'p',
            let: { i: '$i' },
            pipeline: [{ $set: { x: { $map: { input: '$$i', in: { a: '$$this' } } } } }],
            as: 'x',
          },
        },
      ],
    ],
  ])('is guarded once where %s', (_what, pipeline) => {
    expect(guardsOf(pipeline)).toBe(1);
  });
});

describe('a pipeline that multiplies', () => {
  test('is guarded before each stage that does, inside others too', () => {
    const stages = [{ $set: { a: copies(100) } }, { $set: { a: copies(100) } }];
    expect(guardsOf(stages)).toBe(2);
    expect(guardsOf([{ $facet: { f: stages } }])).toBe(2);
    expect(guardsOf([{ $unionWith: { coll: 'p', pipeline: stages } }])).toBe(2);
    expect(guardsOf([{ $lookup: { from: 'p', pipeline: stages, as: 'x' } }])).toBe(2);
  });

  test.each<[string, Record<string, unknown>]>([
    ['$range', { $set: { a: { $range: [0, '$n'] }, b: { $range: [0, '$m'] } } }],
    ['$range', { $set: Object.fromEntries(times(100, 0).map((_, n) => [`x${n}`, { $range: [0, 6_000_000 + n] }])) }],
    [
      '$reduce',
      { $set: { a: { $reduce: { input: '$a', initialValue: '$a', in: { $concatArrays: times(2, '$$value') } } } } },
    ],
    ['$concatArrays', { $set: { a: { $concatArrays: times(40, { $range: [0, 500_000] }) } } }],
    ['its $expr', { $match: { $text: { $search: 'x' }, $expr: { $gt: [{ $size: copies(100) }, 1] } } }],
  ])('INVALID_PIPELINE where no document is small enough, naming the stage and %s', (operator, stage) => {
    const message = refusal(() => boundPipeline([stage], stored));
    expect(message).toMatch(/^INVALID_PIPELINE pipeline\[0\]\.\$\w+ could take more than 128 MiB of memory/);
    expect(message).toContain(`${operator} makes too many copies`);
  });

  test('is guarded where stages add up what they make', () => {
    const stages = times(20, 0).map((_, n) => ({ $set: { [`x${n}`]: { $range: [0, { $size: '$a' }] } } }));
    expect(guardsOf(stages)).toBeGreaterThan(1);
  });

  test('INVALID_PIPELINE where stages add up what they make of numbers that nothing bounds', () => {
    const stages = times(2, 0).map((_, n) => ({ $set: { [`x${n}`]: { $range: [0, '$n'] } } }));
    expect(refusal(() => boundPipeline(stages, stored))).toContain('{"$range":[0,{"$min":["$n",1000]}]}');
    const bounded = times(2, 0).map((_, n) => ({ $set: { [`x${n}`]: { $range: [0, { $min: ['$n', 1000] }] } } }));
    expect(guardsOf(bounded)).toBe(0);
  });

  test('INVALID_PIPELINE where what no document is needed for adds up', () => {
    const stages = times(20, 0).map((_, n) => ({ $set: { [`x${n}`]: { $range: [0, 1_000_000 + n] } } }));
    expect(refusal(() => boundPipeline(stages, stored))).toContain('$range makes too many copies');
    expect(refusal(() => boundPipeline([{ $facet: { a: stages } }], stored))).toContain('$range makes too many copies');
  });

  test('INVALID_PIPELINE in $geoNear, before which nothing can stand', () => {
    const query = { $expr: { $gt: [{ $size: copies(100) }, 1] } };
    expect(refusal(() => boundPipeline([{ $geoNear: { query } }], stored))).toMatch(
      /^INVALID_PIPELINE .*\$geoNear could/,
    );
  });

  test.each<[string, unknown]>([
    ['CURRENT', { $let: { vars: { CURRENT: { a: copies(50) } }, in: copies(50) } }],
    ['valueAs', { $reduce: { input: '$a', initialValue: '$a', valueAs: 'v', in: { $concatArrays: ['$$v', '$$v'] } } }],
  ])('INVALID_PIPELINE by another name of a variable: %s', (_what, x) => {
    expect(refusal(() => boundPipeline([{ $set: { x } }], stored))).toMatch(/^INVALID_PIPELINE /);
  });

  test('INVALID_PIPELINE for loops that are too deep to be worked out, at once', () => {
    const nested = times(20, 0).reduce<unknown>((inner) => ({ $map: { input: '$a', in: inner } }), 1);
    expect(refusal(() => boundPipeline([{ $set: { x: nested } }], stored))).toContain('too many loops inside loops');
  });
});
