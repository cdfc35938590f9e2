import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changesFor, parseWhereText, partsOf, whereText } from '../../console/pages/documents/filter-parts.ts';
import { conditionsOf, filterOf } from '../../console/pages/documents/filter-values.ts';
import { conditions, documents, holds, type JsonRecord, sampledSchema } from '../support/data/conditions.ts';
import { seed } from '../support/data/fuzz-values.ts';
import { collectionOf } from './documents/collections.ts';

const samples = collectionOf(sampledSchema);

const asJson = (text = '{}') => JSON.parse(text) as JsonRecord;

describe('filters of a list', () => {
  test('become a condition that finds the same documents, also while it is typed', () => {
    const stored = fc.sample(documents, { seed, numRuns: 60 });
    let typed = 0;
    for (const where of fc.sample(conditions, { seed, numRuns: 1000 })) {
      const parts = parseWhereText(samples, JSON.stringify(where));
      const again = parts.map((part) => {
        const shown = 'filter' in part ? conditionsOf(samples, part.filter) : undefined;
        if (shown) typed += 1;
        return shown ? { filter: filterOf(samples, shown) } : part;
      });
      const written = asJson(whereText(again));
      const differing = stored.filter((document) => holds(document, where) !== holds(document, written));
      expect(differing, JSON.stringify({ where, written })).toEqual([]);
    }
    expect(typed).toBeGreaterThan(500);
  });

  test.each([
    ['n_gte=5', { n: { $gte: 5 } }],
    ['n_gte=5&n_lt=9&t_contains=x', { n: { $gte: 5, $lt: 9 }, t: { $contains: 'x' } }],
    ['n=5&n=7', { n: 7 }],
    ['t=5', { t: '5' }],
    ['b=TRUE', { b: true }],
    ['d_gt=2026-01-31', { d: { $gt: '2026-01-31T00:00:00.000Z' } }],
    ['t_regex=^a', { t: { $regex: '(?i)^a' } }],
    ['free=5', { free: { $in: ['5', 5] } }],
    ['free_gt=5', { $or: [{ free: { $gt: '5' } }, { free: { $gt: 5 } }] }],
    ['n_in=1,2&where={"n":{"$in":[2]}}', { n: { $in: [2] }, $and: [{ n: { $in: [1, 2] } }] }],
    ['n_exists=true&sort=-n&page=2&open=x', { n: { $exists: true } }],
  ])('of an older address, %s, become a condition', (address, where) => {
    const query = Object.fromEntries(new URLSearchParams(address));
    const changes = changesFor(query, partsOf(samples, query));
    expect(asJson(changes.where)).toEqual(where);
    const { where: _where, ...others } = { ...query, ...changes };
    const kept = Object.fromEntries(Object.entries(others).filter(([, text]) => text !== undefined));
    expect(Object.keys(kept).every((name) => ['sort', 'page', 'open'].includes(name))).toBe(true);
  });

  test('take a decimal comma as a CSV file does', () => {
    const typed = (text: string) => filterOf(samples, [{ field: 'n', operator: '$gt', text }]);
    expect(asJson(whereText([{ filter: typed('4,50') }]))).toEqual({ n: { $gt: 4.5 } });
    expect(asJson(whereText([{ filter: typed('1.234,5') }]))).toEqual({ n: { $gt: 1234.5 } });
    expect(() => typed('1,234')).toThrow(/ambiguous/);
    const list = filterOf(samples, [{ field: 'n', operator: '$in', text: '4,50' }]);
    expect(asJson(whereText([{ filter: list }]))).toEqual({ n: { $in: [4, 50] } });
  });

  test('stay unchanged when they cannot be parsed', () => {
    const query = { n_gte: 'many', where: '{"n":{"$foo":1}}', t: 'a' };
    const parts = partsOf(samples, query);
    expect(parts.filter((part) => 'parameter' in part)).toEqual([
      { parameter: 'where', text: '{"n":{"$foo":1}}' },
      { parameter: 'n_gte', text: 'many' },
    ]);
    expect(changesFor(query, parts)).toEqual({ n_gte: 'many', where: '{"t":"a"}', t: undefined });
    expect(changesFor(query, [])).toEqual({ n_gte: undefined, where: undefined, t: undefined });
  });

  test.each([
    ['n', '$gt', '5', { n: { $gt: 5 } }],
    ['t', '$eq', 'null', { t: 'null' }],
    ['n', '$eq', 'null', { n: null }],
    ['n', '$in', '1, 2,3', { n: { $in: [1, 2, 3] } }],
    ['t', '$in', '["a,b", "c"]', { t: { $in: ['a,b', 'c'] } }],
    ['ts', '$all', 'a, 5', { ts: { $all: ['a', '5'] } }],
    ['ts', '$size', '2', { ts: { $size: 2 } }],
    ['free', '$eq', '5', { free: 5 }],
    ['free', '$eq', '"5"', { free: '5' }],
    ['free', '$eq', 'a b', { free: 'a b' }],
    ['o.k', '$exists', 'false', { 'o.k': { $exists: false } }],
    ['b', '$ne', 'true', { b: { $ne: true } }],
  ] as const)('%s %s %s is typed by the schema', (field, operator, text, where) => {
    const filter = filterOf(samples, [{ field, operator, text }]);
    expect(asJson(whereText([{ filter }]))).toEqual(where);
    expect(whereText([{ filter: filterOf(samples, conditionsOf(samples, filter) ?? []) }])).toBe(
      whereText([{ filter }]),
    );
  });

  test.each([
    ['n', '$gt', 'many', 'Filter "n.$gt": "many" is not a number.'],
    ['n', '$eq', '', 'Filter "n.$eq": "" is not a number.'],
    ['r', '$eq', '12', 'Filter "r.$eq": "12" is not a document id of 24 hexadecimal characters.'],
    ['ts', '$size', 'x', 'Filter "ts.$size": $size takes a whole number.'],
    ['$where', '$eq', '1', 'Filter "$where": only $and, $or, $not and names of fields can be used here.'],
  ] as const)('%s %s %s is rejected with the message of the service', (field, operator, text, words) => {
    expect(() => filterOf(samples, [{ field, operator, text }])).toThrow(words);
  });
});
