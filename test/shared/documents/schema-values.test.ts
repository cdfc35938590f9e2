import { ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { fieldsOf } from '../../../shared/collections/schema/field-path.ts';
import { type FieldError, validationFailed } from '../../../shared/core/errors.ts';
import type { JsonObject } from '../../../shared/documents/document.ts';
import { convertFields } from '../../../shared/documents/values.ts';
import { everything } from './collections.ts';

const dateForm = ' in ISO 8601, such as 2026-01-31 or 2026-01-31T09:30:00Z';
const refForm = ', the _id of a document: 24 hexadecimal characters';

const convert = (object: JsonObject) => {
  const errors: FieldError[] = [];
  const values = convertFields(fieldsOf(everything), object, '', errors);
  return { values, errors };
};

const id = '65f0c0ffee65f0c0ffee0001';

describe('a value that matches its type', () => {
  test.each<[string, JsonObject, JsonObject]>([
    ['String', { title: '' }, { title: '' }],
    ['Number', { views: 1.5 }, { views: 1.5 }],
    ['Boolean', { live: false }, { live: false }],
    ['Date from text', { at: '2026-02-03' }, { at: new Date('2026-02-03T00:00:00Z') }],
    ['Date from milliseconds', { at: 5 }, { at: new Date(5) }],
    ['Ref', { author: id }, { author: new ObjectId(id) }],
    ['Ref in capitals', { author: id.toUpperCase() }, { author: new ObjectId(id) }],
    ['Array of scalars', { tags: [] }, { tags: [] }],
    ['Array without items', { anything: [1, null, 'x', {}] }, { anything: [1, null, 'x', {}] }],
    ['Array of arrays', { grid: [[1], []] }, { grid: [[1], []] }],
    [
      'Array of objects, each with its default and undeclared fields',
      { comments: [{ text: 'a', by: id, extra: 1 }] },
      { comments: [{ text: 'a', by: new ObjectId(id), extra: 1, likes: 0 }] },
    ],
    [
      'Object with sub-fields',
      { meta: { score: 1, author: { name: 'x', born: '2000-01-01' } } },
      { meta: { score: 1, author: { name: 'x', born: new Date('2000-01-01T00:00:00Z') } } },
    ],
    ['null in an optional field', { at: null, meta: null, tags: null }, { at: null, meta: null, tags: null }],
    ['null for a field with a default', { views: null }, { views: null }],
    ['an unknown field', { other: { a: [1] } }, { other: { a: [1] } }],
    ['a name that every object has', { constructor: 1, toString: 'x' }, { constructor: 1, toString: 'x' }],
  ])('is stored: %s', (_name, object, stored) => {
    const { values, errors } = convert({ title: 't', ...object });
    expect(errors).toEqual([]);
    expect(values).toEqual({ title: 't', ...('views' in object ? {} : { views: 0 }), ...stored });
  });
});

describe('VALIDATION_FAILED', () => {
  test.each<[string, JsonObject]>([
    ['title is required', { title: null }],
    ['title must be a String', { title: 1 }],
    ['title must be a String', { title: { $ne: null } }],
    ['views must be a Number', { views: '1' }],
    ['live must be a Boolean', { live: 'true' }],
    ['live must be a Boolean', { live: 1 }],
    [`at must be a Date${dateForm}`, { at: '2026-02-30' }],
    [`at must be a Date${dateForm}`, { at: 1.5 }],
    [`author must be a Ref${refForm}`, { author: '123' }],
    [`author must be a Ref${refForm}`, { author: { $oid: id } }],
    [`author must be a Ref${refForm}`, { author: 'zzzzzzzzzzzz' }],
    ['tags must be an Array', { tags: { 0: 'a' } }],
    ['tags.1 must be a String', { tags: ['a', 2] }],
    ['tags.0 must be a String', { tags: [null] }],
    ['grid.0.1 must be a Number', { grid: [[1, '2']] }],
    ['meta must be an Object', { meta: [] }],
    ['meta must be an Object', { meta: 'x' }],
    ['meta.score must be a Number', { meta: { score: 'x' } }],
    ['meta.author.name is required', { meta: { author: {} } }],
    ['meta.author.name is required', { meta: { author: { name: null } } }],
    [`meta.author.born must be a Date${dateForm}`, { meta: { author: { name: 'x', born: 'x' } } }],
    ['comments.1.text is required', { comments: [{ text: 'a' }, {}] }],
    ['comments.0 must be an Object', { comments: [[]] }],
  ])('%s: %j', (message, object) => {
    const { errors } = convert({ title: 't', ...object });
    expect(errors).toEqual([{ field: message.split(' ')[0], message }]);
    expect(validationFailed(...errors)).toMatchObject({
      code: 'VALIDATION_FAILED',
      message: `Validation failed: ${message}`,
    });
  });

  test('contains all failures in the order of the schema, with the first one in the message', () => {
    const { errors } = convert({ meta: { score: 'x' }, live: 1 });
    expect(errors.map(({ message }) => message)).toEqual([
      'title is required',
      'live must be a Boolean',
      'meta.score must be a Number',
    ]);
    expect(validationFailed(...errors).message).toBe('Validation failed: title is required');
  });

  test('contains at most 100 failures', () => {
    const { errors } = convert({ title: 't', tags: Array(500).fill(1) });
    expect(errors).toHaveLength(100);
  });
});

test('converting does not change the sent object or any prototype', () => {
  const sent = JSON.parse('{"title":"t","at":"2026-02-03","__proto__":{"live":true}}') as JsonObject;
  const { values, errors } = convert(sent);
  expect(errors).toEqual([]);
  expect(sent.at).toBe('2026-02-03');
  expect(Object.hasOwn(values, '__proto__')).toBe(true);
  expect(Object.getPrototypeOf(values)).toBe(Object.prototype);
});
