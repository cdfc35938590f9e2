import { ObjectId } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { presentProjected, toProjection } from '../../../../shared/documents/query/projection.ts';

const _id = new ObjectId();
const active = { isDeleted: false, deletedAt: null };

describe('a projection', () => {
  it.each<[readonly string[] | undefined, boolean | 'rev', unknown]>([
    [undefined, true, {}],
    [undefined, 'rev', {}],
    [
      undefined,
      false,
      { isDeleted: 0, deletedAt: 0, createdAt: 0, updatedAt: 0, _rev: 0, _pos: 0, _gone: 0, _fuse: 0, _effects: 0 },
    ],
    [['a', '_rev', '_pos.x', '_gone', '_fuse'], true, { _id: 1, a: 1 }],
    [['a', '_pos'], 'rev', { _id: 1, a: 1, _rev: 1 }],
    [['_rev'], false, { _id: 1 }],
    [['a', 'b.c'], true, { _id: 1, a: 1, 'b.c': 1 }],
    [['a', 'createdAt', 'deletedAt.x'], false, { _id: 1, a: 1 }],
  ])('of fields %j with meta %s', (fields, meta, expected) => {
    expect(toProjection({ fields, meta })).toEqual(expected);
  });

  it('treats __proto__ as an ordinary field', () => {
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

  it.each<[unknown, number]>([
    [3, 3],
    [undefined, 0],
    ['3', 0],
    [1.5, 0],
    [-1, 0],
    [null, 0],
  ])('shows the revision %j as %d when it is requested, and never otherwise', (_rev, shown) => {
    const stored = { _id, _rev, _pos: 1, _gone: true, _fuse: [1] };
    expect(presentProjected(stored, { fields: ['a'], meta: 'rev' })).toEqual({ _id, _rev: shown });
    expect(presentProjected(stored, { fields: undefined, meta: 'rev' })).toEqual({ _id, ...active, _rev: shown });
    expect(presentProjected(stored, { fields: undefined, meta: true })).toEqual({ _id, ...active });
  });
});
