import { ObjectId } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { type Collection, type Field, noRowSecurity } from '../../../../shared/collections/collection.ts';
import { parseSuffixFilters } from '../../../../shared/documents/query/suffix-filters.ts';
import { toConditions } from '../../../../shared/documents/query/where.ts';

const field = (key: string, type: Field['type'], more: Partial<Field> = {}): Field => ({
  key,
  type,
  required: false,
  unique: false,
  ...more,
});

const posts: Collection = {
  name: 'posts',
  schema: [
    field('title', 'String'),
    field('views', 'Number'),
    field('ok', 'Boolean'),
    field('at', 'Date'),
    field('author', 'Ref', { ref: 'people' }),
    field('words', 'Array', { items: { type: 'String' } }),
    field('any', 'Array'),
    field('address', 'Object', { fields: [field('zip', 'Number')] }),
    field('price_in', 'Number'),
  ],
  rls: noRowSecurity,
};
const notes: Collection = { name: 'notes', schema: null, rls: noRowSecurity };

const id = '64b000000000000000000001';
const conditions = (collection: Collection, query: string) =>
  toConditions(parseSuffixFilters(collection, [...new URLSearchParams(query)]));

describe('a filter', () => {
  it.each<[Collection, string, unknown]>([
    [posts, 'title=null', { title: { $eq: 'null' } }],
    [posts, 'title=5', { title: { $eq: '5' } }],
    [posts, 'views=5', { views: { $eq: 5 } }],
    [posts, 'views=-1.5e3', { views: { $eq: -1500 } }],
    [posts, 'views=null', { views: { $eq: null } }],
    [posts, 'views_ne=5', { views: { $ne: 5 } }],
    [posts, 'views_gte=5', { views: { $gte: 5 } }],
    [posts, 'views_in=1,2,null', { views: { $in: [1, 2, null] } }],
    [posts, 'ok=false', { ok: { $eq: false } }],
    [posts, 'ok=True', { ok: { $eq: true } }],
    [posts, 'ok_in=FALSE,tRUE', { ok: { $in: [false, true] } }],
    [posts, 'ok_ne=False', { ok: { $ne: false } }],
    [posts, 'views_exists=True', { views: { $exists: true } }],
    [posts, 'title=True', { title: { $eq: 'True' } }],
    [posts, 'at_lt=2026-01-02', { at: { $lt: new Date('2026-01-02') } }],
    [posts, 'at=5', { at: { $eq: new Date(5) } }],
    [posts, `author=${id}`, { author: { $eq: new ObjectId(id) } }],
    [posts, `_id=${id}`, { _id: { $eq: new ObjectId(id) } }],
    [posts, 'createdAt_gt=2026-01-02T03:04:05Z', { createdAt: { $gt: new Date('2026-01-02T03:04:05Z') } }],
    [posts, 'words=5', { words: { $eq: '5' } }],
    [posts, 'any=5', { any: { $in: ['5', 5] } }],
    [posts, 'address.zip=5', { 'address.zip': { $eq: 5 } }],
    [posts, 'price_in=5', { price_in: { $eq: 5 } }],
    [posts, 'price_in_in=5,6', { price_in: { $in: [5, 6] } }],
    [posts, 'title_regex=^a', { title: { $regex: '^a', $options: 'i' } }],
    [posts, 'title_contains=(a.b)', { title: { $regex: '\\(a\\.b\\)' } }],
    [posts, 'words_startsWith=^a', { words: { $regex: '^\\^a' } }],
    [notes, 'a_endsWith=a%00$', { a: { $regex: 'a\\x00\\$\\z' } }],
    [posts, 'views_exists=false', { views: { $exists: false } }],
    [notes, 'a=x', { a: { $eq: 'x' } }],
    [notes, 'a=5', { a: { $in: ['5', 5] } }],
    [notes, 'a=1.0', { a: { $eq: '1.0' } }],
    [notes, 'a=1e400', { a: { $eq: '1e400' } }],
    [notes, 'a=NaN', { a: { $eq: 'NaN' } }],
    [notes, 'a=true', { a: { $in: ['true', true] } }],
    [notes, 'a=TRUE', { a: { $in: ['TRUE', true] } }],
    [notes, 'a=null', { a: { $in: ['null', null] } }],
    [notes, 'a_ne=5', { a: { $nin: ['5', 5] } }],
    [notes, 'a_gt=5', { $or: [{ a: { $gt: '5' } }, { a: { $gt: 5 } }] }],
    [notes, 'a_in=x,5', { a: { $in: ['x', '5', 5] } }],
    [notes, 'page_eq=x', { page: { $eq: 'x' } }],
    [notes, 'a={"$ne":1}', { a: { $eq: '{"$ne":1}' } }],
    [notes, '_in=x', { _in: { $eq: 'x' } }],
  ])('of $name: %s', (collection, query, expected) => {
    expect(conditions(collection, query)).toEqual([expected]);
  });

  it('applies both conditions when it is given twice', () => {
    expect(conditions(posts, 'views_gt=1&views_gt=2')).toEqual([{ views: { $gt: 1 } }, { views: { $gt: 2 } }]);
  });

  it.each<[Collection, string]>([
    [posts, 'views=x'],
    [posts, 'views='],
    [posts, 'views=0x10'],
    [posts, 'views_in=1,x'],
    [posts, 'views_gt=null'],
    [posts, 'views_regex=1'],
    [posts, 'views_contains=1'],
    [posts, 'at_startsWith=2026'],
    [notes, `a_endsWith=${'x'.repeat(4097)}`],
    [posts, 'ok=1'],
    [posts, 'at=2026-02-30'],
    [posts, 'author=someone'],
    [posts, '_id=1'],
    [posts, 'address=x'],
    [posts, 'views_exists=1'],
    [notes, 'isDeleted=true'],
    [notes, 'isDeleted_ne=false'],
    [notes, 'deletedAt_exists=true'],
    [notes, 'deletedAt.x=1'],
    [notes, '$where=1'],
    [notes, '$or_eq=1'],
    [notes, 'a.$b=1'],
    [notes, 'a..b=1'],
    [notes, '.a=1'],
    [notes, '=1'],
    [notes, 'a%00=1'],
    [notes, `${Array(65).fill('a').join('.')}=1`],
    [notes, `a_in=${Array(1001).fill('1').join()}`],
    [notes, Array(51).fill('a=1').join('&')],
  ])('400 INVALID_FILTER in $name for %s', (collection, query) => {
    expect(() => conditions(collection, query)).toThrow(expect.objectContaining({ code: 'INVALID_FILTER' }));
  });

  it.each([
    ['deletedAt_exists=true', /Use include_deleted=true to see the trash\.$/],
    [
      'createdAt_gt=2026-01-01T00:00:00+01:00',
      /whole milliseconds\. A \+ in an address is a space: write it as %2B\.$/,
    ],
    ['createdAt_gt=yesterday', /whole milliseconds\.$/],
    ['createdAt_gte=2026', /"2026" is not an ISO 8601 date, such as 2026-01-31, or whole milliseconds\.$/],
    ['_rev=1', /documents cannot be filtered by it\.$/],
    ['_pos_gt=1', /documents cannot be filtered by it\.$/],
  ])('400 INVALID_FILTER for %s with the fix, if there is one', (query, message) => {
    expect(() => conditions(notes, query)).toThrow(message);
  });

  it.each(['', 'a'.repeat(129), 'a%00b'])('400 INVALID_REGEX for the pattern "%s"', (pattern) => {
    expect(() => conditions(notes, `a_regex=${pattern}`)).toThrow(expect.objectContaining({ code: 'INVALID_REGEX' }));
  });

  it('accepts a pattern of 128 characters, however many bytes each has', () => {
    expect(conditions(notes, `a_regex=${encodeURIComponent('😀'.repeat(128))}`)).toHaveLength(1);
  });
});
