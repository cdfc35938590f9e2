import { describe, expect, test } from 'vitest';
import { chipsOf } from '../../console/pages/schema/field-texts.ts';
import { changeField, insertField, moveField, placeOf, removeField } from '../../console/pages/schema/field-tree.ts';
import { schemaChanges } from '../../console/pages/schema/schema-changes.ts';
import { asNew, draftOf, type FieldDraft, newField, schemaOf } from '../../console/pages/schema/schema-draft.ts';
import { noRowSecurity } from '../../shared/collections/collection.ts';
import { parseSchema } from '../../shared/collections/schema/schema.ts';
import { collectionText } from '../../shared/documents/types/types-text.ts';
import { randomSchemas } from '../support/data/random-schemas.ts';

/** The value as stored and returned: JSON has no -0. */
const saved = (schema: unknown) => parseSchema(JSON.parse(JSON.stringify(parseSchema(schema))));

const roundTrip = (schema: unknown) => parseSchema(JSON.parse(JSON.stringify(schemaOf(draftOf(saved(schema))))));

const full = [
  { key: 'title', type: 'String', required: true, unique: true, searchable: true, minLength: 1, maxLength: 80 },
  { key: 'slug', type: 'String', unique: true, uniquePer: 'owner', pattern: '^[a-z]+$', write: 'create' },
  { key: 'empty', type: 'String', default: '' },
  { key: 'state', type: 'String', enum: ['draft', 'on\nline', '', '[1]', 'a, b'], default: 'draft' },
  { key: 'mail', type: 'String', format: 'email', read: 'owner' },
  { key: 'stock', type: 'Number', min: -0.5, max: 1e21, integer: true, default: 0 },
  { key: 'size', type: 'Number', enum: [1, 2.5, -3] },
  { key: 'paid', type: 'Boolean', default: false, write: true, read: true },
  { key: 'score', type: 'Number', required: true, default: 5, write: 'server', read: 'server' },
  { key: 'grade', type: 'Number', write: { $user: { role: 'editor' } }, read: { $user: {} } },
  { key: 'at', type: 'Date' },
  { key: 'author', type: 'Ref', ref: 'users', exists: true, onDelete: 'restrict' },
  { key: 'tags', type: 'Array', items: { type: 'String', maxLength: 5 }, minItems: 1, maxItems: 9, uniqueItems: true },
  { key: 'any', type: 'Array' },
  { key: 'grid', type: 'Array', items: { type: 'Array', items: { type: 'Number', min: 0 } } },
  { key: 'things', type: 'Array', items: { type: 'Ref', ref: 'posts', onDelete: 'unset' } },
  {
    key: 'parts',
    type: 'Array',
    items: { type: 'Object', fields: [{ key: 'name', type: 'String', required: true, default: null, read: 'server' }] },
  },
  { key: 'free', type: 'Object' },
  {
    key: 'address',
    type: 'Object',
    fields: [
      { key: 'city', type: 'String', default: 'Bonn', write: 'server' },
      { key: 'geo', type: 'Object', fields: [{ key: 'lat', type: 'Number', min: -90, max: 90 }] },
    ],
  },
];

describe('a schema', () => {
  test('survives being loaded and saved with every option', () => {
    expect(roundTrip(full)).toEqual(saved(full));
  });

  test('survives being loaded and saved for 300 random schemas', () => {
    for (const schema of randomSchemas(300)) {
      expect(roundTrip(schema)).toEqual(saved(schema));
      const draft = draftOf(saved(schema));
      expect(schemaChanges(draft, draft)).toEqual([]);
    }
  });

  test('is null without fields', () => {
    expect(schemaOf(draftOf(null))).toBeNull();
  });

  test('keeps the ids of rows with the same key when it is loaded again', () => {
    const [first, again] = [draftOf(saved(full)), draftOf(saved(full))];
    expect(draftOf(saved(full), first)).toEqual(first);
    expect(again.map(({ id }) => id)).not.toEqual(first.map(({ id }) => id));
  });
});

const errorsOf = (...fields: readonly Partial<FieldDraft>[]) => {
  try {
    return schemaOf(fields.map(newField));
  } catch (error) {
    return (error as { readonly fields: unknown }).fields;
  }
};

describe('a field that is not complete', () => {
  test.each<[string, Partial<FieldDraft>, string, string]>([
    ['has no name', {}, 'schema.0', 'Type a name.'],
    ['refers to nothing', { key: 'a', type: 'Ref' }, 'a', 'Choose the collection'],
    ['has a bound that is no number', { key: 'a', type: 'Number', bounds: { min: 'x' } }, 'a', 'Minimum of a'],
    ['has a value that is no number', { key: 'a', type: 'Number', bounds: { enum: ['1', 'x'] } }, 'a', 'not x'],
    [
      'has a default that is no number',
      { key: 'a', type: 'Number', fallback: 'many' },
      'a',
      'for example 0, and not many',
    ],
    ['has a default that is no Boolean', { key: 'a', type: 'Boolean', fallback: 'no' }, 'a', 'type true or false'],
    ['has a rule that is no JSON', { key: 'a', write: '{"$user":' }, 'a', 'not valid JSON'],
  ])('%s', (_, field, path, message) => {
    expect(errorsOf(field)).toEqual([{ field: path, message: expect.stringContaining(message) }]);
  });

  test('is named by its path, as by the API', () => {
    const inner = newField({ type: 'Object', fields: [newField({ key: 'size', type: 'Ref' }), newField()] });
    expect(errorsOf({ key: 'parts', type: 'Array', items: inner }, { key: 'parts' })).toEqual([
      { field: 'parts.items.size', message: expect.any(String) },
      { field: 'parts.items.fields.1', message: 'Type a name.' },
      { field: 'parts', message: 'There are two fields named parts.' },
    ]);
  });
});

test('options that a type does not have are not sent', () => {
  const field = newField({
    ...{ key: 'a', type: 'Date', fallback: '1', ref: 'users', exists: true, onDelete: 'trash', searchable: true },
    ...{ bounds: { min: '1', maxLength: '3' }, items: newField(), fields: [newField({ key: 'b' })] },
  });
  expect(schemaOf([field])).toEqual([{ key: 'a', type: 'Date', required: false, unique: false }]);
});

describe('rows', () => {
  const fields = draftOf(saved(full));
  const rowOf = (...keys: readonly string[]): FieldDraft =>
    keys.reduce<FieldDraft>(
      (field, key) =>
        key === '[]' ? (field.items as FieldDraft) : (field.fields.find((one) => one.key === key) as FieldDraft),
      newField({ fields }),
    );

  test('are changed, moved, removed and restored at any depth without changing others', () => {
    const name = rowOf('parts', '[]', 'name');
    const changed = changeField(fields, name.id, { required: false });
    expect(changed.filter((field, place) => field !== fields[place]).map(({ key }) => key)).toEqual(['parts']);
    const { parent, place, field } = placeOf(fields, name.id) ?? {};
    expect([parent, place, field]).toEqual([rowOf('parts', '[]').id, 0, name]);
    const removed = removeField(fields, name.id);
    expect(placeOf(removed, name.id)).toBeUndefined();
    expect(insertField(removed, parent, 0, name)).toEqual(fields);
    const city = rowOf('address', 'city');
    const moved = moveField(fields, city.id, 1);
    expect(placeOf(moved, city.id)?.place).toBe(1);
    expect(moveField(moved, city.id, 0)).toEqual(fields);
  });

  test('do not move beyond the ends of their list', () => {
    const [first, last] = [fields[0], fields.at(-1)];
    expect(moveField(fields, first?.id ?? 0, -1)).toBe(fields);
    expect(moveField(fields, last?.id ?? 0, fields.length)).toBe(fields);
  });

  test('show their special options', () => {
    const chips = Object.fromEntries(fields.map((field) => [field.key, chipsOf(field)]));
    expect(chips).toMatchObject({
      title: ['required', 'unique', '1–80 characters', 'searchable'],
      stock: ['-0.5–1e+21', 'whole', '= 0'],
      score: ['required', '= 5', 'server only'],
      author: ['→ users', 'must exist', 'protects'],
      tags: ['1–9 elements', 'no duplicates'],
      free: [],
    });
  });
});

describe('the changes of a save', () => {
  const before = draftOf(
    saved([
      { key: 'title', type: 'String', required: true, maxLength: 80 },
      { key: 'views', type: 'Number' },
      { key: 'meta', type: 'Object', fields: [{ key: 'score', type: 'Number' }] },
      { key: 'tags', type: 'Array', items: { type: 'String' } },
    ]),
  );
  const [title, views, meta, tags] = before as [FieldDraft, FieldDraft, FieldDraft, FieldDraft];

  test('lists options, renamed, new and removed fields, at any depth', () => {
    const now = [
      { ...title, key: 'name', required: false, bounds: { maxLength: '100' } },
      { ...meta, fields: [...meta.fields, newField({ key: 'level', type: 'Number' })] },
      { ...tags, items: { ...(tags.items as FieldDraft), bounds: { maxLength: '5' } } },
      newField({ key: 'at', type: 'Date' }),
    ];
    expect(schemaChanges(before, now)).toEqual([
      { name: 'name', note: 'renamed from title; documents keep their values as title' },
      { name: 'name', label: 'Required', before: 'yes', after: 'none' },
      { name: 'name', label: 'Max. characters', before: '80', after: '100' },
      { name: 'meta.level', after: 'Number', note: 'new' },
      { name: 'tags[]', label: 'Max. characters', before: 'none', after: '5' },
      { name: 'at', after: 'Date', note: 'new' },
      { name: 'views', note: 'removed; documents keep its values' },
    ]);
  });

  test('lists the order, and nothing for a field that is removed and added again', () => {
    expect(schemaChanges(before, [views, title, meta, tags])).toEqual([
      { name: 'Order of the fields', note: 'changed' },
    ]);
    expect(schemaChanges(before, [title, asNew(views), meta, tags])).toEqual([]);
  });
});

test('TypeScript of a collection has the fields of a document and of an insert', () => {
  const schema = parseSchema([
    { key: 'title', type: 'String', required: true },
    { key: 'score', type: 'Number', write: 'server' },
    { key: 'more', type: 'Object' },
  ]);
  const rls = { ...noRowSecurity, enabled: true };
  const text = collectionText({ name: 'blog-posts', schema, rls }, 'publishable');
  expect(text).toContain('interface Written {');
  expect(text).toContain('type JsonObject = { [name: string]: Json };');
  expect(text.slice(text.indexOf('export'))).toBe(`export type BlogPosts = Written & {
  title: string;
  score?: number | null | undefined;
  more?: JsonObject | null | undefined;
  userId?: string | null | undefined;
};

export type NewBlogPosts = {
  title: string;
  more?: JsonObject | null | undefined;
  userId?: string | null | undefined;
};
`);
});
