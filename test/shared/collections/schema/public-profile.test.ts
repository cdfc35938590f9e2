import { describe, expect, it } from 'vitest';
import { type Collection, type Field, noRowSecurity } from '../../../../shared/collections/collection.ts';
import { publicProfile, publicProfileProjection } from '../../../../shared/collections/schema/users.ts';

const text = (key: string): Field => ({ key, type: 'String', required: false, unique: false });
const users: Collection = {
  name: 'users',
  schema: [text('email'), text('password'), text('name')],
  rls: noRowSecurity,
};

describe('a public profile', () => {
  it('shows the id, the dates and the fields of the schema but email and password', () => {
    const dates = { createdAt: new Date(1), updatedAt: new Date(2) };
    const user = {
      _id: 1,
      email: 'a@b.c',
      password: 'hash',
      name: 'Ann',
      emailVerified: true,
      isDeleted: false,
      ...dates,
    };
    expect(publicProfile(users, user)).toEqual({ _id: 1, name: 'Ann', ...dates });
  });

  it('reads no other fields from the database', () => {
    expect(publicProfileProjection(users)).toEqual({ _id: 1, createdAt: 1, updatedAt: 1, name: 1 });
  });
});
