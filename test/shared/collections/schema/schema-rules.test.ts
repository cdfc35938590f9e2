import { describe, expect, test } from 'vitest';
import { parseSchema } from '../../../../shared/collections/schema/schema.ts';
import { AppError } from '../../../../shared/core/errors.ts';

const refusalOf = (act: () => unknown): AppError => {
  try {
    act();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
};

const levels = (count: number): unknown =>
  count === 1 ? { key: 'leaf', type: 'String' } : { key: 'o', type: 'Object', fields: [levels(count - 1)] };

const itemLevels = (count: number): unknown =>
  count === 1 ? { type: 'String' } : { type: 'Array', items: itemLevels(count - 1) };

const many = (count: number, rest: object = { type: 'String' }): unknown[] =>
  Array.from({ length: count }, (_, index) => ({ key: `f${index}`, ...rest }));

describe('a schema that is accepted', () => {
  test.each<[string, unknown, unknown]>([
    ['null: any JSON object', null, null],
    [
      'a field with its type alone: required and unique are filled in',
      [{ key: 'a', type: 'String' }],
      [{ key: 'a', type: 'String', required: false, unique: false }],
    ],
    [
      'nulls for what is left out',
      [{ key: 'a', type: 'Number', required: null, unique: null, default: null, ref: null, items: null, fields: null }],
      [{ key: 'a', type: 'Number', required: false, unique: false }],
    ],
    [
      'a default of the field’s type, falsy ones too',
      [
        { key: 's', type: 'String', default: '' },
        { key: 'n', type: 'Number', default: 0 },
        { key: 'b', type: 'Boolean', default: false },
      ],
      [
        { key: 's', type: 'String', required: false, unique: false, default: '' },
        { key: 'n', type: 'Number', required: false, unique: false, default: 0 },
        { key: 'b', type: 'Boolean', required: false, unique: false, default: false },
      ],
    ],
    [
      'required with a default: the default is dropped',
      [{ key: 'a', type: 'String', required: true, default: 'x' }],
      [{ key: 'a', type: 'String', required: true, unique: false }],
    ],
    [
      'a Ref to users',
      [{ key: 'a', type: 'Ref', ref: 'users' }],
      [{ key: 'a', type: 'Ref', ref: 'users', required: false, unique: false }],
    ],
    [
      'sub-fields, required ones too, and system names below the top level',
      [{ key: 'o', type: 'Object', fields: [{ key: 'createdAt', type: 'Date', required: true }] }],
      [
        {
          key: 'o',
          type: 'Object',
          required: false,
          unique: false,
          fields: [{ key: 'createdAt', type: 'Date', required: true, unique: false }],
        },
      ],
    ],
    [
      'typed elements, nested ones too',
      [{ key: 't', type: 'Array', items: { type: 'Array', items: { type: 'Ref', ref: 'posts' } } }],
      [
        {
          key: 't',
          type: 'Array',
          required: false,
          unique: false,
          items: { type: 'Array', items: { type: 'Ref', ref: 'posts' } },
        },
      ],
    ],
    [
      'an empty list of sub-fields: none',
      [{ key: 'o', type: 'Object', fields: [] }],
      [{ key: 'o', type: 'Object', required: false, unique: false }],
    ],
  ])('%s', (_what, given, stored) => {
    expect(parseSchema(given)).toEqual(stored);
    expect(parseSchema(parseSchema(given))).toEqual(stored);
  });

  test.each(['String', 'Number', 'Boolean', 'Date'])('a unique %s', (type) => {
    expect(parseSchema([{ key: 'a', type, unique: true }])).toMatchObject([{ unique: true }]);
  });

  test('100 fields, and 8 levels of fields or elements', () => {
    expect(parseSchema(many(100))).toHaveLength(100);
    expect(parseSchema([levels(8)])).toHaveLength(1);
    expect(parseSchema([{ key: 't', type: 'Array', items: itemLevels(7) }])).toHaveLength(1);
  });

  test('20 unique fields, for which a collection has room', () => {
    expect(parseSchema(many(20, { type: 'String', unique: true }))).toHaveLength(20);
  });
});

describe('400 INVALID_SCHEMA', () => {
  test.each<[string, unknown, string]>([
    ['an empty list', [], 'At least one field is required'],
    ['undefined', undefined, 'schema must be a list of fields, or null for any JSON object'],
    ['an object', { key: 'a' }, 'schema must be a list of fields, or null for any JSON object'],
    ['a string', 'String', 'schema must be a list of fields, or null for any JSON object'],
  ])('for %s', (_what, schema, message) => {
    expect(refusalOf(() => parseSchema(schema))).toMatchObject({
      code: 'INVALID_SCHEMA',
      message,
      errors: [{ field: 'schema', message }],
    });
  });

  test.each<[string, unknown, string, string]>([
    ['a field that is null', null, 'schema.0', 'must be an object'],
    ['a field that is a list', [], 'schema.0', 'must be an object'],
    ['a field without key', { type: 'String' }, 'schema.0', 'needs a key'],
    ['a key that is no string', { key: 5, type: 'String' }, 'schema.0', 'needs a key that is a string'],
    ['a sub-field without key', { key: 'a', type: 'Object', fields: [{}] }, 'a.fields.0', 'needs a key'],
    ['a field without type', { key: 'a' }, 'a', 'needs a type'],
    ['an unknown type', { key: 'a', type: 'Text' }, 'a', 'needs a type, one of String'],
    ['a type in lower case', { key: 'a', type: 'string' }, 'a', 'needs a type, one of String'],
    ['a type that is an object', { key: 'a', type: { $ne: null } }, 'a', 'needs a type, one of String'],
    ['an unknown property', { key: 'a', type: 'String', minimum: 1 }, 'a', 'has an unknown property, minimum'],
    ['required that is no boolean', { key: 'a', type: 'String', required: 'true' }, 'a', 'as required'],
    ['unique that is no boolean', { key: 'a', type: 'String', unique: 1 }, 'a', 'as unique'],
    ['an empty key', { key: '', type: 'String' }, 'schema.0', 'has an empty name'],
    ['a key of 65 characters', { key: 'k'.repeat(65), type: 'String' }, 'k'.repeat(65), 'more than 64'],
    ['a key with a dot', { key: 'a.b', type: 'String' }, 'a.b', 'has a . in its name'],
    ['a key that begins with $', { key: '$a', type: 'String' }, '$a', 'begins with $'],
    ['a key with NUL', { key: 'a\0', type: 'String' }, 'a\0', 'NUL'],
    ['a key with a lone surrogate', { key: 'a\ud800', type: 'String' }, 'a\ud800', 'well-formed'],
    ...['__proto__', 'constructor', 'prototype', '_bsontype'].map((key): [string, unknown, string, string] => [
      `the key ${key}`,
      { key, type: 'String' },
      key,
      'has a reserved name',
    ]),
    ...['_id', 'isDeleted', 'deletedAt', 'createdAt', 'updatedAt'].map((key): [string, unknown, string, string] => [
      `the key ${key}`,
      { key, type: 'String' },
      key,
      'is written by the service',
    ]),
    ['a unique Object', { key: 'a', type: 'Object', unique: true }, 'a', 'is unique, which no Object may be'],
    ['a unique Array', { key: 'a', type: 'Array', unique: true }, 'a', 'is unique, which no Array may be'],
    [
      'a default of another type',
      { key: 'a', type: 'Number', default: '1' },
      'a',
      'has a default that is not a Number',
    ],
    ['a default that is an object', { key: 'a', type: 'String', default: {} }, 'a', 'is not a String'],
    ['a default of a Date', { key: 'a', type: 'Date', default: '2026-01-01' }, 'a', 'has a default, which only'],
    ['a default of a Ref', { key: 'a', type: 'Ref', ref: 'b', default: 'x' }, 'a', 'has a default, which only'],
    ['a default of an Array', { key: 'a', type: 'Array', default: [] }, 'a', 'has a default, which only'],
    ['a default of an Object', { key: 'a', type: 'Object', default: {} }, 'a', 'has a default, which only'],
    ['a Ref without ref', { key: 'a', type: 'Ref' }, 'a', 'needs a ref'],
    ['a ref that is no name', { key: 'a', type: 'Ref', ref: '../b' }, 'a', 'has a ref that cannot be'],
    ['a ref to a reserved name', { key: 'a', type: 'Ref', ref: 'system.users' }, 'a', 'has a ref that cannot be'],
    ['a ref to Users', { key: 'a', type: 'Ref', ref: 'Users' }, 'a', 'has a ref that cannot be'],
    ['a ref that is no string', { key: 'a', type: 'Ref', ref: 5 }, 'a', 'as ref'],
    ['ref on a String', { key: 'a', type: 'String', ref: 'b' }, 'a', 'only a Ref'],
    ['items on an Object', { key: 'a', type: 'Object', items: { type: 'String' } }, 'a', 'only an Array'],
    ['fields on an Array', { key: 'a', type: 'Array', fields: [{ key: 'b', type: 'String' }] }, 'a', 'only an Object'],
    ['fields that are no list', { key: 'a', type: 'Object', fields: {} }, 'a', 'needs a list as fields'],
    ['items that are no object', { key: 'a', type: 'Array', items: 'String' }, 'a.items', 'must be an object'],
    ['items without type', { key: 'a', type: 'Array', items: {} }, 'a.items', 'needs a type'],
    [
      'items with required',
      { key: 'a', type: 'Array', items: { type: 'String', required: true } },
      'a.items',
      'required',
    ],
    ['items with unique', { key: 'a', type: 'Array', items: { type: 'String', unique: true } }, 'a.items', 'unique'],
    ['items that are a Ref without ref', { key: 'a', type: 'Array', items: { type: 'Ref' } }, 'a.items', 'needs a ref'],
    [
      'a unique sub-field',
      { key: 'a', type: 'Object', fields: [{ key: 'b', type: 'String', unique: true }] },
      'a.b',
      'is unique, which only a field of the top level may be',
    ],
    [
      'a bad key in the fields of elements',
      { key: 'a', type: 'Array', items: { type: 'Object', fields: [{ key: '$b', type: 'String' }] } },
      'a.items.$b',
      'begins with $',
    ],
    [
      'a bad type deep inside',
      { key: 'a', type: 'Object', fields: [{ key: 'b', type: 'Object', fields: [{ key: 'c', type: 'X' }] }] },
      'a.b.c',
      'needs a type',
    ],
    [
      'a sub-field that is defined twice',
      {
        key: 'a',
        type: 'Object',
        fields: [
          { key: 'b', type: 'String' },
          { key: 'b', type: 'Number' },
        ],
      },
      'a.b',
      'is defined twice',
    ],
    ['101 sub-fields', { key: 'a', type: 'Object', fields: many(101) }, 'a', 'has more than 100 fields'],
    [
      '9 levels of elements',
      { key: 't', type: 'Array', items: itemLevels(8) },
      `t${'.items'.repeat(8)}`,
      'levels deep',
    ],
    ['9 levels of fields', levels(9), 'o.o.o.o.o.o.o.o', 'levels deep'],
  ])('for %s, naming the field', (_what, field, path, message) => {
    const refusal = refusalOf(() => parseSchema([field]));
    expect(refusal.code).toBe('INVALID_SCHEMA');
    expect(refusal.errors).toEqual([{ field: path, message: refusal.message }]);
    expect(refusal.message).toContain(message);
  });

  test('for a field that is defined twice', () => {
    const refusal = refusalOf(() =>
      parseSchema([
        { key: 'a', type: 'String' },
        { key: 'a', type: 'String' },
      ]),
    );
    expect(refusal).toMatchObject({ code: 'INVALID_SCHEMA', message: 'a is defined twice' });
  });

  test('for 101 fields', () => {
    expect(refusalOf(() => parseSchema(many(101)))).toMatchObject({
      code: 'INVALID_SCHEMA',
      message: 'schema has more than 100 fields',
    });
  });

  test('for more than 2000 fields in all, of objects and elements too', () => {
    const lists = (sub: number) => [
      ...many(10, { type: 'Object', fields: many(100) }),
      ...many(10, { type: 'Array', items: { type: 'Object', fields: many(97) } }).map((field, index) => ({
        ...(field as object),
        key: `list${index}`,
      })),
      { key: 'last', type: 'Object', fields: many(sub) },
    ];
    expect(parseSchema(lists(9))).toHaveLength(21);
    expect(refusalOf(() => parseSchema(lists(10)))).toMatchObject({
      code: 'INVALID_SCHEMA',
      message: 'schema has more than 2000 fields in all',
    });
  });

  test('for more unique and Ref fields than MongoDB has indexes for', () => {
    const schema = [...many(20, { type: 'String', unique: true }), { key: 'one', type: 'Ref', ref: 'more' }];
    expect(refusalOf(() => parseSchema(schema))).toMatchObject({ code: 'INVALID_SCHEMA' });
  });
});
