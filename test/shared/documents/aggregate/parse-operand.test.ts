import { ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { parseOperand } from '../../../../shared/documents/aggregate/convert-match.ts';
import { refusal } from './collections.ts';

const hex = '0123456789abcdef01234567';

describe('Extended JSON in a pipeline', () => {
  test.each<[unknown, unknown]>([
    [{ a: { $oid: hex } }, { a: new ObjectId(hex) }],
    [{ a: { $oid: hex.toUpperCase() } }, { a: new ObjectId(hex) }],
    [{ $in: [[{ $oid: hex }], 'x'] }, { $in: [[new ObjectId(hex)], 'x'] }],
    [{ $date: '2026-01-02' }, new Date('2026-01-02T00:00:00Z')],
    [{ $date: '2026-01-02T03:04:05.678+01:00' }, new Date('2026-01-02T02:04:05.678Z')],
    [{ $date: 0 }, new Date(0)],
    [{ $date: -1 }, new Date(-1)],
    [
      { date: hex, oid: 1 },
      { date: hex, oid: 1 },
    ],
    [hex, hex],
    [null, null],
    [{ score: { $meta: 'textScore' } }, { score: { $meta: 'textScore' } }],
    ['$$ROOT', '$$ROOT'],
    ['$$USER_ROLES_2', '$$USER_ROLES_2'],
  ])('%j → %s', (value, expected) => {
    expect(parseOperand(value)).toEqual(expected);
  });

  test.each<[string, unknown]>([
    ['INVALID_PIPELINE for 23 digits', { $oid: hex.slice(1) }],
    ['INVALID_PIPELINE for other letters', { $oid: 'g'.repeat(24) }],
    ['INVALID_PIPELINE for an id that is a number', { $oid: 1 }],
    ['INVALID_PIPELINE for a second key', { $oid: hex, a: 1 }],
    ['INVALID_PIPELINE for a first key', { a: 1, $date: 0 }],
    ['INVALID_PIPELINE for a day that does not exist', { $date: '2026-02-30' }],
    ['INVALID_PIPELINE for half a millisecond', { $date: 0.5 }],
    ['INVALID_PIPELINE for a date out of range', { $date: 8_640_000_000_000_001 }],
    ['INVALID_PIPELINE for the long form', { $date: { $numberLong: '0' } }],
    ['INVALID_PIPELINE for the database roles', { a: ['$$USER_ROLES'] }],
    ['INVALID_PIPELINE for a part of the database roles', '$$USER_ROLES.db'],
    ['INVALID_PIPELINE for search counts', { a: '$$SEARCH_META.count' }],
    ['INVALID_PIPELINE for the number of a record, which counts inserts', { a: { $meta: 'recordId' } }],
    ['INVALID_PIPELINE for an unknown $meta', { a: [{ $meta: 'anything' }] }],
    ['INVALID_PIPELINE for no name', { $meta: { $literal: 'recordId' } }],
    ['INVALID_BODY for a NUL in a name', { 'a\0b': 1 }],
  ])('is rejected: %s', (title, value) => {
    expect(refusal(() => parseOperand(value)).split(' ')[0]).toBe(title.split(' ')[0]);
  });

  test.each<[string, unknown]>([
    ...['CURRENT', 'ROOT', 'REMOVE', 'NOW', 'CLUSTER_TIME', 'KEEP'].flatMap((name): [string, unknown][] => [
      [`$map as ${name}`, { $map: { input: '$a', as: name, in: 1 } }],
      [`$map arrayIndexAs ${name}`, { $map: { input: '$a', arrayIndexAs: name, in: 1 } }],
      [`$filter as ${name}`, { $filter: { input: '$a', as: name, cond: true } }],
      [`$filter arrayIndexAs ${name}`, { $filter: { input: '$a', arrayIndexAs: name, cond: true } }],
      [`$reduce as ${name}`, { $reduce: { input: '$a', initialValue: 0, as: name, in: 1 } }],
      [`$reduce valueAs ${name}`, { $reduce: { input: '$a', initialValue: 0, valueAs: name, in: 1 } }],
      [`$reduce arrayIndexAs ${name}`, { $reduce: { input: '$a', initialValue: 0, arrayIndexAs: name, in: 1 } }],
      [`$let ${name}`, { $let: { vars: { [name]: '$a' }, in: 1 } }],
      [`$lookup let ${name}`, { $lookup: { from: 'a', let: { [name]: '$a' }, pipeline: [], as: 'x' } }],
      [`an operator of a later version ${name}`, { $later: { input: '$a', elementAs: name, in: 1 } }],
    ]),
    ['$let CURRENT deep inside', { $set: { a: [{ b: { $let: { vars: { a: 1, CURRENT: '$a' }, in: 1 } } }] } }],
  ])('INVALID_PIPELINE with the fix for a variable of MongoDB itself: %s', (_what, value) => {
    expect(refusal(() => parseOperand(value))).toMatch(
      /^INVALID_PIPELINE \$\w+ cannot name a variable [A-Z_]+: .* Begin the name with a small letter\.$/,
    );
  });

  test.each<[string, unknown]>([
    [
      'a join whose field has such a name',
      { $lookup: { from: 'a', localField: 'a', foreignField: 'b', as: 'CURRENT' } },
    ],
    ['a graph whose field has such a name', { $graphLookup: { from: 'a', as: 'ROOT' } }],
    ['a condition on a field', { $match: { as: 'Manager', roles: { $elemMatch: { as: 'Ann', input: 'X' } } } }],
    ['a literal', { $literal: { as: 'CURRENT', vars: { CURRENT: 1 } } }],
    ['names of the usual kind', { $map: { input: '$a', as: 'current', in: '$$current' } }],
  ])('is kept: %s', (_what, value) => {
    expect(parseOperand(value)).toEqual(value);
  });

  test('keeps a field named __proto__ as a field', () => {
    const value = parseOperand(JSON.parse('{"a":{"__proto__":{"b":1}}}')) as { a: object };
    expect(Object.keys(value.a)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(value.a)).toBe(Object.prototype);
  });
});
