import { ObjectId } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { type Collection, type Field, noRowSecurity } from '../../../../shared/collections/collection.ts';
import { mapRefs, refPaths } from '../../../../shared/documents/query/populate.ts';

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
    field('author', 'Ref', { ref: 'people' }),
    field('tags', 'Array', { items: { type: 'Ref', ref: 'tags' } }),
    field('grid', 'Array', { items: { type: 'Array', items: { type: 'Ref', ref: 'cells' } } }),
    field('lines', 'Array', { items: { type: 'Object', fields: [field('item', 'Ref', { ref: 'items' })] } }),
    field('meta', 'Object', { fields: [field('editor', 'Ref', { ref: 'people' })] }),
  ],
  rls: noRowSecurity,
};

describe('a field to populate', () => {
  it.each([
    ['author', 'people'],
    ['tags', 'tags'],
    ['tags.0', 'tags'],
    ['grid', 'cells'],
    ['lines.item', 'items'],
    ['lines.0.item', 'items'],
    ['meta.editor', 'people'],
  ])('%s points into %s', (path, target) => {
    expect(refPaths(posts, [path])).toEqual([{ segments: path.split('.'), target }]);
  });

  it.each(['title', 'meta', 'lines', '_id', 'nothing', 'author.name', '__proto__', 'constructor'])(
    '400 INVALID_QUERY for %s',
    (path) => {
      expect(() => refPaths(posts, [path])).toThrow(expect.objectContaining({ code: 'INVALID_QUERY' }));
    },
  );
});

describe('references', () => {
  const id = new ObjectId();
  it.each<[string, unknown, unknown]>([
    ['a', { a: id, b: id }, { a: 'X', b: id }],
    ['a', { a: [id, null, 'text', [id]] }, { a: ['X', null, 'text', ['X']] }],
    ['a.b', { a: { b: id } }, { a: { b: 'X' } }],
    ['a.b', { a: [{ b: id, c: 1 }, { c: 2 }, 5] }, { a: [{ b: 'X', c: 1 }, { c: 2 }, 5] }],
    ['a.1', { a: [id, id] }, { a: [id, 'X'] }],
    ['a', { b: 1 }, { b: 1 }],
    ['a.b', { a: id }, { a: id }],
    ['toString.name', {}, {}],
  ])('at %s of a document are replaced', (path, value, expected) => {
    expect(mapRefs(value, path.split('.'), () => 'X')).toEqual(expected);
  });
});
