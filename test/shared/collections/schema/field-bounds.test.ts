import { describe, expect, it } from 'vitest';
import { parseCollection } from '../../../../shared/collections/create-collection.ts';
import { parseSchema } from '../../../../shared/collections/schema/schema.ts';
import { AppError, type FieldError } from '../../../../shared/core/errors.ts';
import { convertFields } from '../../../../shared/documents/values.ts';

const refusalOf = (act: () => unknown): AppError => {
  try {
    act();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
};

const parsed = (...fields: object[]) => parseSchema(fields);

const messagesOf = (field: object, value: unknown): readonly string[] => {
  const errors: FieldError[] = [];
  convertFields(parsed({ key: 'a', ...field }) ?? [], { a: value }, '', errors);
  return errors.map(({ message }) => message);
};

describe('400 INVALID_SCHEMA for an option of a field', () => {
  it.each<[string, object, string]>([
    ['that its type does not take', { type: 'Number', minLength: 1 }, 'a has minLength, which only a String may have'],
    ['enum of a Boolean', { type: 'Boolean', enum: [true] }, 'a has enum, which only a String or a Number may have'],
    ['min of a Date', { type: 'Date', min: 1 }, 'a has min, which only a Number may have'],
    ['maxItems of an Object', { type: 'Object', maxItems: 1 }, 'a has maxItems, which only an Array may have'],
    ['of a wrong type', { type: 'String', minLength: '1' }, 'a needs a whole number of at least 0 as minLength'],
    ['a negative length', { type: 'String', maxLength: -1 }, 'a needs a whole number of at least 0 as maxLength'],
    ['half an element', { type: 'Array', minItems: 0.5 }, 'a needs a whole number of at least 0 as minItems'],
    ['a text as min', { type: 'Number', min: '0' }, 'a needs a number as min'],
    ['a text as integer', { type: 'Number', integer: 'yes' }, 'a must have true or false as integer'],
    ['a number as uniqueItems', { type: 'Array', uniqueItems: 1 }, 'a must have true or false as uniqueItems'],
    ['an unknown format', { type: 'String', format: 'phone' }, 'a must have one of email, url as format'],
    ['a pattern that is no text', { type: 'String', pattern: 1 }, 'a needs a text as pattern'],
    ['an invalid pattern', { type: 'String', pattern: '(' }, 'a has a pattern that is not a valid regular expression'],
    ['an empty pattern', { type: 'String', pattern: '' }, 'a needs 1 to 128 characters as pattern'],
    [
      'a pattern of 129 characters',
      { type: 'String', pattern: 'a'.repeat(129) },
      'a needs 1 to 128 characters as pattern',
    ],
    ['a pattern with a NUL', { type: 'String', pattern: 'a\0' }, 'a has a pattern with a NUL character'],
    [
      'minLength above maxLength',
      { type: 'String', minLength: 3, maxLength: 2 },
      'a has a minLength above its maxLength',
    ],
    ['min above max', { type: 'Number', min: -1, max: -2 }, 'a has a min above its max'],
    [
      'no whole number between min and max',
      { type: 'Number', integer: true, min: 5.2, max: 5.8 },
      'a has no whole number between its min and its max',
    ],
    ['minItems above maxItems', { type: 'Array', minItems: 2, maxItems: 1 }, 'a has a minItems above its maxItems'],
    ['an enum that is no list', { type: 'String', enum: 'x' }, 'a needs a list as enum'],
    ['an empty enum', { type: 'String', enum: [] }, 'a needs 1 to 100 values as enum'],
    [
      '101 values',
      { type: 'Number', enum: Array.from({ length: 101 }, (_, n) => n) },
      'a needs 1 to 100 values as enum',
    ],
    ['an enum of another type', { type: 'Number', enum: [1, '2'] }, 'a has an enum with a value that is not a Number'],
    ['null in an enum', { type: 'String', enum: ['a', null] }, 'a has an enum with a value that is not a String'],
    ['a value twice', { type: 'String', enum: ['a', 'a'] }, 'a has the same value in enum twice'],
    [
      'a default below min',
      { type: 'Number', min: 1, default: 0 },
      'a has a default outside its bounds: it must be at least 1',
    ],
    [
      'a default that enum lacks',
      { type: 'String', enum: ['x'], default: 'y' },
      'a has a default outside its bounds: it must be one of "x"',
    ],
  ])('%s', (_what, field, message) => {
    const error = refusalOf(() => parsed({ key: 'a', ...field }));
    expect([error.code, error.message]).toEqual(['INVALID_SCHEMA', message]);
    expect(error.errors?.[0]?.field).toBe('a');
  });

  it('in an element, named by its path', () => {
    const error = refusalOf(() => parsed({ key: 'a', type: 'Array', items: { type: 'String', min: 1 } }));
    expect(error.message).toBe('a.items has min, which only a Number may have');
  });

  it('in a field of an object, named by its path', () => {
    const field = { key: 'size', type: 'Number', min: 2, max: 1 };
    expect(refusalOf(() => parsed({ key: 'a', type: 'Object', fields: [field] })).message).toBe(
      'a.size has a min above its max',
    );
  });

  it('more than 100 patterns in a schema, those of elements and inner fields included', () => {
    const fields = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ key: `f${index}`, type: 'String', pattern: 'a' }));
    const schema = (count: number) => [
      { key: 'o', type: 'Object', fields: fields(count) },
      { key: 'l', type: 'Array', items: { type: 'String', pattern: 'a' } },
    ];
    expect(parseSchema(schema(99))).toHaveLength(2);
    expect(refusalOf(() => parseSchema(schema(100))).message).toBe('schema has more than 100 patterns');
  });

  it('closed without a schema', () => {
    const error = refusalOf(() => parseCollection('posts', { schema: null, closed: true }));
    expect([error.code, error.message]).toEqual([
      'INVALID_SCHEMA',
      'closed needs a schema: define the fields, or send "closed": false',
    ]);
  });
});

describe('options of a field', () => {
  it('are kept as they were sent, without those that are null or false', () => {
    const text = { key: 'a', type: 'String', enum: ['x', 'yy'], minLength: 0, maxLength: 9, pattern: '^[xy]+$' };
    const number = { key: 'b', type: 'Number', min: -1.5, max: 1e300, integer: true };
    const list = { key: 'c', type: 'Array', items: { type: 'String', format: 'url' }, minItems: 1, uniqueItems: true };
    const more = { required: false, unique: false };
    const schema = parsed(
      { ...text, format: null, min: null },
      number,
      { ...list, maxItems: null },
      { key: 'd', type: 'Number', integer: false, min: null },
    );
    expect(schema).toEqual([
      { ...text, ...more },
      { ...number, ...more },
      { ...list, ...more },
      { key: 'd', type: 'Number', ...more },
    ]);
  });

  it('closed is kept with a schema', () => {
    const schema = [{ key: 'a', type: 'String' }];
    expect(parseCollection('posts', { schema, closed: true }).closed).toBe(true);
    expect(parseCollection('posts', { schema, closed: false })).not.toHaveProperty('closed');
  });
});

describe('400 VALIDATION_FAILED for a value', () => {
  it.each<[string, object, unknown, string]>([
    ['below min', { type: 'Number', min: 0 }, -1, 'a must be at least 0'],
    ['above max', { type: 'Number', max: 5 }, 5.5, 'a must be at most 5'],
    ['with a fraction', { type: 'Number', integer: true }, 0.5, 'a must be a whole number'],
    ['too short', { type: 'String', minLength: 2 }, '😀', 'a must have at least 2 characters'],
    ['too long', { type: 'String', maxLength: 1 }, 'ab', 'a must have at most 1 character'],
    ['that no enum has', { type: 'String', enum: ['draft', 'public'] }, 'Draft', 'a must be one of "draft", "public"'],
    ['that no enum of numbers has', { type: 'Number', enum: [1, 2] }, 3, 'a must be one of 1, 2'],
    ['that does not match', { type: 'String', pattern: '^[a-z]+$' }, 'aB', 'a must match the pattern ^[a-z]+$'],
    ['that is no address', { type: 'String', format: 'email' }, 'a@b', 'a must be an email address'],
    [
      'that is no URL',
      { type: 'String', format: 'url' },
      'javascript:alert(1)',
      'a must be an absolute URL that begins with http:// or https://',
    ],
    ['with few elements', { type: 'Array', minItems: 1 }, [], 'a must have at least 1 element'],
    ['with many elements', { type: 'Array', maxItems: 1 }, [1, 2], 'a must have at most 1 element'],
    [
      'with an element twice',
      { type: 'Array', uniqueItems: true },
      [1, 2, 1],
      'a must not have the same element twice',
    ],
    [
      'whose element is out of bounds, by its position',
      { type: 'Array', items: { type: 'Number', max: 1 } },
      [0, 2],
      'a.1 must be at most 1',
    ],
    [
      'whose inner field is out of bounds, by its path',
      { type: 'Array', items: { type: 'Object', fields: [{ key: 'n', type: 'Number', min: 0 }] } },
      [{ n: 0 }, { n: -1 }],
      'a.1.n must be at least 0',
    ],
  ])('%s', (_what, field, value, message) => {
    expect(messagesOf(field, value)).toEqual([message]);
  });

  it('of an array with the same object twice, with names in another order', () => {
    const field = { type: 'Array', uniqueItems: true };
    expect(
      messagesOf(field, [
        { x: 1, y: [2] },
        { y: [2], x: 1 },
      ]),
    ).toHaveLength(1);
    expect(messagesOf(field, [{ x: 1 }, { x: '1' }, 1, '1', null, true, [1], ['1']])).toEqual([]);
  });
});

describe('a value within its bounds', () => {
  it.each<[string, object, unknown]>([
    ['min and max are inclusive', { type: 'Number', min: 1, max: 1 }, 1],
    ['lengths count code points', { type: 'String', minLength: 3, maxLength: 3 }, '😀é😀'],
    ['a combining mark counts', { type: 'String', minLength: 2 }, 'e\u0301'],
    ['a pattern is not anchored', { type: 'String', pattern: 'b' }, 'abc'],
    ['1e21 is whole', { type: 'Number', integer: true }, 1e21],
    ['null passes for an optional field', { type: 'String', enum: ['a'], minLength: 1, pattern: 'a' }, null],
    ['an address', { type: 'String', format: 'email' }, "o'brien+tag@mail.example.com"],
    ['http', { type: 'String', format: 'url' }, 'HTTP://localhost:3000?x=1#y'],
    ['https', { type: 'String', format: 'url' }, 'https://user:pw@example.com/a%20b/?q=%F0#f'],
    ['an IPv6 address', { type: 'String', format: 'url' }, 'http://[2001:db8::1]:8080/a'],
    ['an IPv6 address with an IPv4 part', { type: 'String', format: 'url' }, 'https://[::ffff:192.0.2.1]'],
    ['a whole number between min and max', { type: 'Number', integer: true, min: 1.5, max: 2 }, 2],
  ])('%s', (_what, field, value) => {
    expect(messagesOf(field, value)).toEqual([]);
  });

  it.each([
    'http://',
    'https:///path',
    '//example.com',
    'example.com',
    'ftp://example.com',
    'http://a b',
    'https://x/\n',
    'http://x:port',
    'http://[]',
    'http://[x]',
    'http://[::1',
    'http://[127.0.0.1]',
  ])('a URL is not %s', (value) => {
    expect(messagesOf({ type: 'String', format: 'url' }, value)).toHaveLength(1);
  });
});
