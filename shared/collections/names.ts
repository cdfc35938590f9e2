import { AppError } from '../core/errors.ts';
import { cutText } from '../core/text.ts';
import { systemFields } from './collection.ts';

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

/** 400 `INVALID_SCHEMA` for one field, named by its dot path; an empty path stands for the schema as a whole. */
export const schemaError = (path: string, message: string): AppError => {
  const text = path ? `${path} ${message}` : message;
  return new AppError('INVALID_SCHEMA', text, { errors: [{ field: path || 'schema', message: text }] });
};

/** Names that JavaScript or the database driver reads in their own way. */
export const unsafeNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype', '_bsontype']);

const reasonAgainst = (key: string): string | undefined => {
  if (key === '') return 'has an empty name';
  if (key.length > 64) return 'has a name of more than 64 characters';
  if (key.includes('.')) return 'has a . in its name';
  if (key.startsWith('$')) return 'has a name that begins with $';
  if (key.includes('\0')) return 'has a NUL character in its name';
  if (!key.isWellFormed()) return 'has a name that is not well-formed Unicode';
  return unsafeNames.has(key) ? 'has a reserved name' : undefined;
};

/** Refuses a name that cannot be stored or addressed, and system fields at the top level: 400 `INVALID_SCHEMA`. */
export const requireFieldKey = (key: string, path: string, topLevel: boolean): void => {
  const reason = reasonAgainst(key) ?? (topLevel && systemFields.has(key) ? 'is written by the service' : undefined);
  if (reason) throw schemaError(cutText(path, 200), reason);
};
