import { onManaged } from '../../clients/mongo.ts';
import { type Records, recordsOf } from '../../clients/records.ts';
import type { Collection, Field } from '../../collections/collection.ts';
import { findCollections } from '../../collections/find-collections.ts';
import { usersCollection } from '../../collections/schema/collection-name.ts';
import { emailVerifiedField, hiddenUserFields } from '../../collections/schema/users-rules.ts';
import { AppError } from '../../core/errors.ts';
import { oncePer } from '../../core/once-per.ts';
import { wireDocument } from '../../documents/wire-value.ts';
import type { Project } from '../../projects/project.ts';
import type { AccountRecord } from '../account-store.ts';

/** A document of a project's `users` collection: the fields of its schema, and what the service alone writes. */
export interface UserRecord extends AccountRecord {
  readonly password?: string;
  /** Numbers users if the plan limits them. */
  readonly planSlot?: number;
  readonly isDeleted?: boolean;
}

/** All users of a project, those included that an import has left in the trash. */
export const userRecords = (project: Project): Records<UserRecord> =>
  recordsOf((operation) => onManaged(project, (db) => operation(db.collection<UserRecord>(usersCollection), db)));

const ownRoutes: ReadonlySet<string> = new Set(['email', 'password', emailVerifiedField]);

/** The fields of the schema that users may set themselves. */
export const profileFields = ({ schema }: Collection): readonly Field[] =>
  (schema ?? []).filter(({ key }) => !ownRoutes.has(key) && !hiddenUserFields.has(key));

/** What users see of themselves: `_id` in 24 hex characters, the fields of the schema, and these. */
export interface UserView {
  readonly _id: string;
  readonly emailVerified: boolean;
  readonly [field: string]: unknown;
}

/** The names that `userView` shows. */
const shownIn = oncePer(
  (users: Collection) => new Set(['email', ...profileFields(users).map(({ key }) => key), 'createdAt', 'updatedAt']),
);

/**
 * What users see of themselves (contract 3, "`me`"): `_id`, e-mail address, whether it is verified, the fields of the
 * schema and the dates. Whatever else the document holds, hashes above all, stays inside.
 */
export const userView = (users: Collection, record: UserRecord): UserView => {
  const shown = shownIn(users);
  const view: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(record)) if (shown.has(key)) view[key] = value;
  const isAnonymous = record._signIn?.anonymous !== undefined;
  return {
    ...wireDocument(view),
    _id: record._id.toHexString(),
    emailVerified: record.emailVerified === true,
    ...(isAnonymous && { isAnonymous }),
  };
};

/** The `users` collection of a project whose accounts are in use; without it, or auth off → 403 `AUTH_DISABLED`. */
export const requireUsers = async (project: Project): Promise<Collection> => {
  if (!project.authEnabled) {
    throw new AppError(
      'AUTH_DISABLED',
      'User accounts are not enabled for this project. Turn them on with authEnabled: PATCH /api/projects/:projectId on the dashboard API.',
    );
  }
  const users = (await findCollections(project, [usersCollection])).get(usersCollection);
  if (users) return users;
  throw new AppError(
    'AUTH_DISABLED',
    'User accounts need the collection users, which this project does not have. Make it on the dashboard API: POST /api/projects/:projectId/collections.',
  );
};
