import type { Collection } from '../../collections/collection.ts';
import { wireDocument } from '../../documents/wire-value.ts';
import { profileFields, type UserRecord } from './user-record.ts';

/** What users see of themselves: `_id` in 24 hex characters, the fields of the schema, and these. */
export interface UserView {
  readonly _id: string;
  readonly emailVerified: boolean;
  readonly [field: string]: unknown;
}

/**
 * What users see of themselves (contract 3, "`me`"): `_id`, e-mail address, whether it is verified, the fields of the
 * schema and the dates. Whatever else the document holds, hashes above all, stays inside.
 */
export const userView = (users: Collection, record: UserRecord): UserView => {
  const shown = new Set(['email', ...profileFields(users).map(({ key }) => key), 'createdAt', 'updatedAt']);
  return {
    ...wireDocument(Object.fromEntries(Object.entries(record).filter(([key]) => shown.has(key)))),
    _id: record._id.toHexString(),
    emailVerified: record.emailVerified === true,
  };
};
