import { ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { convertMatch } from '../../../../shared/documents/aggregate/convert-match.ts';
import { people, posts } from './collections.ts';

const hex = '0123456789abcdef01234567';
const id = new ObjectId(hex);
const day = '2026-01-02';
const date = new Date('2026-01-02T00:00:00Z');

type Row = readonly [condition: Record<string, unknown>, expected: Record<string, unknown>];

describe('a leading $match', () => {
  test.each<Row>([
    [{ _id: hex }, { _id: id }],
    [
      { author: hex, at: day },
      { author: id, at: date },
    ],
    [{ createdAt: { $gte: day, $lt: '2026' } }, { createdAt: { $gte: date, $lt: '2026' } }],
    [
      { updatedAt: { $eq: day }, deletedAt: { $ne: day } },
      { updatedAt: { $eq: date }, deletedAt: { $ne: date } },
    ],
    [{ _id: { $in: [hex, 'x', 1] } }, { _id: { $in: [id, 'x', 1] } }],
    [{ author: { $nin: [hex] } }, { author: { $nin: [id] } }],
    [{ at: { $not: { $gt: day } } }, { at: { $not: { $gt: date } } }],
    [{ editors: hex }, { editors: id }],
    [{ editors: [hex, hex] }, { editors: [id, id] }],
    [{ 'editors.0': hex }, { 'editors.0': id }],
    [{ editors: { $all: [hex] } }, { editors: { $all: [id] } }],
    [{ editors: { $elemMatch: { $ne: hex } } }, { editors: { $elemMatch: { $ne: id } } }],
    [{ notes: { $elemMatch: { by: hex, at: day } } }, { notes: { $elemMatch: { by: id, at: day } } }],
    [{ notes: { $elemMatch: { $or: [{ by: hex }] } } }, { notes: { $elemMatch: { $or: [{ by: id }] } } }],
    [{ notes: { $all: [{ $elemMatch: { by: hex } }] } }, { notes: { $all: [{ $elemMatch: { by: id } }] } }],
    [
      { 'notes.by': hex, 'meta.seen': day },
      { 'notes.by': id, 'meta.seen': date },
    ],
    [
      { $and: [{ $or: [{ _id: hex }, { $nor: [{ at: day }] }] }] },
      { $and: [{ $or: [{ _id: id }, { $nor: [{ at: date }] }] }] },
    ],
  ])('%j is converted by the schema', (condition, expected) => {
    expect(convertMatch(posts, condition)).toEqual(expected);
  });

  test.each<[Record<string, unknown>]>([
    [{ title: hex, unknown: hex, 'meta.other': day }],
    [{ _id: 'short', at: 'yesterday', author: null }],
    [{ _id: { $exists: true, $type: 'string', $regex: hex } }],
    [{ at: 5, createdAt: { $gt: 5 } }],
    [{ at: date, _id: id }],
    [{ $expr: { $eq: ['$_id', hex] }, $text: { $search: hex }, $comment: hex }],
    [{ $and: 'x', author: { $in: hex, $elemMatch: 1 } }],
    [{ meta: { seen: day } }],
  ])('%j stays as it is', (condition) => {
    expect(convertMatch(posts, condition)).toEqual(condition);
  });

  test('converts system fields when there is no schema', () => {
    expect(convertMatch(people, { _id: hex, createdAt: day, author: hex, at: day })).toEqual({
      _id: id,
      createdAt: date,
      author: hex,
      at: day,
    });
  });
});
