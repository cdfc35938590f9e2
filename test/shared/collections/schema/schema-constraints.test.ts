import { describe, expect, test } from 'vitest';
import { newConstraints } from '../../../../shared/collections/schema/new-constraints.ts';
import { parseSchema } from '../../../../shared/collections/schema/schema.ts';
import { newlyUnique } from '../../../../shared/collections/schema/schema-changes.ts';

const asked = (now: unknown, before: unknown): string[] =>
  newConstraints(parseSchema(now), parseSchema(before)).map(({ path, message }) => `${path} ${message}`);

const a = (rest: object = {}) => [{ key: 'a', type: 'String', ...rest }];
const object = (...fields: unknown[]) => [{ key: 'o', type: 'Object', fields }];
const array = (items?: object) => [{ key: 't', type: 'Array', items }];

describe('the condition for documents that break a new schema', () => {
  test.each<[string, unknown, unknown, string[]]>([
    ['nothing where it stays the same', a(), a(), []],
    ['nothing where there is none any more', null, a({ required: true }), []],
    ['nothing where a field became optional', a(), a({ required: true }), []],
    ['nothing where a field was taken out', a(), [...a(), { key: 'b', type: 'Number' }], []],
    ['nothing for a default', a({ default: 'x' }), a(), []],
    ['a type that is new', a(), null, ['a must be a String']],
    ['a type that changed', a({ type: 'Object' }), a(), ['a must be an Object']],
    ['a field that became required', a({ required: true }), a(), ['a is required']],
    ['both', a({ required: true }), a({ type: 'Number' }), ['a is required and must be a String']],
    [
      'a sub-field that is new',
      object({ key: 'b', type: 'Date' }),
      [{ key: 'o', type: 'Object' }],
      ['o.b must be a Date'],
    ],
    [
      'a sub-field that changed',
      object({ key: 'b', type: 'Date' }, { key: 'c', type: 'String' }),
      object({ key: 'b', type: 'Number' }, { key: 'c', type: 'String' }),
      ['o.b must be a Date'],
    ],
    ['elements that are new', array({ type: 'Number' }), array(), ['t may only have elements of type Number']],
    [
      'elements that changed',
      array({ type: 'Number' }),
      array({ type: 'Date' }),
      ['t may only have elements of type Number'],
    ],
    ['nothing where elements were set free', array(), array({ type: 'Number' }), []],
    [
      'fields of elements',
      array({ type: 'Object', fields: [{ key: 'x', type: 'Ref', ref: 'b', required: true }] }),
      array({ type: 'Object', fields: [{ key: 'x', type: 'Ref', ref: 'b' }] }),
      ['t.x is required'],
    ],
    [
      'bounds that are new',
      a({ minLength: 2, pattern: 'x' }),
      a(),
      ['a must have at least 2 characters', 'a must match the pattern x'],
    ],
    ['a bound that is narrower', a({ maxLength: 2 }), a({ maxLength: 3 }), ['a must have at most 2 characters']],
    ['nothing for bounds that are wider', a({ minLength: 1, enum: ['x', 'y'] }), a({ minLength: 2, enum: ['y'] }), []],
    ['nothing for bounds that went', a(), a({ minLength: 2, enum: ['y'] }), []],
    [
      'elements of elements',
      array({ type: 'Array', items: { type: 'Boolean' } }),
      array({ type: 'Array', items: { type: 'String' } }),
      ['t may only have elements of type Boolean'],
    ],
  ])('is %s', (_what, now, before, expected) => {
    expect(asked(now, before)).toEqual(expected);
  });

  test('matches nested fields, and accepts null only for optional fields', () => {
    const now = parseSchema(array({ type: 'Object', fields: [{ key: 'x', type: 'Date', required: true }] }));
    const before = parseSchema(array({ type: 'Object' }));
    expect(newConstraints(now, before).map(({ schema }) => schema)).toEqual([
      { properties: { t: { items: { properties: { x: { bsonType: ['date'] } }, required: ['x'] } } } },
    ]);
    expect(newConstraints(parseSchema(a()), null).map(({ schema }) => schema)).toEqual([
      { properties: { a: { bsonType: ['string', 'null'] } } },
    ]);
  });
});

describe('the fields that become unique', () => {
  test.each<[string, unknown, unknown, string[]]>([
    ['a field that was not', a({ unique: true }), a(), ['a']],
    ['a field of a schema-free collection', a({ unique: true }), null, ['a']],
    ['a field of another type', a({ unique: true }), a({ unique: true, type: 'Number' }), ['a']],
    ['none that was', a({ unique: true }), a({ unique: true }), []],
    ['none that is set free', a(), a({ unique: true }), []],
  ])('is %s', (_what, now, before, keys) => {
    expect(newlyUnique(parseSchema(now), parseSchema(before)).map(({ key }) => key)).toEqual(keys);
  });
});
