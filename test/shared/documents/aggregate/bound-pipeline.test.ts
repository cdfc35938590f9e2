import { describe, expect, test } from 'vitest';
import { boundPipeline } from '../../../../shared/documents/aggregate/memory.ts';
import { refusal } from './collections.ts';

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);
const guardsOf = (pipeline: readonly Record<string, unknown>[]): number =>
  JSON.stringify(boundPipeline(pipeline)).split('The aggregation was stopped before').length - 1;

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
    ['a list of a group’s documents', [{ $group: { _id: '$c', items: { $push: { a: '$a', b: '$b' } } } }]],
    ['thirty fields', [{ $project: Object.fromEntries(times(30, 0).map((_, n) => [`f${n}`, `$g${n}`])) }]],
    ['text by text', [{ $set: { t: { $trim: { input: { $toLower: '$t' } } }, n: { $size: '$list' } } }]],
    ['a condition', [{ $match: { $expr: { $gt: ['$spent', '$budget'] } } }, { $count: 'n' }]],
  ])('runs unchanged: %s', (_what, pipeline) => {
    expect(boundPipeline(pipeline)).toEqual(pipeline);
  });

  test.each<[string, Record<string, unknown>[]]>([
    [
      'lists of a group are flattened',
      [{ $group: { _id: null, t: { $push: '$tags' } } }, { $project: { t: flatten } }],
    ],
    ['many joins follow each other', [join('x'), join('y'), join('z'), join('w'), join('v')]],
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
  ])('is guarded once when %s', (_what, pipeline) => {
    expect(guardsOf(pipeline)).toBe(1);
  });
});

describe('a pipeline that multiplies', () => {
  test('is guarded before each stage that multiplies, also in inner pipelines', () => {
    const stages = [{ $set: { a: copies(100) } }, { $set: { a: copies(100) } }];
    expect(guardsOf(stages)).toBe(2);
    expect(guardsOf([{ $facet: { f: stages } }])).toBe(2);
    expect(guardsOf([{ $unionWith: { coll: 'p', pipeline: stages } }])).toBe(2);
    expect(guardsOf([{ $lookup: { from: 'p', pipeline: stages, as: 'x' } }])).toBe(2);
  });

  test('is guarded inside a join with its variables, which may be as large as their document', () => {
    const mapped = (input: string) => [{ $set: { x: { $map: { input, in: { a: '$$this' } } } } }];
    const guardOf = (stage: object) => JSON.stringify(boundPipeline([{ $lookup: stage }]));
    expect(guardOf({ from: 'p', let: { i: '$i' }, pipeline: mapped('$$i'), as: 'x' })).toContain(
      '{"$bsonSize":{"all":["$$ROOT","$$i"]}}',
    );
    expect(guardOf({ from: 'p', pipeline: mapped('$i'), as: 'x' })).toContain('{"$bsonSize":"$$ROOT"}');
  });

  test('is guarded for nested fields only when the outer field is a list, which repeats the value', () => {
    const inside = (value: unknown) => [{ $project: { title: { first: value } } }];
    const [guard] = boundPipeline(inside({ $substr: ['$title', 0, 3] }));
    expect(JSON.stringify(guard)).toContain('{"$not":[{"$isArray":["$title"]}]}');
    expect(guardsOf([{ $project: { 'title.first': 1 } }])).toBe(0);
  });

  test.each<[string, Record<string, unknown>]>([
    ['$replaceWith', { $replaceWith: { pipeline: copies(100) } }],
    ['$group', { $group: { _id: null, pipeline: { $sum: { $size: copies(100) } } } }],
    ['$bucket', { $bucket: { groupBy: '$n', boundaries: [0, 9], output: { pipeline: { $push: copies(100) } } } }],
  ])('is guarded by the value of a field named pipeline: %s', (_name, stage) => {
    expect(guardsOf([stage])).toBe(1);
  });

  test('is guarded by the inputs of a $range step', () => {
    expect(guardsOf([{ $set: { x: { $range: [0, 10, { $size: copies(100) }] } } }])).toBe(1);
  });

  test.each<[string, Record<string, unknown>]>([
    ['"a"', { $set: { a: { $concatArrays: times(4000, { $concatArrays: times(4, '$a') }) } } }],
    [
      '"x0"',
      {
        $set: Object.fromEntries(
          times(200, 0).map((_, n) => [`x${n}`, { $map: { input: { $range: [n, 9999] }, in: { a: 1, b: 2 } } }]),
        ),
      },
    ],
    ['"x"', { $set: { x: { $map: { input: '$a', in: times(400, { $concat: ['$t', 'x'] }) } } } }],
    ['it', { $match: { $text: { $search: 'x' }, $expr: { $gt: [{ $size: copies(100) }, 1] } } }],
    ['"query"', { $geoNear: { query: { $expr: { $gt: [{ $size: copies(100) }, 1] } } } }],
  ])('INVALID_PIPELINE with the stage and the largest part when no document is small enough: %s', (what, stage) => {
    const message = refusal(() => boundPipeline([stage]));
    expect(message).toMatch(/^INVALID_PIPELINE pipeline\[0\]\.\$\w+ could take more than 128 MiB of memory/);
    expect(message).toContain(`${what} makes too many copies`);
  });

  test('is guarded when parts that need no document add up', () => {
    const loop = { $map: { input: { $range: [0, 9999] }, in: { a: '$$this', b: { c: 1 } } } };
    const stages = times(40, 0).map((_, n) => ({ $set: { [`x${n}`]: loop } }));
    expect(guardsOf(stages.slice(0, 5))).toBe(0);
    expect(guardsOf(stages)).toBeGreaterThan(0);
    expect(guardsOf([{ $facet: { a: stages } }])).toBeGreaterThan(0);
  });

  test.each<[string, unknown]>([
    ['a `$let` variable', { $let: { vars: { x: { $reverseArray: '$a' } }, in: '$$x' } }],
    ['a path that may go through a list', '$a.x'],
    ['a path of a variable', { $let: { vars: { v: '$a' }, in: '$$v.x' } }],
    ['a date by a format of the document', { $dateToString: { date: '$$NOW', format: '$t' } }],
    ['a match with its groups', { $regexFind: { input: '$t', regex: '(?=(.*))' } }],
    ['the fallback for an invalid date', { $reverseArray: { $dateFromString: { dateString: 'x', onError: '$a' } } }],
  ])('is guarded in a loop that keeps %s', (_what, inner) => {
    expect(guardsOf([{ $set: { x: { $map: { input: { $range: [0, 1000] }, in: inner } } } }])).toBe(1);
  });

  test('is bounded quickly, however its parts are nested', () => {
    const nested = (wrap: (inner: unknown) => unknown) => times(20, wrap).reduce<unknown>((x, one) => one(x), '$a');
    const value = {
      x: nested((inner) => ({ $replaceAll: { input: '$t', find: 'a', replacement: inner } })),
      y: { $size: nested((inner) => ({ $range: [0, { $size: inner }] })) },
    };
    expect(refusal(() => boundPipeline([{ $set: value }]))).toContain('makes too many copies');
  });

  test('is bounded quickly, however many variables it uses', () => {
    const vars = Object.fromEntries(times(4800, 1).map((one, n) => [`v${n}`, one]));
    expect(guardsOf([{ $set: { a: { $let: { vars, in: copies(90) } } } }])).toBe(1);
    const stages = times(48, { $set: { a: 1 } });
    expect(guardsOf([{ $lookup: { from: 'p', let: vars, pipeline: stages, as: 'x' } }])).toBe(0);
  });

  test('is bounded quickly, however long its paths are', () => {
    const inside = (one: unknown) => reduce({ $concatArrays: ['$$value', one] });
    expect(setting(inside(inside(`$a${'.a'.repeat(500_000)}`)))).toContain('makes too many copies');
  });

  test('is guarded by each element of a list when a range ends at $min of its length and a number', () => {
    const range = { $range: [0, { $min: [{ $size: '$$this' }, 1000] }] };
    const [guard] = boundPipeline([
      { $set: { x: { $map: { input: '$a', in: { $concatArrays: times(40, range) } } } } },
    ]);
    expect(JSON.stringify(guard)).toContain('"$bsonSize"');
  });

  test.each<[string, unknown]>([
    ['numbers', times(60_000, 1)],
    ['a literal', { $literal: times(400_000, 1) }],
  ])('INVALID_PIPELINE quickly when loops contain very many values: %s', (_what, value) => {
    const inside = (one: unknown) => reduce({ $concatArrays: ['$$value', one] });
    expect(setting(inside(inside(value)))).toMatch(/^INVALID_PIPELINE pipeline\[0\]\.\$set: .* too many values/);
    expect(setting(value)).toBe('nothing was refused');
  });
});

describe('a project’s own database', () => {
  test('gets no guard, but the rules apply', () => {
    const stages = [{ $set: { a: copies(100) } }];
    expect(boundPipeline(stages, false)).toEqual(stages);
    const range = [{ $set: { a: { $range: [0, '$n'] } } }];
    expect(refusal(() => boundPipeline(range, false))).toContain('$range may have 10000 steps');
  });
});

const setting = (x: unknown) => refusal(() => boundPipeline([{ $set: { x } }]));
const reduce = (inner: unknown, more: object = {}) => ({
  $reduce: { input: '$a', initialValue: [], in: inner, ...more },
});

describe('the rule of $range', () => {
  test.each<[string, unknown[]]>([
    ['a number of the document', [0, '$n']],
    ['more than 10 000 steps', [0, 10_001]],
    ['as many downwards', [10_001, 0, -1]],
    ['a start that is a number of the document', ['$n', 10]],
    ['the least of two numbers of the document', [0, { $min: ['$n', '$m'] }]],
    ['the least of two, downwards', [0, { $min: ['$n', 10] }, -1]],
    ['a product', [0, { $multiply: [{ $size: '$a' }, 1000] }]],
    ['a quotient that is larger', [0, { $divide: [10_000, 0.01] }]],
  ])('INVALID_PIPELINE for %s', (_what, $range) => {
    expect(setting({ $size: { $range } })).toMatch(
      /^INVALID_PIPELINE pipeline\[0\]\.\$set: \$range may have 10000 steps/,
    );
  });

  test.each<[string, unknown[]]>([
    ['10 000 steps', [0, 10_000]],
    ['as many of 25', [0, 250_000, 25]],
    ['as many as a list is long', [0, { $size: '$a' }]],
    ['backwards through a list', [{ $subtract: [{ $size: '$a' }, 1] }, -1, -1]],
    ['pages of a list', [0, { $ceil: { $divide: [{ $size: '$a' }, 10] } }]],
    ['the letters of a text', [0, { $strLenCP: '$t' }]],
    ['a number that is bound', [0, { $min: ['$n', 1000] }]],
  ])('allows %s', (_what, $range) => {
    expect(setting({ $size: { $range } })).toBe('nothing was refused');
  });
});

describe('the rule of loops', () => {
  const nested = (depth: number): unknown => (depth === 0 ? 1 : { $map: { input: '$a', in: nested(depth - 1) } });

  test('INVALID_PIPELINE for three nested loops, at any position', () => {
    expect(setting(nested(3))).toContain('loops ($map, $filter, $reduce) may be used 2 deep');
    expect(setting({ $filter: { input: '$a', cond: { $gt: [{ $size: nested(2) }, 1] } } })).toContain(
      'may be used 2 deep',
    );
    expect(refusal(() => boundPipeline([{ $set: { 'a.x': nested(2) } }]))).toContain('may be used 2 deep');
    expect(setting(nested(2))).toBe('nothing was refused');
  });
});

describe("the rule of a $reduce's value", () => {
  test.each<[string, unknown]>([
    ['twice', reduce({ $concatArrays: ['$$value', '$$value'] })],
    ['twice by another name', reduce({ $let: { vars: { v: '$$value' }, in: ['$$v', '$$v'] } })],
    ['twice by the name that it is given', reduce({ $concatArrays: ['$$v', '$$v'] }, { valueAs: 'v' })],
    ['one field of it twice', reduce({ p: ['$$value.p', '$$value.p'] })],
    ['fields that double each other', reduce({ p: { $concat: ['$$value.p', '$$value.q'] }, q: '$$value.p' })],
    ['the whole of it in a field', reduce({ p: '$$value', q: 1 })],
    ['in a loop', reduce({ $map: { input: '$b', in: '$$value' } })],
    ['looped over', reduce({ $map: { input: '$$value', in: { x: '$$this' } } })],
    [
      'looped over by another',
      reduce({ $reduce: { input: '$$value', initialValue: [], in: { $concatArrays: ['$$value', ['$$this']] } } }),
    ],
    ['zipped', reduce({ $zip: { inputs: ['$$value'] } })],
    ['taken apart', reduce({ $objectToArray: '$$value' })],
  ])('INVALID_PIPELINE when it is used: %s', (_what, x) => {
    expect(setting(x)).toMatch(/^INVALID_PIPELINE pipeline\[0\]\.\$set: \$reduce may have \$\$value/);
  });

  test.each<[string, unknown]>([
    ['once', reduce({ $concatArrays: ['$$value', '$$this'] })],
    ['each field once', reduce({ p: { $concat: ['$$value.p', 'x'] }, q: { $concat: ['$$value.q', 'y'] } })],
    [
      'once in each branch',
      reduce({ $cond: [{ $in: ['$$this', '$$value'] }, '$$value', { $concatArrays: ['$$value', ['$$this']] }] }),
    ],
    [
      'once in each case',
      reduce({
        $switch: JSON.parse(
          '{"branches":[{"case":true,"then":"$$value"},{"case":{"$size":"$$value"},"then":"$$value"}],"default":[]}',
        ),
      }),
    ],
    ['in operators that only read it', reduce({ $add: ['$$value', { $size: '$$value' }, { $max: '$$value' }] })],
    ['filtered', reduce({ $filter: { input: '$$value', cond: { $gt: ['$$this', 1] } } })],
    [
      'each in a loop of its own',
      reduce({ $concatArrays: ['$$value', reduce({ $concatArrays: ['$$value', ['$$this']] })] }),
    ],
  ])('allows it %s', (_what, x) => {
    expect(setting(x)).toBe('nothing was refused');
  });
});
