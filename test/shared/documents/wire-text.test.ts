import fc from 'fast-check';
import {
  Binary,
  BSON,
  BSONRegExp,
  BSONSymbol,
  Code,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  UUID,
} from 'mongodb';
import { describe, expect, test } from 'vitest';
import type { Document } from '../../../shared/documents/document.ts';
import { presentProjected, textOf, type Wanted, whole } from '../../../shared/documents/query/projection.ts';
import { wireDocument, wireText } from '../../../shared/documents/wire.ts';
import { deserialize } from '../../../shared/persistence/raw-documents.ts';
import { seed, text } from '../../support/data/fuzz-values.ts';

const managed = { placement: { kind: 'managed', cell: 'main' } } as const;

const bytesOf = (document: object): Buffer => Buffer.from(BSON.serialize(document, { ignoreUndefined: false }));

/** Returns the JSON of the objects decoded from the same bytes. */
const byObjects = (bytes: Uint8Array, wanted: Wanted): string =>
  JSON.stringify(presentProjected(wireDocument(deserialize(bytes)) as Document, wanted));

/** Values that the service stores, followed by values that only another program can have stored. */
const usual = [
  fc.integer(),
  fc.double(),
  fc.double({ noDefaultInfinity: true }).map((value) => new Double(value)),
  fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }).map((value) => new Int32(value)),
  fc.boolean(),
  fc.constant(null),
  fc.date({ noInvalidDate: false }),
  fc.date({ min: new Date('2026-01-01'), max: new Date('2026-01-03'), noInvalidDate: true }),
  fc.integer({ min: -(2 ** 40), max: 2 ** 40 }).map((ms) => new Date(ms * 9000)),
  fc.uint8Array({ minLength: 12, maxLength: 12 }).map((bytes) => new ObjectId(bytes)),
  text,
  fc.string({ unit: 'binary', minLength: 150, maxLength: 500 }),
  fc.string({ minLength: 150, maxLength: 500 }),
];
const others = [
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => Long.fromBigInt(value)),
  fc.integer().map((value) => Decimal128.fromString(`${value}E-3`)),
  fc.uint8Array({ maxLength: 20 }).map((bytes) => new Binary(bytes)),
  fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => new UUID(bytes)),
  fc.constantFrom<unknown>(
    new MinKey(),
    new MaxKey(),
    /a+/i,
    new BSONRegExp('b', 'i'),
    new BSONSymbol('c'),
    new Code('d'),
    new Code('d', { e: 1 }),
    undefined,
    new Timestamp({ t: 1, i: 2 }),
    { $ref: 'people', $id: 1 },
    { $ref: 'people', $id: 1, $db: 'x', more: true },
  ),
];

const name = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom('title', 'published', 'isDeleted', 'deletedAt', '0', '12', '007', '$set', 'é'),
  },
  {
    weight: 1,
    arbitrary: text.map((value) =>
      value.replaceAll('\0', '').replaceAll('_bsontype', '_').replaceAll('__proto__', '_'),
    ),
  },
);

const documentsOf = (values: readonly fc.Arbitrary<unknown>[]): fc.Arbitrary<object> =>
  fc.letrec<{ value: unknown; document: object }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      ...values,
      fc.array(tie('value'), { maxLength: 4 }),
      tie('document'),
    ),
    document: fc.dictionary(name, tie('value'), { maxKeys: 6, noNullPrototype: true }),
  })).document;

const state = fc.constantFrom(
  { isDeleted: false, deletedAt: null },
  { isDeleted: true, deletedAt: new Date(5) },
  { isDeleted: false },
  { deletedAt: null },
  { isDeleted: null, deletedAt: 1 },
  {},
);

const wanted = fc.constantFrom<Wanted>(
  whole,
  { fields: undefined, meta: false },
  { fields: ['title'], meta: true },
  { fields: ['title', 'isDeleted'], meta: true },
  { fields: ['deletedAt'], meta: false },
);

describe('a document’s JSON, built from its bytes', () => {
  test.each([
    ['every type that the service stores', usual],
    ['every type of BSON', [...usual, ...others]],
  ])('equals the JSON of its objects exactly: 2000 documents of %s', (_title, values) => {
    fc.assert(
      fc.property(documentsOf(values), state, wanted, (fields, more, shown) => {
        const bytes = bytesOf({ _id: new ObjectId(), ...fields, ...more });
        expect(textOf(managed, bytes, shown).text).toBe(byObjects(bytes, shown));
      }),
      { seed, numRuns: 2000 },
    );
  });

  test.each<[string, object]>([
    [
      'a usual document',
      { _id: new ObjectId(), title: 'x', likes: 3, at: new Date(), tags: ['a', 'b'], in: { n: 0.5 } },
    ],
    ['nothing', {}],
    ['every control character', { a: String.fromCharCode(...Array.from({ length: 128 }, (_, code) => code)) }],
    ['text beyond ASCII', { é: 'é😀\u2028', long: 'é'.repeat(300) }],
    ['the first and the last date that there are', { a: new Date(-8.64e15), b: new Date(8.64e15) }],
    [
      'dates around one of five digits',
      { a: new Date('9999-12-31'), b: new Date('+010000-01-01'), c: new Date('0000-01-01') },
    ],
    ['deep nesting', Array.from({ length: 90 }).reduce<object>((inner) => ({ a: [inner] }), {})],
  ])('needs no objects for %s', (_title, document) => {
    const bytes = bytesOf(document);
    expect(wireText(bytes)?.json.text).toBe(JSON.stringify(wireDocument(deserialize(bytes))));
  });

  test.each<[string, object]>([
    ['a number for a name, which objects move to the front', { a: 1, 7: 2 }],
    ['a reference of the driver', { a: { $ref: 'people', $id: 1 } }],
    ['a type without a form in JSON', { a: [new MinKey()] }],
    ['more than 32 KiB', { a: 'x'.repeat(33_000) }],
  ])('uses objects when the document has %s', (_title, document) => {
    expect(wireText(bytesOf(document))).toBeUndefined();
  });

  test('reports whether both state fields are present, and the trash state', () => {
    const stateIn = (document: object) => {
      const { hasState, isTrashed } = wireText(bytesOf(document)) ?? {};
      return { hasState, isTrashed };
    };
    expect(stateIn({ isDeleted: true, deletedAt: new Date() })).toEqual({ hasState: true, isTrashed: true });
    expect(stateIn({ isDeleted: false, deletedAt: null })).toEqual({ hasState: true, isTrashed: false });
    expect(stateIn({ isDeleted: 'true', deletedAt: null })).toEqual({ hasState: true, isTrashed: false });
    expect(stateIn({ in: { isDeleted: true, deletedAt: null } })).toEqual({ hasState: false, isTrashed: false });
  });

  test.each<[string, object, number]>([
    [
      'as the service writes them',
      { _id: 1, a: 'x', _rev: 7, _pos: new Timestamp({ t: 9, i: 1 }), _fuse: [2 ** 40], b: 2, _effects: { mails: [] } },
      7,
    ],
    ['alone', { _rev: 3 }, 3],
    ['not at all', { a: 1 }, 0],
    [
      'inside other fields, where any name is allowed',
      { a: { _rev: 4, _pos: 5, _gone: 6, _fuse: 7 }, _reverse: 1, _: 2 },
      0,
    ],
    ['of a tombstone', { _id: 1, isDeleted: true, deletedAt: null, _rev: 2, _gone: true }, 2],
  ])('hides revision and position that are stored %s, and returns the revision', (_title, document, revision) => {
    for (const meta of [true, 'rev'] as const) {
      const stored = { ...document, isDeleted: false, deletedAt: null };
      const text = wireText(bytesOf(stored), meta === 'rev');
      expect(text?.json.text).toBe(byObjects(bytesOf(stored), { fields: undefined, meta }));
      expect(text?.revision).toBe(revision);
    }
  });

  test.each<[string, object]>([
    ['a text', { _rev: '1' }],
    ['a fraction', { _rev: new Double(1.5) }],
    ['a negative number', { _rev: -1 }],
    ['a long one', { _rev: Long.fromNumber(2 ** 40) }],
    ['a position of another type', { _pos: 1 }],
    ['a mark of another type', { _gone: 'x' }],
    ['a fuse of another type', { _fuse: 1 }],
    ['work of effects of another type', { _effects: 1 }],
  ])('uses objects when %s replaces a field of the service', (_title, document) => {
    expect(wireText(bytesOf(document))).toBeUndefined();
  });

  test('merges two fields with one name, which a project’s own database can contain', () => {
    const twice = Buffer.from([19, 0, 0, 0, 16, 97, 0, 1, 0, 0, 0, 16, 97, 0, 2, 0, 0, 0, 0]);
    const external = { placement: { kind: 'external', encryptedUri: '', host: 'h', openUri: async () => '' } } as const;
    expect(textOf(external, twice, whole).text).toBe('{"a":2,"isDeleted":false,"deletedAt":null}');
  });
});
