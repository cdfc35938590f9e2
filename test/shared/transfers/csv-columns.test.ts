import { describe, expect, test } from 'vitest';
import type { Collection } from '../../../shared/collections/collection.ts';
import { bodyOf, columnsOf } from '../../../shared/transfers/csv-format.ts';

const field = (key: string, type: string, more: object = {}) => ({
  key,
  type,
  required: false,
  unique: false,
  ...more,
});

const typed = {
  name: 'posts',
  schema: [
    field('text', 'String'),
    field('number', 'Number'),
    field('flag', 'Boolean'),
    field('date', 'Date'),
    field('object', 'Object', { fields: [field('inner', 'Number')] }),
    field('list', 'Array'),
  ],
  rls: { enabled: false, mode: 'public-read', ownerField: 'userId', trash: 'everyone', requires: 'none' },
} as unknown as Collection;

const free: Collection = { ...typed, schema: null };

const read = (collection: Collection, name: string, cell: string): unknown =>
  bodyOf(columnsOf(collection, [name]), [cell]);

describe('a cell', () => {
  test.each([
    ['text', '007', { text: '007' }],
    ['text', 'true', { text: 'true' }],
    ['text', ' ', { text: ' ' }],
    ['text', '', {}],
    ['number', '7', { number: 7 }],
    ['number', '-1.5e3', { number: -1500 }],
    ['number', ' 7 ', { number: 7 }],
    ['number', '+7', { number: 7 }],
    ['number', '0x10', { number: '0x10' }],
    ['number', '9007199254740991', { number: 9007199254740991 }],
    ['number', 'seven', { number: 'seven' }],
    ['number', 'Infinity', { number: 'Infinity' }],
    ['number', ' ', { number: ' ' }],
    ['flag', 'TRUE', { flag: true }],
    ['flag', 'false', { flag: false }],
    ['flag', '1', { flag: '1' }],
    ['date', '2026-01-02', { date: '2026-01-02' }],
    ['list', '[1,"a"]', { list: [1, 'a'] }],
    ['list', 'a;b', { list: 'a;b' }],
    ['object', '{"inner":1}', { object: { inner: 1 } }],
    ['object.inner', '1', { object: { inner: 1 } }],
    ['unknown', '1', { unknown: '1' }],
    ['constructor.prototype', 'x', { constructor: { prototype: 'x' } }],
  ])('of %s: %j becomes %j', (name, cell, body) => {
    expect(read(typed, name, cell)).toEqual(body);
  });

  test('is text when there is no schema', () => {
    expect(bodyOf(columnsOf(free, ['a', 'b.c', 'b.d']), ['1', 'true', '[]'])).toEqual({
      a: '1',
      b: { c: 'true', d: '[]' },
    });
  });
});

test.each(['9007199254740993', ' -9007199254740992 ', '+9007199254740993'])(
  'the number %j is rejected because storing would change it',
  (cell) => {
    expect(() => read(typed, 'object.inner', cell)).toThrow('object.inner: integers beyond ±(2^53−1) would change');
  },
);

test('a column can have 64 levels, including its cell', () => {
  const deep = Array(64).fill('a').join('.');
  const body = JSON.stringify(bodyOf(columnsOf(free, [deep]), ['x']));
  expect(body).toBe(`${'{"a":'.repeat(64)}"x"${'}'.repeat(64)}`);
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  expect(read(typed, 'list', nested(63))).toHaveProperty('list');
  expect(() => read(typed, 'list', nested(64))).toThrow('more than 64 levels');
});

describe('UnreadableFile for columns', () => {
  test.each([
    ['with an empty part', ['a..b']],
    ['that come twice', ['a', 'a']],
    ['inside another', ['a', 'a.b']],
    ['inside another that comes later', ['a.b.c', 'a']],
    ['named __proto__', ['__proto__']],
    ['with __proto__ in them', ['a.__proto__.b']],
    ['of more than 64 levels', [Array(65).fill('a').join('.')]],
    ['of more than 1000 characters', ['a'.repeat(1001)]],
    [
      'of a mebibyte of dots and letters',
      [
        Array(2 ** 19)
          .fill('a')
          .join('.'),
      ],
    ],
    ['by the thousand', Array.from({ length: 1001 }, (_, n) => `c${n}`)],
  ])('%s', (_what, names) => {
    expect(() => columnsOf(free, names)).toThrow(expect.objectContaining({ name: 'UnreadableFile' }));
  });
});
