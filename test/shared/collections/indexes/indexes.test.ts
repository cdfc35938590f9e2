import { ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import {
  type Field,
  type IndexKeys,
  keysBuilt,
  noRowSecurity,
  type RowSecurity,
} from '../../../../shared/collections/collection.ts';
import type { CollectionRecord } from '../../../../shared/collections/collection-record.ts';
import { formerNames, wantedIndexes } from '../../../../shared/collections/indexes/build.ts';
import {
  type CustomIndex,
  parseNewIndex,
  toIndexDescription,
} from '../../../../shared/collections/indexes/custom-index.ts';
import { managedIndexes } from '../../../../shared/collections/indexes/indexes.ts';

const field = (key: string, rest: Partial<Field> = {}): Field => ({
  key,
  type: 'String',
  required: false,
  unique: false,
  ...rest,
});

const namesOf = (schema: readonly Field[] | null, rls = noRowSecurity): unknown[] =>
  managedIndexes({ name: 'notes', schema, rls }).map(({ name }) => name);

describe('the indexes of a collection', () => {
  test.each<[string, readonly Field[] | null, boolean, string[]]>([
    ['without schema: the trash', null, false, ['basalt_trash']],
    ['with plain fields: the trash', [field('a')], false, ['basalt_trash']],
    [
      'with a unique field: it, and one for reading',
      [field('a', { unique: true })],
      false,
      ['basalt_trash', 'basalt_unique_String_a', 'basalt_read_a'],
    ],
    ['with a Ref: one for reading', [field('a', { type: 'Ref', ref: 'b' })], false, ['basalt_trash', 'basalt_read_a']],
    ['under row security: the owner', null, true, ['basalt_trash', 'basalt_read_userId']],
    [
      'with a unique owner: no index twice',
      [field('userId', { unique: true })],
      true,
      ['basalt_trash', 'basalt_unique_String_userId', 'basalt_read_userId'],
    ],
  ])('%s', (_what, schema, enabled, names) => {
    expect(namesOf(schema, { ...noRowSecurity, enabled })).toEqual(names);
  });

  test.each<[string, Partial<RowSecurity>, object]>([
    ['not where row security is off', { enabled: false, mode: 'private' }, { a: 1, _id: 1 }],
    ['not where everybody reads', { enabled: true, mode: 'public-read' }, { a: 1, _id: 1 }],
    ['in a private collection', { enabled: true, mode: 'private' }, { userId: 1, a: 1, _id: 1 }],
  ])('begin with the owner, %s', (_what, rls, key) => {
    const own: CustomIndex = { name: 'a_1', keys: [['a', 1]], ready: true, since: new Date() };
    const record: CollectionRecord = {
      _id: new ObjectId(),
      projectId: new ObjectId(),
      slot: 0,
      state: 'active',
      name: 'notes',
      nameKey: 'notes',
      createdAt: new Date(),
      updatedAt: new Date(),
      schema: [field('a', { type: 'Ref', ref: 'b' })],
      rls: { ...noRowSecurity, ...rls },
      indexes: [own],
    };
    const [read, mine] = wantedIndexes(record).filter(
      ({ name }) => name !== 'basalt_trash' && name !== 'basalt_read_userId',
    );
    expect(read?.key).toEqual(key);
    const { _id, ...ownKey } = key as Record<string, number>;
    expect(Object.fromEntries(mine?.key as Map<string, number>)).toEqual(ownKey);
    expect(formerNames(record)).toEqual([mine?.name === 'a_1' ? 'basalt_owner_first_a_1' : 'a_1']);
  });

  test.each<[string, IndexKeys, IndexKeys]>([
    [
      'a field',
      [['a', 1]],
      [
        ['userId', 1],
        ['a', 1],
      ],
    ],
    [
      'several',
      [
        ['a', -1],
        ['b.c', 1],
      ],
      [
        ['userId', 1],
        ['a', -1],
        ['b.c', 1],
      ],
    ],
    [
      'a place',
      [['at', '2dsphere']],
      [
        ['userId', 1],
        ['at', '2dsphere'],
      ],
    ],
    [
      'a place with the owner behind it',
      [
        ['at', '2dsphere'],
        ['userId', 1],
      ],
      [
        ['userId', 1],
        ['at', '2dsphere'],
      ],
    ],
    [
      'the owner first, as it is',
      [
        ['userId', -1],
        ['a', 1],
      ],
      [
        ['userId', -1],
        ['a', 1],
      ],
    ],
    [
      'the owner elsewhere, as it is',
      [
        ['a', 1],
        ['userId', 1],
      ],
      [
        ['a', 1],
        ['userId', 1],
      ],
    ],
    ['text, as it is', [['a', 'text']], [['a', 'text']]],
  ])('of the developer in a private collection: %s', (_what, keys, built) => {
    expect(keysBuilt(keys, { ...noRowSecurity, enabled: true, mode: 'private' })).toEqual(built);
    expect(keysBuilt(keys, { ...noRowSecurity, mode: 'private' })).toEqual(keys);
  });

  test('stay as they are for a unique field, by which a server finds the document of any owner', () => {
    const rls = { ...noRowSecurity, enabled: true, mode: 'private' } as const;
    expect(namesOf([field('a', { unique: true })], rls)).toContain('basalt_read_a');
  });

  test('of users: one account an identity, one a place of the plan, and public profiles by username', () => {
    const schema = [field('email', { unique: true }), field('password'), field('username')];
    expect(managedIndexes({ name: 'users', schema, rls: noRowSecurity })).toEqual([
      expect.objectContaining({ name: 'basalt_trash' }),
      expect.objectContaining({ name: 'basalt_unique_String_email', unique: true }),
      { name: 'basalt_read_email', key: { email: 1, _id: 1 } },
      { name: 'basalt_read_username', key: { username: 1, _id: 1 } },
      ...['identities.key', 'planSlot', '_signIn.passkeys.id'].map((key) => ({
        name: `basalt_${key}`,
        key: { [key]: 1 },
        unique: true,
        partialFilterExpression: { [key]: { $exists: true } },
      })),
      expect.objectContaining({ name: 'basalt_anonymous', key: { '_signIn.anonymous.checkAt': 1 } }),
    ]);
  });

  test.each([
    ['String', 'string'],
    ['Number', 'number'],
    ['Boolean', 'bool'],
    ['Date', 'date'],
    ['Ref', 'objectId'],
  ] as const)('leave null, missing and trashed values of a unique %s out', (type, bsonType) => {
    const unique = managedIndexes({ name: 'notes', schema: [field('a', { type, unique: true })], rls: noRowSecurity });
    expect(unique[1]).toEqual({
      name: `basalt_unique_${type}_a`,
      key: { a: 1 },
      unique: true,
      partialFilterExpression: { deletedAt: null, a: { $type: bsonType } },
    });
  });
});

describe('an index of one’s own', () => {
  test.each<[string, Parameters<typeof parseNewIndex>[0], ReturnType<typeof parseNewIndex>]>([
    [
      'gets MongoDB’s usual name',
      { keys: { 'a.b': 1, c: -1 } },
      {
        name: 'a.b_1_c_-1',
        keys: [
          ['a.b', 1],
          ['c', -1],
        ],
      },
    ],
    ['keeps a name', { keys: { at: '2dsphere' }, name: 'places' }, { name: 'places', keys: [['at', '2dsphere']] }],
  ])('%s', (_what, input, expected) => {
    expect(parseNewIndex(input)).toEqual(expected);
  });

  test.each<[string, Parameters<typeof parseNewIndex>[0]]>([
    ['no keys', { keys: {} }],
    ['17 keys', { keys: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, 1])) }],
    ['_id alone', { keys: { _id: 1 } }],
    ['an empty path', { keys: { '': 1 } }],
    ['an empty part of a path', { keys: { 'a..b': 1 } }],
    ['a path that begins with $', { keys: { $a: 1 } }],
    ['a wildcard', { keys: { 'a.$**': 1 } }],
    ['constructor in a path', { keys: { 'a.constructor': 1 } }],
    ['NUL in a path', { keys: { 'a\0': 1 } }],
    ['an empty name', { keys: { a: 1 }, name: '' }],
    ['the name _id_', { keys: { a: 1 }, name: '_id_' }],
    ['the name *', { keys: { a: 1 }, name: '*' }],
    ['a name of 101 characters', { keys: { a: 1 }, name: 'n'.repeat(101) }],
    ['a name of the service’s own', { keys: { a: 1 }, name: 'basalt_trash' }],
    ['a path that makes such a name', { keys: { basalt_read: 1 } }],
  ])('INVALID_INDEX for %s', (_what, input) => {
    expect(() => parseNewIndex(input)).toThrow(expect.objectContaining({ code: 'INVALID_INDEX' }));
  });

  test('of text leaves a document’s own field language alone', () => {
    expect(toIndexDescription({ name: 't', keys: [['a', 'text']] }, { rls: noRowSecurity })).toMatchObject({
      language_override: expect.not.stringMatching(/^language$/),
    });
  });
});
