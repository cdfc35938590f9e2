import { ObjectId } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { presentProjected, toProjection } from '../../../../shared/documents/read/projection.ts';

const _id = new ObjectId();
const active = { isDeleted: false, deletedAt: null };

describe('a projection', () => {
  it.each<[readonly string[] | undefined, boolean, unknown]>([
    [undefined, true, {}],
    [undefined, false, { isDeleted: 0, deletedAt: 0, createdAt: 0, updatedAt: 0 }],
    [['a', 'b.c'], true, { _id: 1, a: 1, 'b.c': 1 }],
    [['a', 'createdAt', 'deletedAt.x'], false, { _id: 1, a: 1 }],
  ])('of fields %j with meta %s', (fields, meta, expected) => {
    expect(toProjection({ fields, meta })).toEqual(expected);
  });

  it('keeps a field named __proto__ a mere field', () => {
    expect(Object.keys(toProjection({ fields: ['__proto__'], meta: true }))).toEqual(['_id', '__proto__']);
  });

  it.each<[readonly string[] | undefined, boolean, object]>([
    [undefined, true, active],
    [undefined, false, {}],
    [['a'], true, {}],
    [['isDeleted'], true, { isDeleted: false }],
    [['deletedAt'], true, { deletedAt: null }],
  ])('shows the defaults of missing system fields for fields %j with meta %s', (fields, meta, shown) => {
    expect(presentProjected({ _id }, { fields, meta })).toEqual({ _id, ...shown });
  });
});
