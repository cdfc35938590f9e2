import { describe, expect, test } from 'vitest';
import { type Collection, noRowSecurity } from '../../../../shared/collections/collection.ts';
import { parseCollection } from '../../../../shared/collections/create-collection.ts';
import { parseFieldRules } from '../../../../shared/collections/rules/parse-rules.ts';
import { rightsOf } from '../../../../shared/collections/schema/field-rights.ts';
import { AppError } from '../../../../shared/core/errors.ts';

const text = (key: string, more: object = {}) => ({ key, type: 'String', ...more });
const object = (key: string, fields: readonly object[], more: object = {}) => ({
  key,
  type: 'Object',
  fields,
  ...more,
});
const list = (key: string, fields: readonly object[]) => ({
  key,
  type: 'Array',
  items: { type: 'Object', fields },
});

const usersSchema = [
  text('email', { required: true }),
  text('password', { required: true }),
  text('role', { write: 'server' }),
  text('once', { write: 'create' }),
  object('level', [text('name', { write: 'server' }), text('free')]),
  text('phone', { write: 'server', read: 'owner' }),
];
const users = parseCollection('users', { schema: usersSchema });
const owned = { enabled: true, ownerField: 'userId' };

const parse = (schema: unknown, rls: object = owned, name = 'things'): Collection => {
  const collection = parseCollection(name, { schema, rls: name === 'users' ? null : { ...noRowSecurity, ...rls } });
  parseFieldRules(
    collection,
    new Map([
      ['users', users],
      [name, collection],
    ]),
  );
  return collection;
};

const refusalOf = (schema: unknown, rls?: object, name?: string): AppError => {
  try {
    parse(schema, rls, name);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
};

describe('400 INVALID_SCHEMA for invalid rights', () => {
  test.each<[string, unknown, object?, string?]>([
    ['a', [text('a', { write: 'owner' })]],
    ['a', [text('a', { write: 1 })]],
    ['a', [text('a', { write: ['server'] })]],
    ['a', [text('a', { read: 'create' })]],
    ['a', [text('a', { read: 0 })]],
    ['a', [text('a', { read: [] })]],
    ['o.a', [object('o', [text('a', { write: 'user' })])]],
    ['l.a', [list('l', [text('a', { write: 'server' })])]],
    ['l.o.a', [list('l', [object('o', [text('a', { write: true })])])]],
    ['a', [text('a', { write: 'server', required: true })]],
    ['o.a', [object('o', [text('a', { write: 'server', required: true })])]],
    ['a', [text('a', { read: 'server', searchable: true })]],
    ['a', [text('a', { read: 'owner' })], { enabled: false }],
    ['l', [{ ...list('l', [object('o', [text('a', { read: 'server' })])]), uniqueItems: true }]],
    ['o.l', [object('o', [{ ...list('l', [text('a', { read: 'owner' })]), uniqueItems: true }])]],
    ['o.a', [object('o', [text('a', { read: 'owner' })])], { enabled: true, mode: 'rules', rules: {}, ownerField: '' }],
    ['email', usersSchema.map((field) => (field.key === 'email' ? { ...field, write: 'server' } : field)), {}, 'users'],
  ])('of %s: %j', (path, schema, rls, name) => {
    const error = refusalOf(schema, rls, name);
    expect(error).toMatchObject({ code: 'INVALID_SCHEMA', errors: [{ field: path }] });
    expect(error.message).toContain(path);
  });

  test('write of the elements of an Array themselves', () => {
    const error = refusalOf([{ key: 'l', type: 'Array', items: { type: 'String', write: 'server' } }]);
    expect(error).toMatchObject({ code: 'INVALID_SCHEMA', message: 'l.items has an unknown property, write' });
  });
});

const me = { $user: '_id' };

describe('400 INVALID_RLS for invalid rules of fields', () => {
  test.each<[string, object]>([
    ['schema.a.write', text('a', { write: {} })],
    ['schema.a.write', text('a', { write: false })],
    ['schema.a.write.b', text('a', { write: { b: 1 } })],
    ['schema.a.write.$user.nick', text('a', { write: { $user: { nick: 'x' } } })],
    ['schema.a.write.$user.once', text('a', { write: { $user: { once: 'x' } } })],
    ['schema.a.write.$user.level.free', text('a', { write: { $user: { 'level.free': 'x' } } })],
    ['schema.a.write.before.a', text('a', { write: { before: { a: { $stored: 'a' } } } })],
    ['schema.a.write.after.$where', text('a', { write: { after: { $where: '1' } } })],
    ['schema.a.write', text('a', { write: { a: 'x'.repeat(9000) } })],
    ['schema.a.read', text('a', { read: false })],
    ['schema.a.read', text('a', { read: {} })],
    ['schema.a.read.a', text('a', { read: { a: 1 } })],
    ['schema.a.read.get', text('a', { read: { get: { $user: {} }, list: { $user: {} } } })],
    ['schema.a.read.$or.1.userId', text('a', { read: { $or: [{ $user: {} }, { userId: me }] } })],
    ['schema.a.read.$not.$ref', text('a', { read: { $not: { $ref: { by: { name: 'x' } } } } })],
    ['schema.a.read.$user.nick', text('a', { read: { $user: { nick: 'x' } } })],
    ['schema.o.a.read.$and.0.b', object('o', [text('a', { read: { $and: [{ b: 1 }] } })])],
  ])('at %s', (path, field) => {
    const error = refusalOf([field]);
    expect(error).toMatchObject({ code: 'INVALID_RLS', errors: [{ field: path }] });
    expect(error.message).toContain(path);
  });
});

describe('rights that are accepted', () => {
  test.each<[string, unknown, object?, string?]>([
    ['words', [text('a', { write: 'server' }), text('b', { write: 'create' }), text('c', { read: 'server' })]],
    ['true, which restricts nothing', [text('a', { write: true, read: true })]],
    ['null for what is left out', [text('a', { write: null, read: null })]],
    ['read of the owner', [text('a', { read: 'owner' })]],
    ['read of the owner in users', [...usersSchema, text('address', { read: 'owner' })], {}, 'users'],
    ['read in elements of an Array', [list('l', [text('a', { read: 'server' })])]],
    ['required with a default', [text('a', { write: 'server', required: true, default: 'x' })]],
    ['a rule about the caller', [text('a', { read: { $or: [{ $user: { role: 'x' } }, { $not: { $user: {} } }] } })]],
    ['a nested field of users that only the server sets', [text('a', { read: { $user: { 'level.name': 'x' } } })]],
    ['a rule about the document', [text('a', { write: { userId: me } })]],
    ['halves of a rule', [text('a', { write: { before: { a: null }, after: { a: { $stored: 'a' } } } })]],
    ['unique with read', [text('a', { unique: true, read: 'server' })]],
  ])('%s', (_title, schema, rls, name) => {
    expect(parse(schema, rls, name).schema).toBeTruthy();
  });

  test('a required field that the server sets keeps its default, any other one loses it', () => {
    const { schema } = parse([
      text('a', { write: 'server', required: true, default: 'x' }),
      text('b', { write: 'create', required: true, default: 'x' }),
    ]);
    expect(schema).toMatchObject([{ key: 'a', default: 'x' }, { key: 'b' }]);
    expect(schema?.[1]).not.toHaveProperty('default');
  });

  test('the paths of fields lead through objects and elements, and true is no restriction', () => {
    const rights = rightsOf(
      parse([
        object('o', [text('a', { write: 'server' }), list('l', [text('b', { read: 'server' })])]),
        text('c', { write: true, read: true }),
      ]),
    );
    expect(rights.written.map(({ path }) => path)).toEqual(['o.a']);
    expect(rights.read.map(({ path, arrays }) => [path, arrays])).toEqual([['o.l.b', 1]]);
  });
});
