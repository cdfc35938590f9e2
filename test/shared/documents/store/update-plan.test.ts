import { ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { AppError } from '../../../../shared/core/errors.ts';
import type { Document, JsonObject } from '../../../../shared/documents/document.ts';
import { planUpdate, type UpdatePlan, withoutGrowth } from '../../../../shared/documents/store/plan-update.ts';
import { maxDocumentBytes, sizeOf } from '../../../../shared/documents/store/validate.ts';
import { refusalOf } from '../../../support/data/refusal.ts';
import { everything, owned, schemaFree } from '../collections.ts';

const id = '65f0c0ffee65f0c0ffee0001';
const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });
const refusalFor = ({ guards }: UpdatePlan, document: Document) =>
  guards.map(({ refusal }) => refusal(document, sizeOf(document))).find((refusal) => refusal !== undefined);
const path = (segments: number): string => Array(segments).fill('a').join('.');

describe('an update', () => {
  test.each<[string, JsonObject, JsonObject]>([
    ['plain fields', { title: 'x', views: 2 }, { title: 'x', views: 2 }],
    ['dates and refs', { at: 5, author: id }, { at: new Date(5), author: new ObjectId(id) }],
    ['sub-fields by path', { 'meta.author.born': 5 }, { 'meta.author.born': new Date(5) }],
    [
      'elements by position',
      { 'tags.2': 'x', 'comments.0.by': id },
      { 'tags.2': 'x', 'comments.0.by': new ObjectId(id) },
    ],
    ['unknown fields', { other: { $x: 1 }, 'meta.other.deep': [1] }, { other: { $x: 1 }, 'meta.other.deep': [1] }],
    ['null in an optional field', { at: null, 'meta.author': null }, { at: null, 'meta.author': null }],
    ['no default of a field it does not name', { live: true }, { live: true }],
  ])('sets %s', (_what, body, set) => expect(planUpdate(everything, body).set).toEqual(set));
});

describe('400', () => {
  test.each<[string, string, JsonObject]>([
    ['NOTHING_TO_UPDATE', 'an empty body', {}],
    ['NOTHING_TO_UPDATE', 'system fields only', { _id: 1, updatedAt: 1, 'deletedAt.x': 1, $inc: { updatedAt: 1 } }],
    ['INVALID_UPDATE', 'an operator that no update takes', { title: 'x', $set: { a: 1 } }],
    ['INVALID_UPDATE', 'a path inside another', { meta: {}, 'meta.score': 1 }],
    ['INVALID_UPDATE', 'a path deep inside another', { 'a.b.c.d': 1, 'a.b': 1 }],
    ['INVALID_UPDATE', 'a path through a String', { 'title.x': 1 }],
    ['INVALID_UPDATE', 'a path through a Boolean', { 'live.0': 1 }],
    ['INVALID_UPDATE', 'a path through a Date', { 'at.x': 1 }],
    ['INVALID_UPDATE', 'a path through a Ref', { 'author.name': 1 }],
    ['INVALID_UPDATE', 'a path through an element that is a scalar', { 'tags.0.x': 1 }],
    ['INVALID_UPDATE', 'a name where an Array has positions', { 'tags.x': 'y' }],
    ['INVALID_UPDATE', 'a position with a leading zero', { 'tags.01': 'y' }],
    ['INVALID_UPDATE', 'the first matching element', { 'tags.$': 'y' }],
    ['INVALID_UPDATE', 'every element', { 'tags.$[]': 'y' }],
    ['INVALID_UPDATE', 'filtered elements', { 'other.$[x].y': 'y' }],
    ['INVALID_UPDATE', 'a $ name in a path', { 'other.$x': 'y' }],
    ['INVALID_UPDATE', 'an empty name at the end', { 'other.': 1 }],
    ['INVALID_UPDATE', 'an empty name at the beginning', { '.other': 1 }],
    ['INVALID_UPDATE', 'an empty name in the middle', { 'other..x': 1 }],
    ['INVALID_UPDATE', 'a path of 65 levels', { [path(65)]: 1 }],
    ['INVALID_UPDATE', 'a path and a value of 65 levels together', { [path(33)]: nested(32) }],
    [
      'INVALID_UPDATE',
      '501 elements of as many arrays',
      Object.fromEntries(Array.from({ length: 501 }, (_, n) => [`a${n}.1`, 1])),
    ],
    ['INVALID_UPDATE', '1001 fields', Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`a${n}`, 1]))],
    ['INVALID_UPDATE', 'a name that the driver reads in its own way', { 'other._bsontype': 'ObjectId' }],
    ['INVALID_UPDATE', 'a name that sets a prototype', { 'other.__proto__.x': 1 }],
    ['VALIDATION_FAILED', 'a wrong type', { views: '1' }],
    ['VALIDATION_FAILED', 'a required field that is null', { title: null }],
    ['VALIDATION_FAILED', 'a required sub-field that is null', { 'meta.author.name': null }],
    ['VALIDATION_FAILED', 'a whole object without its required sub-field', { 'meta.author': {} }],
    ['VALIDATION_FAILED', 'an element that is null', { 'tags.0': null }],
    ['INVALID_BODY', 'a dot below the top level', { other: { 'a.b': 1 } }],
  ])('%s for %s', (code, _what, body) => expect(refusalOf(() => planUpdate(everything, body)).code).toBe(code));

  test('contains every failed path', () =>
    expect(refusalOf(() => planUpdate(everything, { 'tags.0': 1, 'meta.author.name': null })).errors).toEqual([
      { field: 'tags.0', message: 'tags.0 must be a String' },
      { field: 'meta.author.name', message: 'meta.author.name is required' },
    ]));

  test('allows 64 levels', () => {
    expect(() => planUpdate(schemaFree, { [path(64)]: 1 })).not.toThrow();
    expect(() => planUpdate(schemaFree, { [path(32)]: nested(32) })).not.toThrow();
  });

  test('is returned quickly for very large positions', () => {
    const body = { [`a.${'9'.repeat(400)}`]: 1, 'a.99999999999999999999': 1, 'a.9007199254740993': 1 };
    expect(planUpdate(schemaFree, body).guards).toHaveLength(1);
  });
});

describe('a stored document', () => {
  const stored = (fields: JsonObject) => ({ _id: new ObjectId(), title: 't', ...fields });

  test.each<[string, string, JsonObject, JsonObject]>([
    ['VALIDATION_FAILED', 'has no object for a sub-field beside a required one', { 'meta.author.born': 5 }, {}],
    ['VALIDATION_FAILED', 'has null for it', { 'meta.author.born': 5 }, { meta: { author: null } }],
    ['VALIDATION_FAILED', 'has no element for it', { 'comments.1.by': id }, { comments: [{ text: 'a' }] }],
    ['INVALID_UPDATE', 'has no array', { 'tags.0': 'x' }, {}],
    ['INVALID_UPDATE', 'has a shorter array', { 'tags.3': 'x' }, { tags: ['a', 'b'] }],
    ['INVALID_UPDATE', 'has a shorter array that no schema knows', { 'other.list.3': 'x' }, { other: { list: [1] } }],
    ['INVALID_UPDATE', 'would get a gap', { 'tags.2': 'x', 'tags.4': 'y' }, { tags: ['a', 'b'] }],
    [
      'DOCUMENT_TOO_LARGE',
      'is too large for more',
      { other: 'x'.repeat(1000) },
      { a: 'x'.repeat(maxDocumentBytes - 1000) },
    ],
    [
      'DOCUMENT_TOO_LARGE',
      'would be too large for a response with escaped quotes',
      { other: '"'.repeat(1000) },
      { a: '"'.repeat(1_308_000) },
    ],
    [
      'DOCUMENT_TOO_LARGE',
      'would be too large for a response with escaped control characters',
      { other: 'x' },
      { a: '\u0001'.repeat(749_000) },
    ],
  ])('%s when it %s', (code, _what, body, document) =>
    expect(refusalFor(planUpdate(everything, body), stored(document))?.code).toBe(code),
  );

  test.each<[string, JsonObject, JsonObject]>([
    ['has the object', { 'meta.author.born': 5 }, { meta: { author: { name: 'x' } } }],
    ['gets the required sub-field with it', { 'meta.author.born': 5, 'meta.author.name': 'x' }, {}],
    ['has the element', { 'comments.0.by': id }, { comments: [{ text: 'a' }] }],
    ['has the array', { 'tags.0': 'x' }, { tags: [] }],
    ['is appended to', { 'tags.2': 'x', 'tags.3': 'y' }, { tags: ['a', 'b'] }],
    ['has an object with numbers for names', { 'other.2026': 1 }, { other: {} }],
    ['has nothing yet', { 'other.2026': 1 }, {}],
    ['has room in an answer', { other: '"'.repeat(1000) }, { a: '"'.repeat(1_300_000) }],
  ])('is updated when it %s', (_what, body, document) =>
    expect(refusalFor(planUpdate(everything, body), stored(document))).toBeUndefined(),
  );
});

describe('the owner field', () => {
  const document = { _id: new ObjectId(), userId: 'ann' };

  test.each<[unknown]>([['bob'], [''], [5], [null], [false], [['ann']], [{ $ne: null }]])(
    'OWNER_IMMUTABLE for %j',
    (userId) => {
      const plan = planUpdate(owned, { userId });
      const [first] = plan.guards;
      expect(refusalFor(plan, document)).toMatchObject({ code: 'OWNER_IMMUTABLE', message: 'Owner field immutable' });
      expect(first?.filter).toEqual({ userId: { $eq: userId, $not: { $type: 'array' } } });
    },
  );

  test('OWNER_IMMUTABLE for a path below it', () =>
    expect(refusalOf(() => planUpdate(owned, { 'userId.x': 1 })).code).toBe('OWNER_IMMUTABLE'));

  test('OWNER_IMMUTABLE for a document without an owner', () =>
    expect(refusalFor(planUpdate(owned, { userId: 'ann' }), { _id: new ObjectId() })?.code).toBe('OWNER_IMMUTABLE'));

  test.each<[unknown, string | undefined]>([
    [undefined, undefined],
    [null, undefined],
    ['ann', undefined],
    ['bob', 'OWNER_IMMUTABLE'],
    ['', 'OWNER_IMMUTABLE'],
    [[null], 'OWNER_IMMUTABLE'],
    [[], 'OWNER_IMMUTABLE'],
  ])('may be set on a document with owner %j: %s', (userId, code) => {
    const plan = planUpdate(owned, { userId: 'ann' }, true);
    const isNot = { $not: { $type: 'array' } };
    expect(refusalFor(plan, { _id: new ObjectId(), userId })?.code).toBe(code);
    expect(plan.guards[0]?.filter).toEqual({
      $or: [{ userId: { $eq: 'ann', ...isNot } }, { userId: { $eq: null, ...isNot } }],
    });
  });

  test.each([5, {}, ['ann'], true])('VALIDATION_FAILED for setting it to %j', (userId) =>
    expect(refusalFor(planUpdate(owned, { userId }, true), { _id: new ObjectId() })).toMatchObject({
      code: 'VALIDATION_FAILED',
      errors: [{ field: 'userId', message: 'userId must be a String' }],
    }),
  );

  test('may be sent unchanged', () =>
    expect(refusalFor(planUpdate(owned, { userId: 'ann', task: 'x' }), document)).toBeUndefined());

  test('is an ordinary field without row security', () =>
    expect(refusalFor(planUpdate(schemaFree, { userId: 5, 'undefined.x': 1 }), document)).toBeUndefined());
});

describe('in a full database', () => {
  const full = new AppError('DATABASE_QUOTA_EXCEEDED', 'full');
  const document = { _id: new ObjectId(), text: 'long', done: false, inner: { text: 'long' }, list: ['long'] };
  const held = (body: JsonObject) => refusalFor(withoutGrowth(planUpdate(schemaFree, body), full), document);

  test.each<[string, JsonObject]>([
    ['a longer text', { text: 'longer' }],
    ['a longer text inside', { 'inner.text': 'longer' }],
    ['a new field', { other: null }],
    ['an element, because a replaced value is not subtracted', { 'list.0': 'x' }],
    ['more than it frees', { text: '', 'inner.text': 'longer, by far' }],
  ])('DATABASE_QUOTA_EXCEEDED for %s', (_what, body) => expect(held(body)).toBe(full));

  test.each<[string, JsonObject]>([
    ['a value of the same size', { done: true }],
    ['a shorter text', { text: '' }],
    ['a shorter text inside', { 'inner.text': '' }],
    ['no more than it frees', { text: '', 'inner.text': 'longlong' }],
    ['a shorter list', { list: [] }],
  ])('accepts %s', (_what, body) => expect(held(body)).toBeUndefined());
});

test('400 INVALID_UPDATE for a position with a leading zero when the document has an array; otherwise it is a field', () => {
  for (const name of ['00', '01', '0017']) {
    const plan = planUpdate(schemaFree, { [`tags.${name}`]: 'y' });
    const holding = (tags: unknown) => refusalFor(plan, { _id: new ObjectId(id), tags });
    expect(holding(['a'])).toMatchObject({ code: 'INVALID_UPDATE' });
    expect(holding({ [name]: 'x' })).toBeUndefined();
    expect(holding(undefined)).toBeUndefined();
  }
});
