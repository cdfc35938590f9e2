import type { ObjectId } from 'mongodb';
import type { Collection, Field } from '../../collections/collection.ts';
import { emailVerifiedField, hiddenUserFields } from '../../collections/schema/users-rules.ts';
import type { SocialProviderName } from '../../projects/social-providers.ts';

/** An account at an identity provider that belongs to a user; `key` is `github:123`, unique in the project. */
export interface Identity {
  readonly provider: SocialProviderName;
  readonly id: string;
  readonly key: string;
}

/**
 * A document of a project's `users` collection: the fields of its schema, and what the service alone writes. `password`
 * is a bcrypt hash, of no password at all while `hasPassword` is false. `credentialVersion` counts what ends sessions:
 * changes of the password, disabling. `planSlot` numbers users where the plan limits them. An imported document may
 * lack all but `_id` and the schema's.
 */
export interface UserRecord {
  readonly _id: ObjectId;
  readonly email: string;
  readonly password: string;
  readonly emailVerified?: boolean;
  readonly isDisabled?: true;
  readonly hasPassword?: boolean;
  readonly identities?: readonly Identity[];
  readonly credentialVersion?: number;
  readonly planSlot?: number;
  readonly isDeleted?: boolean;
  readonly createdAt?: Date;
  readonly updatedAt?: Date;
}

const ownRoutes: ReadonlySet<string> = new Set(['email', 'password', emailVerifiedField]);

/**
 * The fields of the schema that users may set themselves: all but e-mail address, password and what the service writes.
 */
export const profileFields = ({ schema }: Collection): readonly Field[] =>
  (schema ?? []).filter(({ key }) => !ownRoutes.has(key) && !hiddenUserFields.has(key));

/** The version of a user's credentials; an imported user has the first. */
export const credentialVersionOf = ({ credentialVersion = 0 }: Pick<UserRecord, 'credentialVersion'>): number =>
  credentialVersion;
