import { AppError } from '../../core/errors.ts';

/** What the name of a collection looks like. */
export const collectionNameShape = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/;

/** The reserved collection of user accounts. */
export const usersCollection = 'users';

/** True for `users` and whatever begins so, in any case: no documents are reached by such a name. */
export const isUsersName = (name: string): boolean => name.toLowerCase().startsWith(usersCollection);

/** Whether a text may name a collection: well-formed, and not reserved in any case (contract 2, "Collection name"). */
export const isCollectionName = (name: string): boolean => {
  if (isUsersName(name)) return name === usersCollection;
  return collectionNameShape.test(name) && !name.toLowerCase().startsWith('system');
};

/** Refuses a name that no new collection may have: 400 `INVALID_NAME`. */
export const requireCollectionName = (name: string): void => {
  if (!collectionNameShape.test(name)) {
    throw new AppError(
      'INVALID_NAME',
      'A collection name begins with a letter and has at most 63 letters, digits, _ and -.',
    );
  }
  if (!isCollectionName(name)) {
    throw new AppError(
      'INVALID_NAME',
      'Collection names that begin with users or system are reserved; users itself is for user accounts.',
    );
  }
};
