import { Binary, BSON, Code, Decimal128, Long, MaxKey, ObjectId } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { decodeCursor, encodeCursor } from '../../../../shared/documents/query/cursor.ts';

const id = new ObjectId('64b000000000000000000001');
const craft = (record: BSON.Document): string => Buffer.from(BSON.serialize(record)).toString('base64url');
const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });

describe('a cursor', () => {
  it.each<[string, readonly unknown[]]>([
    ['an id', [id]],
    ['a number', [1.5, id]],
    ['null', [null, id]],
    ['an empty array', [undefined, id]],
    ['text', ['ä😀', id]],
    ['a date', [new Date(5), id]],
    ['booleans', [true, false, id]],
    ['an object', [{ a: { b: [1, null] } }, id]],
    ['an array', [[1, 'a'], id]],
    ['a large integer', [Long.fromString('9223372036854775807'), id]],
    ['a decimal', [Decimal128.fromString('1.5'), id]],
    ['binary data', [new Binary(Buffer.from([1])), id]],
    ['an id that is text', ['a', 'b']],
  ])('carries %s', (_name, values) => {
    const text = encodeCursor('f', values);
    expect(text).toMatch(/^[\w-]+$/);
    expect(decodeCursor('f', values.length, text)).toEqual({ values });
  });

  it.each<[string, unknown]>([
    ['text that is too long', 'x'.repeat(1600)],
    ['an object with operators', { $gt: '' }],
    ['a regular expression', /a/],
    ['the greatest key', new MaxKey()],
    ['an object nested too deep', nested(70)],
    ['an object with a field of the driver’s', { _bsontype: 'ObjectId' }],
    ['one further inside', { a: [{ _bsontype: 'Long', b: { _bsontype: 'x' } }] }],
  ])('contains the document’s id instead of %s', (_name, value) => {
    const text = encodeCursor('f', [value, id]);
    expect(text.length).toBeLessThanOrEqual(2048);
    expect(decodeCursor('f', 2, text)).toEqual({ id });
  });

  it.each<[string, string]>([
    ['nothing', ''],
    ['other characters', 'a+b/='],
    ['other bytes', 'AAAA'],
    ['more than 2 KiB', 'A'.repeat(2049)],
    ['an empty record', craft({})],
    ['another order', encodeCursor('g', [1, id])],
    ['another version', craft({ v: 2, s: 'f', k: [[1], [id]] })],
    ['too few values', encodeCursor('f', [id])],
    ['too many values', encodeCursor('f', [1, 2, id])],
    ['no values', craft({ v: 1, s: 'f' })],
    ['values that are no list', craft({ v: 1, s: 'f', k: { length: 2 } })],
    ['two values in one', craft({ v: 1, s: 'f', k: [[1, 2], [id]] })],
    ['an operator', craft({ v: 1, s: 'f', k: [[{ $gt: '' }], [id]] })],
    ['a nested operator', craft({ v: 1, s: 'f', k: [[{ a: [{ $gt: '' }] }], [id]] })],
    ['an operator as id', craft({ v: 1, s: 'f', k: [[1], [{ $gt: '' }]] })],
    ['an array as id', craft({ v: 1, s: 'f', k: [[1], [[1]]] })],
    ['no id', craft({ v: 1, s: 'f', k: [[1], []] })],
    ['a regular expression', craft({ v: 1, s: 'f', k: [[/a/], [id]] })],
    ['code', craft({ v: 1, s: 'f', k: [[new Code('x')], [id]] })],
    ['a database reference', craft({ v: 1, s: 'f', k: [[{ $ref: 'a', $id: id }], [id]] })],
    ['an operator as document', craft({ v: 1, s: 'f', i: { $ne: 1 } })],
    ['a pattern as document', craft({ v: 1, s: 'f', i: /a/ })],
  ])('400 INVALID_CURSOR for %s', (_name, text) => {
    expect(() => decodeCursor('f', 2, text)).toThrow(expect.objectContaining({ code: 'INVALID_CURSOR' }));
  });

  const tags = [
    ...['MinKey', 'MaxKey', 'Int32', 'Long', 'Double', 'Decimal128', 'BSONSymbol', 'Binary', 'ObjectId', 'ObjectID'],
    ...['Timestamp', 'BSONRegExp', 'Code', 'DBRef', 'x', 1],
  ];
  it.each(tags)('400 INVALID_CURSOR for a document that claims to be a %s', (tag) => {
    const fake = new Map([['_bsontype', tag]]);
    for (const record of [{ i: fake }, { k: [[fake], [id]] }, { k: [[1], [fake]] }, { k: [[{ a: [fake] }], [id]] }]) {
      const text = craft({ v: 1, s: 'f', ...record });
      expect(() => decodeCursor('f', 2, text)).toThrow(expect.objectContaining({ code: 'INVALID_CURSOR' }));
    }
  });

  it('contains rejected text, without failing, when no text can represent the id', () => {
    const text = encodeCursor('f', [{ _bsontype: 'ObjectId' }]);
    expect(() => decodeCursor('f', 1, text)).toThrow(expect.objectContaining({ code: 'INVALID_CURSOR' }));
  });
});
