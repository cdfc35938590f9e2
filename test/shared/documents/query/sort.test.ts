import { describe, expect, it } from 'vitest';
import { parseSort, type Sort, sortFingerprint, toMongoSort } from '../../../../shared/documents/query/sort.ts';

const written = (sort: Sort): string =>
  sort.map(({ path, direction }) => (direction === 1 ? path : `-${path}`)).join(' ');

describe('a sort parameter', () => {
  it.each([
    ['', '-_id'],
    ['a', 'a _id'],
    ['-a', '-a -_id'],
    ['-a,b', '-a b _id'],
    ['a:desc,b:asc', '-a b _id'],
    ['b:asc,a:desc', 'b -a -_id'],
    ['meta.views:desc', '-meta.views -_id'],
    ['a,-_id', 'a -_id'],
    ['_id', '_id'],
    ['_id,a', '_id'],
    ['-_id', '-_id'],
    ['a,b,c,d', 'a b c d _id'],
  ])('of "%s" orders by %s', (text, expected) => {
    expect(written(parseSort(text))).toBe(expected);
  });

  it.each([
    'a,b,c,d,e',
    'a,a',
    'a,-a',
    '$a',
    'a.$b',
    ',',
    'a,',
    '-',
    '-$a',
    'a:up',
    '-a:desc',
    ':asc',
    'a..b',
    'a\0b',
    Array(65).fill('a').join('.'),
  ])('400 INVALID_QUERY for "%s"', (text) => {
    expect(() => parseSort(text)).toThrow(expect.objectContaining({ code: 'INVALID_QUERY' }));
  });

  it('keeps the order of numeric names', () => {
    expect([...toMongoSort(parseSort('b,0'))]).toEqual([
      ['b', 1],
      ['0', 1],
      ['_id', 1],
    ]);
  });

  it('has one fingerprint for both spellings, and another for another order', () => {
    const fingerprint = sortFingerprint('p', 'c', parseSort('-g'));
    expect(sortFingerprint('p', 'c', parseSort('g:desc'))).toBe(fingerprint);
    expect(sortFingerprint('p', 'c', parseSort('g'))).not.toBe(fingerprint);
    expect(sortFingerprint('q', 'c', parseSort('-g'))).not.toBe(fingerprint);
    expect(sortFingerprint('p', 'd', parseSort('-g'))).not.toBe(fingerprint);
  });
});
