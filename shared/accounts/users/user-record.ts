import type { Collection, Field } from '../../collections/collection.ts';
import { emailVerifiedField, hiddenUserFields } from '../../collections/schema/users-rules.ts';
import type { AccountRecord } from '../account-store.ts';

/** A document of a project's `users` collection: the fields of its schema, and what the service alone writes. */
export interface UserRecord extends AccountRecord {
  readonly password: string;
  /** Numbers users if the plan limits them. */
  readonly planSlot?: number;
  readonly isDeleted?: boolean;
}

const ownRoutes: ReadonlySet<string> = new Set(['email', 'password', emailVerifiedField]);

/**
 * The fields of the schema that users may set themselves: all but e-mail address, password and what the service writes.
 */
export const profileFields = ({ schema }: Collection): readonly Field[] =>
  (schema ?? []).filter(({ key }) => !ownRoutes.has(key) && !hiddenUserFields.has(key));
