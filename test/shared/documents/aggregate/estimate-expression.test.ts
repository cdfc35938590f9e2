import fc from 'fast-check';
import { BSON } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { Estimator } from '../../../../shared/documents/aggregate/estimate-expression.ts';
import { evaluate, nothingMade } from './evaluate.ts';

const bsonSize = (value: unknown): number => BSON.calculateObjectSize({ v: value });
const lists = (value: unknown): number[] =>
  Array.isArray(value)
    ? [value.length, ...value.flatMap(lists)]
    : typeof value === 'object' && value !== null
      ? [Object.keys(value).length, ...Object.values(value).flatMap(lists)]
      : [0];

/** A result may hold one list in many places, and be far larger written out than it is in memory. */
const requireSmall = (value: unknown, nodes = { left: 100_000 }): void => {
  nodes.left -= 1;
  if (nodes.left < 0) throw new RangeError('too much to write out here');
  if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) requireSmall(inner, nodes);
};

const estimateOf = (expression: unknown, document: number, elements = Infinity) =>
  new Estimator({ document, elements }, { left: 1e6 }).of(expression, new Map());

const document = fc.record({
  a: fc.array(fc.oneof(fc.integer({ max: 9, min: 0 }), fc.constant(null), fc.string({ maxLength: 5 })), {
    maxLength: 40,
  }),
  b: fc.array(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 12 }), { maxLength: 12 }),
  o: fc.array(fc.record({ x: fc.integer({ min: 0, max: 9 }), y: fc.array(fc.constant(1), { maxLength: 5 }) }), {
    maxLength: 12,
  }),
  t: fc.string({ maxLength: 80 }),
  d: fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), fc.constant(null), { maxKeys: 20, noNullPrototype: true }),
  n: fc.integer({ min: 0, max: 50 }),
});

/** Expressions of every operator that makes more of what it is given, in and behind one another. */
const { expression } = fc.letrec<{ expression: unknown; list: unknown; text: unknown; object: unknown; any: unknown }>(
  (tie) => {
    const list = tie('list');
    const any = tie('any');
    const several = <T>(of: fc.Arbitrary<T>) => fc.array(of, { minLength: 1, maxLength: 4 });
    return {
      expression: tie('any'),
      any: fc.oneof({ weight: 4, arbitrary: list }, tie('text'), tie('object')),
      text: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constantFrom('$t', ', ', '$$value', '$$this', '$$item.x', 'abc'),
        several(tie('text')).map(($concat) => ({ $concat })),
        fc
          .record({
            input: tie('text'),
            find: fc.constantFrom('a', ', ', '$t'),
            replacement: tie('text'),
          })
          .map(($replaceAll) => ({ $replaceAll })),
      ),
      object: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constantFrom('$d', '$$ROOT', '$$this', '$$item'),
        fc.dictionary(fc.constantFrom('p', 'q', 'x', 'y'), any, { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
        several(tie('object')).map(($mergeObjects) => ({ $mergeObjects })),
        list.map((of) => ({ $first: [of] })),
      ),
      list: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constantFrom(
          '$a',
          '$b',
          '$o',
          '$o.x',
          '$o.y',
          '$$value',
          '$$value.p',
          '$$this',
          '$$item',
          '$$item.y',
          '$$v',
        ),
        several(list).map(($concatArrays) => ({ $concatArrays })),
        several(any),
        fc
          .tuple(
            fc.constant(0),
            fc.oneof(
              fc.integer({ min: 0, max: 60 }),
              list.map((of) => ({ $size: [of] })),
            ),
          )
          .map(($range) => ({ $range })),
        fc.record({ input: list, in: any }).map(($map) => ({ $map })),
        fc.record({ input: list, as: fc.constant('item'), in: any }).map(($map) => ({ $map })),
        fc.record({ input: list, cond: fc.constantFrom(true, { $size: ['$a'] }) }).map(($filter) => ({ $filter })),
        fc.record({ input: list, initialValue: any, in: any }).map(($reduce) => ({ $reduce })),
        fc.record({ vars: fc.record({ v: any }), in: any }).map(($let) => ({ $let })),
        tie('object').map((of) => ({ $objectToArray: [of] })),
        fc.tuple(tie('text'), fc.constantFrom(',', 'a', ' ')).map(($split) => ({ $split })),
        fc.tuple(list, fc.integer({ min: 1, max: 9 })).map(($slice) => ({ $slice })),
        fc.tuple(fc.constantFrom(true, false), list, list).map(($cond) => ({ $cond })),
      ),
    };
  },
);

/** The sizes of elements are averages, which a document of a few bytes may miss by as much. */
const atMost = (bytes: number): number => bytes * 1.05 + 64;

describe('an estimate', () => {
  test('is never below what an expression makes of a document', () => {
    let worked = 0;
    fc.assert(
      fc.property(expression, document, (of, root) => {
        const sum = nothingMade();
        let result: unknown;
        try {
          result = evaluate(of, { ROOT: root }, sum);
          requireSmall(result);
        } catch (error) {
          if (!(error instanceof RangeError)) throw error;
          return;
        }
        worked += 1;
        const size = BSON.calculateObjectSize(root);
        const estimate = estimateOf(of, size);
        expect(atMost(estimate.work)).toBeGreaterThanOrEqual(sum.bytes);
        expect(estimate.weight + 32).toBeGreaterThanOrEqual(bsonSize(result ?? null));
        const longest = Math.max(...lists(root), ...Object.values(root).flatMap(lists));
        expect(atMost(estimateOf(of, size, longest).work)).toBeGreaterThanOrEqual(sum.bytes);
      }),
      { numRuns: 5000, seed: 20_261_121 },
    );
    expect(worked).toBeGreaterThan(3000);
  });

  const mebi = 1024 * 1024;
  test.each<[string, unknown, number]>([
    ['names joined', { $concat: ['$first', ' ', '$last'] }, 2],
    [
      'a hundred fields of their own',
      Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`f${n}`, `$f${n}`])),
      1,
    ],
    [
      'lists that are flattened',
      { $reduce: { input: '$t', initialValue: [], in: { $concatArrays: ['$$value', '$$this'] } } },
      40,
    ],
    [
      'accents taken off',
      ['á', 'é', 'í'].reduce<unknown>((input, find) => ({ $replaceAll: { input, find, replacement: 'a' } }), '$t'),
      4,
    ],
    ['the first ten', { $slice: ['$a', 10] }, 0.01],
    ['a year', { $year: '$at' }, 0.01],
  ])('is modest for %s', (_what, of, times) => {
    expect(estimateOf(of, mebi).work).toBeLessThan((times + 0.1) * mebi);
  });

  test.each<[string, unknown]>([
    [
      'doubles its value',
      { $reduce: { input: '$a', initialValue: '$a', in: { $concatArrays: ['$$value', '$$value'] } } },
    ],
    ['doubles one field of it', { $reduce: { input: '$a', initialValue: {}, in: { p: ['$$value.p', '$$value.p'] } } }],
    [
      'doubles two by each other',
      {
        $reduce: { input: '$a', initialValue: {}, in: { p: { $concat: ['$$value.p', '$$value.q'] }, q: '$$value.p' } },
      },
    ],
  ])('is infinite for a $reduce that %s', (_what, of) => {
    expect(estimateOf(of, 100).work).toBe(Infinity);
  });
});
