import { Binary, BSON, Decimal128, Long, MaxKey, MinKey, ObjectId, Timestamp } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { wireDocument } from '../../../shared/documents/wire.ts';

const id = new ObjectId('0123456789abcdef01234567');

describe('a value in a response', () => {
  test.each<[string, unknown, unknown]>([
    ['a 64-bit number within 2^53', Long.fromNumber(5), 5],
    ['a 64-bit number beyond 2^53', Long.fromString('9007199254740993'), 9_007_199_254_740_992],
    ['the greatest 64-bit number', Long.MAX_VALUE, 2 ** 63],
    ['a decimal number', Decimal128.fromString('1.25'), 1.25],
    ['a decimal that is not a number', Decimal128.fromString('NaN'), null],
    ['a decimal infinity', Decimal128.fromString('-Infinity'), null],
    ['NaN', Number.NaN, null],
    ['infinity', Number.POSITIVE_INFINITY, null],
    ['negative zero', -0, 0],
    ['an id', id, '0123456789abcdef01234567'],
    ['a date', new Date(5), '1970-01-01T00:00:00.005Z'],
    ['binary data', new Binary(Buffer.from('abc')), 'YWJj'],
    ['a pattern', /a+/i, '/a+/i'],
    ['the least key', new MinKey(), { $minKey: 1 }],
    ['the greatest key', new MaxKey(), { $maxKey: 1 }],
    ['a time stamp', new Timestamp({ t: 1, i: 2 }), { $timestamp: '4294967298' }],
    ['text', 'x\u2028', 'x\u2028'],
    ['null', null, null],
  ])('%s', (_title, stored, expected) => {
    const document = wireDocument(BSON.deserialize(BSON.serialize({ top: stored, in: [{ list: [stored] }] })));
    expect(JSON.parse(JSON.stringify(document))).toEqual({ top: expected, in: [{ list: [expected] }] });
  });
});
