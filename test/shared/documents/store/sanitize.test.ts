import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../shared/documents/document.ts';
import { sanitizeInsert, sanitizeUpdate } from '../../../../shared/documents/store/validate.ts';
import { refusalOf } from '../../../support/data/refusal.ts';

const both = [
  ['an insert', sanitizeInsert],
  ['an update', sanitizeUpdate],
] as const;

describe.each(both)('%s', (_name, sanitize) => {
  test.each<[string, JsonObject]>([
    ['system fields', { _id: 1, isDeleted: true, deletedAt: 1, createdAt: 1, updatedAt: 1 }],
    ['paths below system fields', { 'deletedAt.x': 1, '_id.x.y': 1, 'isDeleted.': 1 }],
  ])('drops %s at the top level without an error', (_what, dropped) =>
    expect(sanitize({ ...dropped, kept: 1 })).toEqual({ kept: 1 }),
  );

  test.each<[string, JsonObject]>([
    ['system names below the top level', { a: { _id: 1, isDeleted: 2 } }],
    ['$ keys below the top level', { a: { $set: { b: 1 }, $ref: 'x', $id: 1 }, b: [{ $gt: 1 }] }],
    ['names that every object has', { constructor: { prototype: {} }, toString: 1, valueOf: null }],
    ['names that only begin like a system field', { _idx: 1, isDeletedNot: 2 }],
    ['dots and NULs in values', { a: 'b.c', d: ['\0'] }],
  ])('keeps %s', (_what, body) => expect(sanitize(body)).toEqual(body));

  test.each<[string, JsonObject]>([
    ['a.b.c', { a: { 'b.c': 1 } }],
    ['a.0.b.c', { a: [{ 'b.c': 1 }] }],
    ['a.b.', { a: { 'b.': 1 } }],
    ['', { '': 1 }],
    ['a.', { a: { '': 1 } }],
    ['a\\0b', { 'a\0b': 1 }],
    ['a.b\\0', { a: [[{ c: 1 }], { d: 1 }], e: 1, 'a\0': 1 }],
    ['a.$ref', { a: { $ref: 'x.y', $id: 1 } }],
  ])('INVALID_BODY naming "%s"', (name, body) => {
    const { code, message } = refusalOf(() => sanitize(body));
    expect(code).toBe('INVALID_BODY');
    expect(message).toContain(name === 'a.b\\0' ? 'a\\0' : `"${name}"`);
  });

  test('treats __proto__ as an ordinary name', () => {
    const body = JSON.parse('{"__proto__":{"x":1},"_id":1}') as JsonObject;
    const kept = sanitize(body);
    expect(Object.keys(kept)).toEqual(['__proto__']);
    expect((kept as { x?: unknown }).x).toBeUndefined();
  });
});

test.each(['$set', '$where', '$a.b'])('400 INVALID_BODY for an insert with %s at the top', (key) =>
  expect(refusalOf(() => sanitizeInsert({ a: 1, [key]: { b: 1 } }))).toMatchObject({
    code: 'INVALID_BODY',
    message: `The field name "${key}" begins with $, which no field of a document may.`,
    errors: [{ field: key }],
  }),
);

test('INVALID_BODY for a dotted key of an insert', () =>
  expect(refusalOf(() => sanitizeInsert({ 'a.b': 1 }))).toMatchObject({
    code: 'INVALID_BODY',
    message: expect.stringContaining('"a.b"'),
    errors: [{ field: 'a.b' }],
  }));

test('a dotted key of an update is a path', () =>
  expect(sanitizeUpdate({ 'a.b': 1, 'c.0': 2 })).toEqual({ 'a.b': 1, 'c.0': 2 }));
