import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { noRowSecurity } from '../../../shared/collections/collection.ts';
import { boundNames, boundTypes } from '../../../shared/collections/schema/field-bounds.ts';
import { parseSchema } from '../../../shared/collections/schema/schema.ts';
import { AppError } from '../../../shared/core/errors.ts';
import { newDocument } from '../../../shared/documents/store/new-document.ts';
import { collectionSchemas } from '../../../shared/http/openapi/collections.ts';

const collectionOf = (schema: unknown, closed = false) => ({
  name: 'posts',
  schema: parseSchema(schema),
  rls: noRowSecurity,
  ...(closed && { closed }),
});

type Tried = ReturnType<typeof collectionOf>;

const isInserted = (collection: Tried, body: Record<string, unknown>): boolean => {
  try {
    newDocument(collection, { kind: 'secret' }, body, 0);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'VALIDATION_FAILED') return false;
    throw error;
  }
};

const validatorOf = (collection: Tried) => {
  const ajv = new Ajv2020({ strictSchema: true, strictTypes: false, allErrors: true });
  formats.default(ajv);
  return ajv.compile(collectionSchemas(collection, 'secret').insert);
};

const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null, freq: 1 });
const text = fc.oneof(
  fc.constantFrom(
    '',
    'a',
    'ab',
    'abc',
    '😀',
    'é',
    'a@example.com',
    'a@b',
    'http://a',
    'https://example.com/a?b#c',
    'ftp://a',
    'a b',
  ),
  fc.emailAddress(),
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  fc.string({ maxLength: 6 }),
);
const number = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.double({ min: -3, max: 3, noNaN: true }),
  fc.constant(1e21),
);
const length = fc.nat({ max: 4 });
const patterns = fc.constantFrom(
  'a',
  '^a',
  'b$',
  '^[a-z]*$',
  '^.{2}$',
  '\\d',
  '^(a|b)+$',
  '\\s',
  '^[^a]',
  '\\bb',
  '😀',
);

const texts = fc.record(
  {
    type: fc.constant('String'),
    enum: some(fc.uniqueArray(text, { minLength: 1, maxLength: 3 })),
    minLength: some(length),
    maxLength: some(length),
    pattern: some(patterns),
    format: some(fc.constantFrom('email', 'url')),
  },
  { requiredKeys: ['type'] },
);
const numbers = fc.record(
  {
    type: fc.constant('Number'),
    enum: some(fc.uniqueArray(number, { minLength: 1, maxLength: 3 })),
    min: some(number),
    max: some(number),
    integer: fc.boolean(),
  },
  { requiredKeys: ['type'] },
);
const { value } = fc.letrec<{ value: object }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    texts,
    numbers,
    fc.record(
      {
        type: fc.constant('Array'),
        items: tie('value'),
        minItems: some(length),
        maxItems: some(length),
        uniqueItems: fc.boolean(),
      },
      { requiredKeys: ['type'] },
    ),
    tie('value').map((inner) => ({ type: 'Object', fields: [{ ...(inner as object), key: 'a' }] })),
  ),
}));
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 2 },
    text,
    number,
    fc.constant(null),
    fc.array(tie('json'), { maxLength: 4 }),
    fc.record({ a: tie('json'), b: tie('json') }, { requiredKeys: [] }),
  ),
}));

const isSchema = (schema: unknown): boolean => {
  try {
    parseSchema(schema);
    return true;
  } catch {
    return false;
  }
};

/** Values near what a schema asks for, so that about half of them pass. */
const fitting = (of: Record<string, unknown>): fc.Arbitrary<unknown> => {
  const allowed = of.enum as unknown[] | null | undefined;
  const own =
    of.type === 'String'
      ? text
      : of.type === 'Number'
        ? number
        : of.type === 'Array'
          ? fc.array(of.items ? fitting(of.items as Record<string, unknown>) : json, { maxLength: 4 })
          : fc.record({ a: fitting((of.fields as Record<string, unknown>[])[0] ?? {}) }, { requiredKeys: [] });
  return fc.oneof({ weight: 5, arbitrary: own }, allowed ? fc.constantFrom(...allowed) : own, json);
};

describe('bounds of fields', () => {
  test('the API description accepts the same values as an insert', () => {
    const seen = { taken: 0, refused: 0 };
    void fc.assert(
      fc.property(value, fc.boolean(), fc.boolean(), (of, required, closed) => {
        const schema = [{ ...of, key: 'f', required }];
        fc.pre(isSchema(schema));
        const collection = collectionOf(schema, closed);
        const validate = validatorOf(collection);
        for (const f of fc.sample(fitting(of as Record<string, unknown>), { numRuns: 20, seed: 7 })) {
          const body = JSON.parse(JSON.stringify({ f })) as Record<string, unknown>;
          const isValid = isInserted(collection, body);
          seen[isValid ? 'taken' : 'refused'] += 1;
          expect(validate(body), JSON.stringify({ schema, body, errors: validate.errors })).toBe(isValid);
        }
      }),
      { numRuns: 600 },
    );
    expect(seen.taken).toBeGreaterThan(1000);
    expect(seen.refused).toBeGreaterThan(1000);
  });

  test.each([
    [{ f: 1 }, true],
    [{ f: 1, g: 1 }, false],
    [{ o: { a: 1 } }, true],
    [{ o: { a: 1, b: 2 } }, false],
    [{ open: { b: 2 } }, true],
    [{ l: [{ a: 1 }, { c: 1 }] }, false],
  ])('a closed collection and its description accept %j: %s', (body, isTaken) => {
    const fields = [{ key: 'a', type: 'Number' }];
    const collection = collectionOf(
      [
        { key: 'f', type: 'Number' },
        { key: 'o', type: 'Object', fields },
        { key: 'open', type: 'Object' },
        { key: 'l', type: 'Array', items: { type: 'Object', fields } },
      ],
      true,
    );
    expect(isInserted(collection, body)).toBe(isTaken);
    expect(validatorOf(collection)(body)).toBe(isTaken);
  });

  test('are described by the keywords of JSON Schema', () => {
    const collection = collectionOf([
      { key: 'state', type: 'String', enum: ['a', 'b'], default: 'a' },
      { key: 'stock', type: 'Number', required: true, min: 0, max: 9, integer: true },
      { key: 'site', type: 'String', format: 'url', maxLength: 99 },
      {
        key: 'tags',
        type: 'Array',
        items: { type: 'String', minLength: 1 },
        minItems: 1,
        maxItems: 3,
        uniqueItems: true,
      },
    ]);
    expect(collectionSchemas(collection, 'secret').insert.properties).toMatchObject({
      state: { anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }], default: 'a' },
      stock: { type: 'integer', minimum: 0, maximum: 9 },
      site: { type: ['string', 'null'], format: 'uri', maxLength: 99 },
      tags: {
        type: ['array', 'null'],
        items: { type: 'string', minLength: 1 },
        minItems: 1,
        maxItems: 3,
        uniqueItems: true,
      },
    });
  });

  test('every option belongs to a type', () => {
    expect(boundNames).toHaveLength(11);
    for (const name of boundNames) expect(boundTypes[name].length).toBeGreaterThan(0);
  });
});
