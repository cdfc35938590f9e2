import { Long, ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { type UserRecord, userView } from '../../../../shared/accounts/users/users.ts';
import { type Collection, type Field, noRowSecurity } from '../../../../shared/collections/collection.ts';

const text = (key: string): Field => ({ key, type: 'String', required: false, unique: false });
const users = (...keys: string[]): Collection => ({
  name: 'users',
  schema: ['email', 'password', ...keys].map(text),
  rls: noRowSecurity,
});

const _id = new ObjectId();
const dates = { createdAt: new Date(1), updatedAt: new Date(2) };
const record = {
  _id,
  email: 'a@b.co',
  password: '$2b$04$hash',
  name: 'Ann',
  emailVerified: true,
  isDisabled: true,
  hasPassword: true,
  identities: [{ provider: 'github', id: '1', key: 'github:1' }],
  credentialVersion: 3,
  planSlot: 5,
  isDeleted: false,
  deletedAt: null,
  old: 'of an earlier schema',
  ...dates,
} as const satisfies UserRecord & Record<string, unknown>;

describe('the view of a user', () => {
  test('has the address, the fields of the schema and the dates', () => {
    const shown = { _id: _id.toHexString(), email: 'a@b.co', name: 'Ann', emailVerified: true, ...dates };
    expect(userView(users('name'), record)).toEqual(shown);
  });

  test('never has hashes or service fields when the schema names them', () => {
    const greedy = users(
      'name',
      'isDisabled',
      'identities',
      'credentialVersion',
      'planSlot',
      'hasPassword',
      'emailVerified',
    );
    expect(userView(greedy, record)).toEqual(userView(users('name'), record));
  });

  test('is JSON, also for an imported user', () => {
    const imported = { _id, email: 'a@b.co', password: 'x', name: Long.fromNumber(5) } as unknown as UserRecord;
    expect(userView(users('name'), imported)).toEqual({
      _id: _id.toHexString(),
      email: 'a@b.co',
      name: 5,
      emailVerified: false,
    });
  });
});
