import { systemFields } from '../../collections/collection.ts';
import { cutText } from '../../core/bounded-text.ts';
import { AppError } from '../../core/errors.ts';
import type { JsonObject } from '../document.ts';
import { isJsonObject } from './schema-values.ts';

const refuse = (path: string, reason: string): never => {
  const field = cutText(path.replaceAll('\0', '\\0'), 200);
  throw new AppError('INVALID_BODY', `The field name "${field}" ${reason}.`, {
    errors: [{ field, message: reason }],
  });
};

/** The driver reads such an object as a reference and cuts its `$ref` in two. */
const changesWhenRead = (object: JsonObject): boolean =>
  Object.hasOwn(object, '$id') &&
  object.$id !== null &&
  Object.hasOwn(object, '$ref') &&
  typeof object.$ref === 'string' &&
  object.$ref.split('.').length === 2;

const requireName = (name: string, path: string): void => {
  if (name === '') refuse(path, 'is empty, or ends with an empty name');
  if (name.includes('\0')) refuse(path, 'contains a NUL character');
};

const requireNames = (value: unknown, path: string): void => {
  if (Array.isArray(value)) {
    value.forEach((element, position) => {
      if (typeof element === 'object') requireNames(element, `${path}.${position}`);
    });
  } else if (isJsonObject(value)) {
    if (changesWhenRead(value)) refuse(`${path}.$ref`, 'holds a database reference with a dot, which cannot be stored');
    for (const [name, inner] of Object.entries(value)) {
      const innerPath = `${path}.${name}`;
      requireName(name, innerPath);
      if (name.includes('.')) refuse(innerPath, 'contains a dot, which separates the names of a path');
      if (typeof inner === 'object') requireNames(inner, innerPath);
    }
  }
};

/** `$set`, `_id`, `deletedAt.x`: what a caller may send along but never writes. */
const isIgnored = (key: string): boolean => key.startsWith('$') || systemFields.has(key.split('.', 1)[0] ?? '');

const sanitized = (body: JsonObject, dotted: boolean): JsonObject => {
  const kept = Object.entries(body).filter(([key]) => !isIgnored(key));
  for (const [key, value] of kept) {
    requireName(key, key);
    if (!dotted && key.includes('.')) refuse(key, 'contains a dot, which separates the names of a path');
    requireNames(value, key);
  }
  return kept.length === Object.keys(body).length ? body : Object.fromEntries(kept);
};

/**
 * The fields of a new document: without top-level `$` keys and system fields, which are dropped silently. A dot in a
 * name at any depth, an empty name, a NUL → 400 `INVALID_BODY` naming it. Contract 2, "Insert".
 */
export const sanitizeInsert = (body: JsonObject): JsonObject => sanitized(body, false);

/** The same for a change of a document, whose top-level keys may be dotted paths. */
export const sanitizeUpdate = (body: JsonObject): JsonObject => sanitized(body, true);
