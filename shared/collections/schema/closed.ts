import { type FieldError, maxErrors, validationFailed } from '../../core/errors.ts';
import { isPlainObject } from '../../core/json.ts';
import { cutText } from '../../core/text.ts';
import type { Collection, Field, ValueType } from '../collection.ts';
import { fieldAt, fieldsOf, isUnknownPath } from './field-path.ts';

type Named = Pick<Collection, 'name'>;

const maxNamed = 200;

const unknownField = ({ name }: Named, path: string): FieldError => {
  const field = cutText(path, maxNamed, '…');
  return { field, message: `${field} is not a field of "${name}"` };
};

const inValue = (at: ValueType, value: unknown, path: string, found: string[]): void => {
  if (at.fields && isPlainObject(value)) inObject(at.fields, value, `${path}.`, found);
  if (!at.items || !Array.isArray(value)) return;
  for (const [position, element] of value.entries()) inValue(at.items, element, `${path}.${position}`, found);
};

const inObject = (
  fields: readonly Field[],
  object: Readonly<Record<string, unknown>>,
  prefix: string,
  found: string[],
): void => {
  for (const [key, value] of Object.entries(object)) {
    if (found.length >= maxErrors) return;
    const field = fields.find((candidate) => candidate.key === key);
    if (field) inValue(field, value, prefix + key, found);
    else found.push(prefix + key);
  }
};

/** Errors for fields of a body that a closed collection's schema lacks. */
export const unknownFields = (
  collection: Named & Pick<Collection, 'closed'>,
  fields: readonly Field[],
  body: Readonly<Record<string, unknown>>,
): readonly FieldError[] => {
  if (!collection.closed) return [];
  const found: string[] = [];
  inObject(fields, body, '', found);
  return found.map((path) => unknownField(collection, path));
};

/** Errors for dotted paths of an update that a closed collection's schema lacks. */
export const unknownPaths = (
  collection: Named & Pick<Collection, 'closed'>,
  fields: readonly Field[],
  changes: Readonly<Record<string, unknown>>,
): readonly FieldError[] => {
  if (!collection.closed) return [];
  const found: string[] = [];
  for (const [path, value] of Object.entries(changes)) {
    if (isUnknownPath(fields, path)) found.push(path);
    const at = fieldAt(fields, path);
    if (at) inValue(at, value, path, found);
    if (found.length >= maxErrors) break;
  }
  return found.slice(0, maxErrors).map((path) => unknownField(collection, path));
};

/** Throws 400 `VALIDATION_FAILED` for filters and sorts by fields that a closed collection's schema lacks. */
export const requireKnownPaths = (collection: Collection, paths: Iterable<string>): void => {
  if (!collection.closed) return;
  const fields = fieldsOf(collection);
  const unknown = [...new Set(paths)].filter((path) => isUnknownPath(fields, path)).slice(0, maxErrors);
  if (unknown.length > 0) throw validationFailed(...unknown.map((path) => unknownField(collection, path)));
};
