import { cutText } from '../../core/bounded-text.ts';
import { systemFields } from '../collection.ts';
import { schemaError } from './schema-error.ts';

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
