import type { Collection } from '../../../collections/collection.ts';
import { loadCollection } from '../../../collections/find-collections.ts';
import { usersCollection } from '../../../collections/schema/collection-name.ts';
import { AppError } from '../../../core/errors.ts';
import type { JsonObject } from '../../../documents/document.ts';
import { validationFailed } from '../../../documents/write/schema-values.ts';
import type { Project } from '../../../projects/project.ts';
import { findById } from '../../account-store.ts';
import { userAccounts } from '../../stores/users.ts';
import { profileFields, type UserRecord } from '../user-record.ts';
import { type UserView, userView } from '../user-view.ts';

/** An end user as the developer of the project sees them (contract 6, "Records"). */
export interface ManagedUser extends UserView {
  readonly disabled: boolean;
}

/** A user record as the dashboard shows it. */
export const toManagedUser = (users: Collection, record: UserRecord): ManagedUser => ({
  ...userView(users, record),
  disabled: record.isDisabled === true,
});

/** The `users` collection as it is now, whether or not accounts are turned on; none → 404 `COLLECTION_NOT_FOUND`. */
export const usersOf = (project: Project): Promise<Collection> => loadCollection(project, usersCollection);

/** The user with an id; unknown or malformed → 404 `USER_NOT_FOUND`. */
export const requireUser = async (project: Project, id: string): Promise<UserRecord> => {
  const record = await findById(userAccounts(project), id);
  if (!record) throw new AppError('USER_NOT_FOUND', 'User not found');
  return record;
};

/**
 * Refuses fields that are neither of the schema nor among `others`: 400 `VALIDATION_FAILED`, as in every dashboard
 * body.
 */
export const requireKnownFields = (users: Collection, body: JsonObject, others: readonly string[]): void => {
  const known = new Set([...others, ...profileFields(users).map(({ key }) => key)]);
  const errors = Object.keys(body)
    .filter((name) => !known.has(name.split('.', 1)[0] ?? ''))
    .map((name) => ({ field: name.slice(0, 200), message: `${name.slice(0, 200)} is not a known field` }));
  if (errors.length > 0) throw validationFailed(errors);
};
