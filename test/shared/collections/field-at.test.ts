import { describe, expect, test } from 'vitest';
import { fieldAt, typeAt } from '../../../shared/collections/schema/field-path.ts';
import { everything, owned, ownedPrivately, schemaFree } from '../documents/collections.ts';

describe('the type at a path', () => {
  test.each([
    ['title', 'String'],
    ['meta', 'Object'],
    ['meta.author.born', 'Date'],
    ['tags', 'Array'],
    ['tags.0', 'String'],
    ['tags.17', 'String'],
    ['grid.1', 'Array'],
    ['grid.1.2', 'Number'],
    ['comments.0', 'Object'],
    ['comments.0.text', 'String'],
    ['comments.text', 'String'],
    ['comments.by', 'Ref'],
    ['_id', 'Ref'],
    ['isDeleted', 'Boolean'],
    ['deletedAt', 'Date'],
    ['createdAt', 'Date'],
    ['updatedAt', 'Date'],
  ])('%s is %s', (path, type) => expect(typeAt(everything, path)?.type).toBe(type));

  test.each([
    ['', 'nothing'],
    ['other', 'an unknown field'],
    ['other.title', 'something below an unknown field'],
    ['title.x', 'something below a scalar'],
    ['_id.x', 'something below the id'],
    ['tags.x', 'a name in an array of scalars'],
    ['tags.01', 'a position with a leading zero'],
    ['tags.-1', 'a negative position'],
    ['anything.0', 'an element of an array without items'],
    ['grid.text', 'a name in an array of arrays'],
    ['comments.other', 'an unknown sub-field'],
    ['__proto__', 'a name that every object has'],
    ['constructor.name', 'a path that every object has'],
    ['meta.constructor', 'a name that every sub-object has'],
  ])('"%s", %s, has none', (path) => expect(typeAt(everything, path)).toBeUndefined());

  test('is known without a schema for system fields only', () => {
    expect(fieldAt(null, 'createdAt')).toEqual({ type: 'Date' });
    expect(fieldAt(null, 'title')).toBeUndefined();
  });

  test('is String for the owner field under row security, with a schema and without', () => {
    expect(typeAt(owned, 'userId')?.type).toBe('String');
    expect(typeAt(ownedPrivately, 'userId')?.type).toBe('String');
    expect(typeAt(schemaFree, 'userId')).toBeUndefined();
  });

  test('names the target of a Ref', () => expect(typeAt(everything, 'comments.0.by')?.ref).toBe('people'));
});
