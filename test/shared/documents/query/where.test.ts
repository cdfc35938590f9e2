import { ObjectId } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { type Collection, type Field, noRowSecurity } from '../../../../shared/collections/collection.ts';
import { AppError } from '../../../../shared/core/errors.ts';
import { comparedFields } from '../../../../shared/documents/query/filter.ts';
import { parseWhere, toConditions } from '../../../../shared/documents/query/where.ts';

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
    field('parts', 'Array', { items: { type: 'Object', fields: [field('made', 'Date'), field('of', 'Ref')] } }),
    field('rows', 'Array', { items: { type: 'Array', items: { type: 'Number' } } }),
    field('limit', 'Number'),
  ],
  rls: noRowSecurity,
};

const id = '64b000000000000000000001';
const parsed = (where: unknown) => toConditions(parseWhere(posts, where));

/** Returns the error code of a condition, and the path that both message and error contain. */
const refusal = (where: unknown): string => {
  try {
    parseWhere(posts, where);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const [first] = error.errors ?? [];
    expect(error.message).toContain(`"${first?.field}"`);
    expect(first?.message).toBe(error.message);
    return `${error.code} ${first?.field}`;
  }
  return 'taken';
};

const nested = (levels: number): unknown => (levels === 1 ? { a: 1 } : { $and: [nested(levels - 1)] });
const every = (count: number): object => ({
  $and: Array.from({ length: Math.ceil(count / 10) }, (_, part) =>
    Object.fromEntries(Array.from({ length: Math.min(10, count - 10 * part) }, (_, n) => [`f${n}`, 1])),
  ),
});

describe('where', () => {
  it.each<[unknown, unknown[]]>([
    [{}, []],
    [{ title: 'a', views: 5 }, [{ title: { $eq: 'a' } }, { views: { $eq: 5 } }]],
    [{ views: { $gte: 1, $lt: 5 } }, [{ views: { $gte: 1 } }, { views: { $lt: 5 } }]],
    [{ at: { $gt: '2026-01-02' } }, [{ at: { $gt: new Date('2026-01-02') } }]],
    [{ createdAt: '2026-01-02T03:04:05Z' }, [{ createdAt: { $eq: new Date('2026-01-02T03:04:05Z') } }]],
    [{ author: { $in: [id, null] } }, [{ author: { $in: [new ObjectId(id), null] } }]],
    [{ _id: id }, [{ _id: { $eq: new ObjectId(id) } }]],
    [{ at: null }, [{ at: { $eq: null } }]],
    [{ other: '2026-01-02' }, [{ other: { $eq: '2026-01-02' } }]],
    [{ other: true, limit: 3 }, [{ other: { $eq: true } }, { limit: { $eq: 3 } }]],
    [{ count: 1, where: 2, query: 3 }, [{ count: { $eq: 1 } }, { where: { $eq: 2 } }, { query: { $eq: 3 } }]],
    [{ words: { $all: ['a'], $size: 2 } }, [{ words: { $all: ['a'] } }, { words: { $size: 2 } }]],
    [{ title: { $regex: 'a' } }, [{ title: { $regex: 'a' } }]],
    [{ title: { $contains: 'a.b' } }, [{ title: { $regex: 'a\\.b' } }]],
    [
      { $or: [{ views: 1 }, { title: 'a', ok: true }] },
      [{ $or: [{ views: { $eq: 1 } }, { $and: [{ title: { $eq: 'a' } }, { ok: { $eq: true } }] }] }],
    ],
    [{ $and: [{ views: 1 }, { ok: true }] }, [{ views: { $eq: 1 } }, { ok: { $eq: true } }]],
    [{ $not: { views: 1 }, ok: true }, [{ $nor: [{ views: { $eq: 1 } }] }, { ok: { $eq: true } }]],
    [{ $not: {} }, [{ $nor: [{}] }]],
    [{ 'parts.made': '2026-01-02' }, [{ 'parts.made': { $eq: new Date('2026-01-02') } }]],
    [{ 'parts.0.made': '2026-01-02' }, [{ 'parts.0.made': { $eq: new Date('2026-01-02') } }]],
    [
      { parts: { $elemMatch: { made: '2026-01-02', of: id, isDeleted: true } } },
      [
        {
          parts: {
            $elemMatch: {
              $and: [
                { made: { $eq: new Date('2026-01-02') } },
                { of: { $eq: new ObjectId(id) } },
                { isDeleted: { $eq: true } },
              ],
            },
          },
        },
      ],
    ],
    [{ words: { $elemMatch: { $gt: 'a', $lt: 'c' } } }, [{ words: { $elemMatch: { $gt: 'a', $lt: 'c' } } }]],
    [
      { words: { $elemMatch: { $regex: 'a', $contains: '.', $endsWith: '$' } } },
      [
        {
          words: {
            $elemMatch: { $regex: 'a', $not: { $not: { $regex: '\\.', $not: { $not: { $regex: '\\$\\z' } } } } },
          },
        },
      ],
    ],
    [{ rows: { $elemMatch: { $elemMatch: { $gt: 1 } } } }, [{ rows: { $elemMatch: { $elemMatch: { $gt: 1 } } } }]],
    [{ constructor: 1 }, [{ constructor: { $eq: 1 } }]],
  ])('%j', (where, expected) => {
    expect(parsed(where)).toEqual(expected);
  });

  it.each<[unknown, string]>([
    [null, 'where'],
    [[], 'where'],
    ['a', 'where'],
    [{ $foo: 1 }, '$foo'],
    [{ $where: '1' }, '$where'],
    [{ $expr: {} }, '$expr'],
    [{ $nor: [] }, '$nor'],
    [{ $text: { $search: 'a' } }, '$text'],
    [{ $jsonSchema: {} }, '$jsonSchema'],
    [{ $comment: 'a' }, '$comment'],
    [{ $or: [{ title: 'a' }, { views: { $foo: 1 } }] }, '$or.1.views.$foo'],
    [{ $or: [{ $and: [{ $where: '1' }] }] }, '$or.0.$and.0.$where'],
    [{ $not: { $not: { $function: {} } } }, '$not.$not.$function'],
    [{ parts: { $elemMatch: { $where: '1' } } }, 'parts.$elemMatch.$where'],
    [{ parts: { $elemMatch: { made: { $where: '1' } } } }, 'parts.$elemMatch.made.$where'],
    [{ views: { $not: { $gt: 1 } } }, 'views.$not'],
    [{ views: { $type: 'number' } }, 'views.$type'],
    [{ title: { $options: 'i' } }, 'title.$options'],
    [{ title: { $regex: 'a', $options: 'i' } }, 'title.$options'],
    [{ views: { $gt: 1, other: 2 } }, 'views.other'],
    [{ views: {} }, 'views'],
    [{ address: { zip: 1 } }, 'address'],
    [{ address: 'a' }, 'address'],
    [{ words: ['a'] }, 'words'],
    [{ any: { $in: [['a']] } }, 'any.$in.0'],
    [{ any: { $eq: {} } }, 'any.$eq'],
    [{ views: '5' }, 'views'],
    [{ views: { $in: [1, '2'] } }, 'views.$in.1'],
    [{ views: { $in: 1 } }, 'views.$in'],
    [{ views: { $in: Array(1001).fill(1) } }, 'views.$in'],
    [{ views: { $gt: null } }, 'views.$gt'],
    [{ at: 5 }, 'at'],
    [{ createdAt: 5 }, 'createdAt'],
    [{ 'parts.made': 5 }, 'parts.made'],
    [{ parts: { $elemMatch: { made: 5 } } }, 'parts.$elemMatch.made'],
    [{ parts: { $elemMatch: {} } }, 'parts.$elemMatch'],
    [{ parts: { $elemMatch: 5 } }, 'parts.$elemMatch'],
    [{ words: { $elemMatch: { $gt: 5 } } }, 'words.$elemMatch.$gt'],
    [{ title: { $elemMatch: { $gt: 'a' } } }, 'title.$elemMatch'],
    [{ title: { $size: 1 } }, 'title.$size'],
    [{ words: { $size: 1.5 } }, 'words.$size'],
    [{ words: { $size: -1 } }, 'words.$size'],
    [{ author: 'a' }, 'author'],
    [{ _id: 5 }, '_id'],
    [{ ok: 1 }, 'ok'],
    [{ views: { $exists: 1 } }, 'views.$exists'],
    [{ views: { $contains: '1' } }, 'views.$contains'],
    [{ views: { $regex: '1' } }, 'views.$regex'],
    [{ title: { $regex: 1 } }, 'title.$regex'],
    [{ title: { $startsWith: null } }, 'title.$startsWith'],
    [{ title: { $endsWith: 'a'.repeat(4097) } }, 'title.$endsWith'],
    [{ isDeleted: true }, 'isDeleted'],
    [{ $or: [{ 'deletedAt.a': 1 }] }, '$or.0.deletedAt.a'],
    [{ 'a..b': 1 }, 'a..b'],
    [{ 'a.$b': 1 }, 'a.$b'],
    [{ _bsontype: 1 }, '_bsontype'],
    [{ $or: [] }, '$or'],
    [{ $or: {} }, '$or'],
    [{ $and: Array(51).fill({ a: 1 }) }, '$and'],
    [{ $and: [5] }, '$and.0'],
    [{ $not: [] }, '$not'],
    [nested(9), Array(8).fill('$and').join('.0.')],
    [every(101), '$and.10.f0'],
  ])('INVALID_FILTER for %j, with its path', (where, path) => {
    expect(refusal(where)).toBe(`INVALID_FILTER ${path}`);
  });

  it.each(['', 'a'.repeat(129), 'a\0b'])('INVALID_REGEX for the pattern %j, with its path', (pattern) => {
    expect(refusal({ $or: [{ title: { $regex: pattern } }] })).toBe('INVALID_REGEX $or.0.title.$regex');
  });

  it('accepts 8 levels, 100 conditions, 50 members and 1000 values', () => {
    for (const where of [
      nested(8),
      every(100),
      { $or: Array(50).fill({ a: 1 }) },
      { a: { $in: Array(1000).fill(1) } },
    ]) {
      expect(refusal(where)).toBe('taken');
    }
  });

  it('counts $not and $elemMatch as levels', () => {
    const deep = (levels: number): object =>
      levels === 1 ? { a: 1 } : { $not: { a: { $elemMatch: deep(levels - 2) } } };
    expect(refusal(deep(7))).toBe('taken');
    expect(refusal(deep(9))).toMatch(/^INVALID_FILTER \$not\.a\.\$elemMatch/);
  });
});

describe('the fields that a condition compares', () => {
  const fields = (where: unknown) => comparedFields(parseWhere(posts, where));

  it.each<[unknown, unknown]>([
    [{ views: 1, at: { $gt: '2026-01-01' }, words: { $size: 1 } }, [{ equal: ['views'], range: ['at'] }]],
    [
      { ok: true, $or: [{ views: 1 }, { title: 'a', at: null }, { views: 2 }] },
      [
        { equal: ['ok', 'views'], range: [] },
        { equal: ['at', 'ok', 'title'], range: [] },
      ],
    ],
    [
      { parts: { $elemMatch: { of: id } }, words: { $elemMatch: { $gt: 'a' } } },
      [{ equal: ['parts.of'], range: ['words'] }],
    ],
    [{ $not: { views: 1 } }, [{ equal: [], range: [] }]],
  ])('%j', (where, branches) => {
    expect(fields(where).branches).toEqual(branches);
  });

  it('are always those outside an alternative, or in all its branches', () => {
    expect(fields({ ok: true, $or: [{ views: 1 }, { title: 'a' }] }).always).toEqual({ equal: ['ok'], range: [] });
    expect(fields({ $or: [{ views: 1 }, { views: 2 }] }).always).toEqual({ equal: ['views'], range: [] });
  });
});
