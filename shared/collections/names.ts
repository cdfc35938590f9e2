import { AppError } from '../core/errors.ts';
import { cutText } from '../core/text.ts';
import { systemFields } from './collection.ts';

export const collectionNameShape = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/;

export const usersCollection = 'users';

/** True for every name that begins with `users` in any case; document routes never use such names. */
export const isUsersName = (name: string): boolean => name.toLowerCase().startsWith(usersCollection);

export const isCollectionName = (name: string): boolean => {
  if (isUsersName(name)) return name === usersCollection;
  return collectionNameShape.test(name) && !name.toLowerCase().startsWith('system');
};

/** 400 `INVALID_SCHEMA`. An empty path means the whole schema. */
export const schemaError = (path: string, message: string): AppError => {
  const text = path ? `${path} ${message}` : message;
  return new AppError('INVALID_SCHEMA', text, { errors: [{ field: path || 'schema', message: text }] });
};

/** JavaScript or the database driver treat these specially. */
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

/** Throws 400 `INVALID_SCHEMA` for names that cannot be stored, and for system fields at the top level. */
export const requireFieldKey = (key: string, path: string, topLevel: boolean): void => {
  const reason = reasonAgainst(key) ?? (topLevel && systemFields.has(key) ? 'is written by the service' : undefined);
  if (reason) throw schemaError(cutText(path, 200), reason);
};
