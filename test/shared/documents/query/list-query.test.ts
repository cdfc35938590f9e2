import { describe, expect, it } from 'vitest';
import { type ListQuery, parseListQuery } from '../../../../shared/documents/query/list-query.ts';

const parse = (query: string): ListQuery => parseListQuery([...new URLSearchParams(query)]);

const byId = [{ path: '_id', direction: -1 }];

describe('a list query', () => {
  it('has defaults for everything', () => {
    expect(parse('')).toEqual({
      page: 1,
      limit: 100,
      skip: 0,
      cursor: undefined,
      sort: byId,
      includeDeleted: false,
      count: false,
      fields: undefined,
      meta: true,
      populate: [],
      filters: [],
      bestFirst: false,
    });
  });

  it.each<[string, Partial<ListQuery>]>([
    ['limit=7', { limit: 7 }],
    ['limit=1000', { limit: 1000 }],
    ['limit=1001', { limit: 1000 }],
    [`limit=${'9'.repeat(400)}`, { limit: 1000 }],
    ['page=3&limit=10', { page: 3, skip: 20 }],
    ['skip=25&limit=10', { page: 3, skip: 25 }],
    ['page=2&skip=77', { page: 2, skip: 100 }],
    ['page=9007199254740991', { page: 9007199254740991, skip: 2 ** 31 - 1 }],
    ['skip=0', { page: 1, skip: 0 }],
    ['cursor=', { cursor: '' }],
    ['cursor=abc', { cursor: 'abc' }],
    ['include_deleted=true', { includeDeleted: true }],
    ['count=true', { count: true }],
    ['meta=false', { meta: false }],
    ['fields=a,b.c,a', { fields: ['a', 'b.c'] }],
    ['fields=', { fields: undefined }],
    ['populate=a,b&expand=b,c', { populate: ['a', 'b', 'c'] }],
    ['populate=', { populate: [] }],
    [
      'a=1&page=2&a=2&page_eq=3',
      {
        filters: [
          ['a', '1'],
          ['a', '2'],
          ['page_eq', '3'],
        ],
      },
    ],
  ])('reads %s', (query, expected) => {
    expect(parse(query)).toMatchObject(expected);
  });

  it.each([
    'limit=0',
    'limit=-1',
    'limit=1.5',
    'limit=',
    'limit=ten',
    'page=0',
    'page=-1',
    'page=1e3',
    'skip=-1',
    'page=1&page=1',
    'sort=a&sort=b',
    'count=1',
    'count=',
    'include_deleted=yes',
    'meta=0',
    'fields=$a',
    'fields=a..b',
    'fields=a,a.b',
    'fields=a.b.c,a.b',
    'fields=a,',
    'populate=a,b,c&expand=d,e,f',
    'populate=$a',
  ])('400 INVALID_QUERY for %s', (query) => {
    expect(() => parse(query)).toThrow(expect.objectContaining({ code: 'INVALID_QUERY' }));
  });

  it.each(['page', 'skip'])('400 NUMBER_NOT_EXACT for %s beyond 2^53−1', (name) => {
    for (const text of ['9007199254740993', '9007199254740992', '9'.repeat(30)]) {
      expect(() => parse(`${name}=${text}`)).toThrow(expect.objectContaining({ code: 'NUMBER_NOT_EXACT' }));
    }
  });

  it('400 INVALID_QUERY for 1001 fields, but not for 1000', () => {
    const fields = (count: number) => () => parse(`fields=${Array.from({ length: count }, (_, n) => `k${n}`).join()}`);
    expect(fields(1000)).not.toThrow();
    expect(fields(1001)).toThrow(expect.objectContaining({ code: 'INVALID_QUERY' }));
  });
});
