import { ObjectId } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { afterPosition } from '../../../../shared/documents/query/cursor.ts';
import { needsSortKey, parseSort } from '../../../../shared/documents/query/sort.ts';

const id = new ObjectId();

describe('the filter after a position', () => {
  it.each([
    ['', { _id: { $lt: id } }],
    ['-_id', { _id: { $lt: id } }],
    ['_id', { _id: { $gt: id } }],
  ])('is a plain range of ids in the order "%s"', (sort, expected) => {
    expect(afterPosition(parseSort(sort), [id], 'ours')).toEqual(expected);
  });

  it.each([
    ['', '$lt'],
    ['_id', '$gt'],
  ])('compares ids across types in the order "%s" when other programs may have set them', (sort, operator) => {
    const position = { $ne: 1 };
    const expected = { $expr: { [operator]: ['$_id', { $literal: position }] } };
    expect(afterPosition(parseSort(sort), [position], 'any')).toEqual(expected);
  });

  it('is a list of ranges, with ties by a greater id last', () => {
    const { $or: ranges } = afterPosition(parseSort('a'), [5, id], 'ours');
    expect(ranges?.[0]).toMatchObject({ $and: [{ a: { $gt: 5 } }, { $nor: expect.any(Array) }] });
    expect(ranges?.at(-1)).toMatchObject({
      $and: [{ $and: [{ a: { $eq: 5 } }, { $nor: expect.any(Array) }] }, { _id: { $gt: id } }],
    });
  });

  it('treats an object as a value, never as operators', () => {
    const value = { $ne: 1 };
    expect(afterPosition(parseSort('a'), [value, id], 'ours').$or?.[0]).toMatchObject({
      $and: [{ a: { $gt: value } }, {}],
    });
  });

  it.each<[string, readonly unknown[], boolean]>([
    ['', [id], false],
    ['a,b', [1, 2, id], false],
    ['a.b,c.b', [1, 2, id], false],
    ['a.b,a.c', [1, 2, id], true],
    ['a,a.c', [1, 2, id], true],
    ['a.0', [1, id], true],
    ['a', [/x/, id], true],
  ])('in the order "%s" at %j needs the sort key: %s', (sort, position, expected) => {
    expect(needsSortKey(parseSort(sort), position)).toBe(expected);
  });
});
