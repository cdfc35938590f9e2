import { describe, expect, test } from 'vitest';
import type { Field } from '../../../../shared/collections/collection.ts';
import { requireCollectionName } from '../../../../shared/collections/create-collection.ts';
import { isCollectionName } from '../../../../shared/collections/names.ts';
import { parseRowSecurity } from '../../../../shared/collections/schema/row-security.ts';
import { toUsersSchema } from '../../../../shared/collections/schema/users.ts';

const field = (key: string, rest: Partial<Field> = {}): Field => ({
  key,
  type: 'String',
  required: false,
  unique: false,
  ...rest,
});

describe('the name of a collection', () => {
  test.each(['a', 'Posts', 'my_posts-2', 'users', 'user', 'sys', 'a'.repeat(63)])('%s is accepted', (name) => {
    expect(isCollectionName(name)).toBe(true);
    expect(() => requireCollectionName(name)).not.toThrow();
  });

  test.each([
    '',
    '1a',
    '_a',
    '-a',
    'a.b',
    'a$b',
    'a b',
    'a/b',
    'ä',
    'a\0',
    'a\n',
    'a'.repeat(64),
    '__proto__',
    'Users',
    'USERS',
    'users2',
    'usersettings',
    'users-x',
    'system',
    'systemic',
    'System_x',
    'system.users',
  ])('INVALID_NAME for %j', (name) => {
    expect(isCollectionName(name)).toBe(false);
    expect(() => requireCollectionName(name)).toThrow(expect.objectContaining({ code: 'INVALID_NAME' }));
  });
});

describe('the schema of users', () => {
  const email = field('email', { required: true, unique: true });
  const password = field('password', { required: true });

  test('is unchanged with additional fields', () => {
    const schema = [email, password, field('username', { unique: true }), field('age', { type: 'Number' })];
    expect(toUsersSchema(schema)).toEqual(schema);
  });

  test('makes the email address unique in any case', () => {
    expect(toUsersSchema([field('email', { required: true }), password])).toEqual([email, password]);
  });

  test.each<[string, readonly Field[] | null]>([
    ['no schema', null],
    ['no email', [password]],
    ['no password', [email]],
    ['an optional email', [field('email', { unique: true }), password]],
    ['an optional password', [email, field('password')]],
    ['an email that is no String', [field('email', { type: 'Object', required: true }), password]],
    ['a password that is no String', [email, field('password', { type: 'Number', required: true })]],
    ['a unique password', [email, field('password', { required: true, unique: true })]],
    ['a field that the dashboard has a meaning for', [email, password, { ...field('disabled'), type: 'Boolean' }]],
    ['a field that shows who is anonymous', [email, password, { ...field('isAnonymous'), type: 'Boolean' }]],
    ['a field of the service’s own', [email, password, field('credentialVersion')]],
    ['another field of the service’s own', [email, password, field('identities', { type: 'Array' })]],
    ['an emailVerified that is no Boolean', [email, password, field('emailVerified')]],
    ['a unique emailVerified', [email, password, field('emailVerified', { type: 'Boolean', unique: true })]],
  ])('INVALID_SCHEMA for %s', (_what, schema) => {
    expect(() => toUsersSchema(schema)).toThrow(expect.objectContaining({ code: 'INVALID_SCHEMA' }));
  });
});

describe('row security', () => {
  const off = { enabled: false, mode: 'public-read', ownerField: 'userId', trash: 'everyone', requires: 'none' };

  test.each<[string, Parameters<typeof parseRowSecurity>[0], unknown]>([
    ['left out: off', undefined, off],
    ['null: off', null, off],
    ['{enabled:false}: off', { enabled: false }, off],
    ['{enabled:true} alone: public-read and userId', { enabled: true }, { ...off, enabled: true }],
    ['nulls: defaults', { enabled: true, mode: null, ownerField: null, trash: null }, { ...off, enabled: true }],
    [
      'all given',
      { enabled: true, mode: 'private', ownerField: 'by', trash: 'owner', requires: 'mfa' },
      { enabled: true, mode: 'private', ownerField: 'by', trash: 'owner', requires: 'mfa' },
    ],
  ])('%s', (_what, input, expected) => {
    expect(parseRowSecurity(input, 'posts', null)).toEqual(expected);
  });

  test('accepts an owner field that the schema declares as a String', () => {
    expect(parseRowSecurity({ enabled: true, ownerField: 'by' }, 'posts', [field('by')])).toMatchObject({
      ownerField: 'by',
    });
  });

  test.each(['', '_id', 'isDeleted', 'createdAt', 'a.b', '$a', '__proto__', 'constructor', 'k'.repeat(65)])(
    'INVALID_SCHEMA for the owner field %j',
    (ownerField) => {
      expect(() => parseRowSecurity({ enabled: true, ownerField }, 'posts', null)).toThrow(
        expect.objectContaining({ code: 'INVALID_SCHEMA' }),
      );
    },
  );

  test('INVALID_SCHEMA for an owner field that the schema declares otherwise', () => {
    const schema = [field('by', { type: 'Ref', ref: 'people' })];
    expect(() => parseRowSecurity({ enabled: true, ownerField: 'by' }, 'posts', schema)).toThrow(
      expect.objectContaining({ code: 'INVALID_SCHEMA' }),
    );
  });

  test('INVALID_SCHEMA for users', () => {
    expect(() => parseRowSecurity({ enabled: true }, 'users', null)).toThrow(
      expect.objectContaining({ code: 'INVALID_SCHEMA' }),
    );
  });
});
