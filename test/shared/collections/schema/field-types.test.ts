import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { noRowSecurity } from '../../../../shared/collections/collection.ts';
import {
  type FieldType,
  type FieldTypeJson,
  fieldTypeNames,
  fieldTypes,
  isScalar,
  listTypes,
  withArticle,
} from '../../../../shared/collections/schema/field-types.ts';
import { newConstraints } from '../../../../shared/collections/schema/new-constraints.ts';
import { parseSchema } from '../../../../shared/collections/schema/schema.ts';
import { AppError, type FieldError } from '../../../../shared/core/errors.ts';
import { filterValues } from '../../../../shared/documents/query/suffix-filters.ts';
import { convert } from '../../../../shared/documents/values.ts';
import { columnsOf } from '../../../../shared/transfers/csv-format.ts';

const id = '0123456789abcdef01234567';

/** For each type: a value as JSON, the equal cell and filter, and a value of another type. */
const samples: Readonly<Record<FieldType, { json: unknown; cell: string; filter?: string; wrong: unknown }>> = {
  String: { json: 'a', cell: 'a', filter: 'a', wrong: 1 },
  Number: { json: 1.5, cell: '1.5', filter: '1.5', wrong: '1.5' },
  Boolean: { json: true, cell: 'TRUE', filter: 'True', wrong: 'true' },
  Date: { json: '2026-01-02', cell: '2026-01-02', filter: '2026-01-02', wrong: '2026-02-30' },
  Object: { json: { a: 1 }, cell: '{"a":1}', wrong: [] },
  Array: { json: [1, 'b'], cell: '[1,"b"]', wrong: {} },
  Ref: { json: id, cell: id, filter: id.toUpperCase(), wrong: 'nothing' },
};

const stored = (type: FieldType, value: unknown): unknown => {
  const errors: FieldError[] = [];
  const converted = convert({ type }, value, 'f', errors);
  expect(errors).toEqual([]);
  return converted;
};

type Form = Omit<FieldTypeJson, 'type'> & { readonly bsonType: readonly string[] };

/** True if a value that is stored like its JSON fulfils a schema of MongoDB. */
const keeps = ({ bsonType: [bsonType], ...form }: Form, value: unknown): boolean => {
  const { pattern = '', multipleOf = 0, minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = form;
  if (bsonType !== (Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value)) return false;
  if (typeof value === 'string') return new RegExp(pattern).test(value);
  if (typeof value !== 'number') return true;
  return value >= minimum && value <= maximum && (multipleOf === 0 || value % multipleOf === 0);
};

describe.each(fieldTypeNames)('%s', (type) => {
  const { json, cell, filter, wrong } = samples[type];

  test('accepts its values and names the field when it rejects others', () => {
    expect(stored(type, json)).toBeDefined();
    const errors: FieldError[] = [];
    convert({ type }, wrong, 'f', errors);
    expect(errors.map(({ field }) => field)).toEqual(['f']);
    const [named, form] = errors[0]?.message.split(/(?: in |, )/) ?? [];
    expect(named).toBe(`f must be ${withArticle(type)}`);
    // A Date and a Ref also say how they are written.
    expect(form !== undefined).toBe(['Date', 'Ref'].includes(type));
  });

  test('accepts only its own values as a default, or none', () => {
    const withDefault = (value: unknown) => () =>
      parseSchema([{ key: 'f', type, default: value, ...(type === 'Ref' && { ref: 'c' }) }]);
    expect(withDefault(wrong)).toThrow(expect.objectContaining({ code: 'INVALID_SCHEMA' }));
    if (fieldTypes[type].default) expect(withDefault(json)()?.[0]).toMatchObject({ default: json });
    else expect(withDefault(json)).toThrow(expect.objectContaining({ code: 'INVALID_SCHEMA' }));
  });

  test('checks stored values like those of a body', () => {
    const [constraint] = newConstraints([{ key: 'f', type, required: true, unique: false }], null);
    const asked = { properties: { f: expect.objectContaining({ bsonType: [fieldTypes[type].bsonType] }) } };
    expect(constraint?.schema).toMatchObject(asked);
    expect(keeps(Object(constraint?.schema.properties).f, wrong)).toBe(false);
  });

  test('is read from a CSV file as from JSON', () => {
    const field = { key: 'f', type, required: false, unique: false };
    const rls = {
      enabled: false,
      mode: 'public-read',
      ownerField: 'userId',
      trash: 'everyone',
      requires: 'none',
    } as const;
    const [column] = columnsOf({ name: 'c', schema: [field], rls }, ['f']);
    expect(stored(type, column?.read(cell, 2))).toEqual(stored(type, json));
  });

  if (filter === undefined) {
    test('INVALID_FILTER for a filter by its whole value', () => {
      expect(isScalar(type)).toBe(false);
      expect(() => filterValues('f', type, cell)).toThrow(AppError);
    });
  } else {
    test('is compared with the stored value by filters', () => {
      expect(filterValues('f', type, filter)).toEqual([stored(type, json)]);
    });
  }
});

const page = (name: string) => readFileSync(path.resolve(import.meta.dirname, '../../../../docs', name), 'utf8');
/** The types of which something holds, as the contract lists them. */
const named = (holds: Parameters<typeof listTypes>[0]) => listTypes(holds, 'and').replaceAll(/,| and/g, '');

const withDefault = fieldTypeNames
  .filter((type) => fieldTypes[type].default)
  .map((type) => `\`${type}\``)
  .join(', ');

test.each([
  ['guides/collections.md', `Types: \`${fieldTypeNames.join(' ')}\``],
  ['reference/specification.md', `| default | optional ${withDefault} only`],
  ['reference/specification.md', `| unique | top level only; \`${named(({ unique }) => unique)}\`;`],
])('docs/%s says: %s', (name, line) => {
  expect(page(name).includes(line), `docs/${name} must say: ${line}`).toBe(true);
});

test('the contract has a row for each type', () => {
  const [, rules = ''] = page('reference/specification.md').split('## Collection schema');
  const rows = rules.split('\n| `key`')[1]?.split('\n\n')[0] ?? '';
  const missing = fieldTypeNames.filter((type) => !new RegExp(`^\\|.*\`${type}\``, 'm').test(rows));
  expect(missing, 'docs/reference/specification.md, "Collection schema", has no row for these').toEqual([]);
});

test.each(['9007199254740993', '-9007199254740992', '99999999999999999999'])(
  '400 NUMBER_NOT_EXACT for a filter by %s, which would be rounded',
  (text) => {
    expect(() => filterValues('f_gte', 'Number', text)).toThrow(expect.objectContaining({ code: 'NUMBER_NOT_EXACT' }));
    expect(filterValues('f_gte', undefined, text)).toContain(text);
  },
);

test('a filter and a cell with a million digits that are no number are read in linear time', () => {
  // Quadratic time would be hours.
  const digits = `${'2'.repeat(1_000_000)}-`;
  expect(filterValues('any', undefined, digits)).toEqual([digits]);
  const [column] = columnsOf({ name: 'any', schema: parseSchema([{ key: 'n', type: 'Number' }]), rls: noRowSecurity }, [
    'n',
  ]);
  expect(column?.read(digits, 1)).toBe(digits);
});
