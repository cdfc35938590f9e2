import { type Collection, isHiddenPath } from '../../collections/collection.ts';
import { type FieldType, withArticle } from '../../collections/schema/field-types.ts';
import { typeAt } from '../read/field-at.ts';
import { isFieldPath } from '../read/field-path.ts';
import { invalidFilter } from './filter.ts';

/** Fields by which nobody can filter, since another parameter decides about them. */
const trashFields: ReadonlySet<string> = new Set(['isDeleted', 'deletedAt']);

/**
 * Refuses what names no field, or one that documents cannot be filtered by. `at`: how the caller wrote it; `inElement`:
 * a field of an element of an array, which may have any name.
 */
export const requireFilterPath = (at: string, path: string, inElement = false): void => {
  if (!isFieldPath(path)) throw invalidFilter(at, 'this is not a field name.');
  if (inElement) return;
  if (isHiddenPath(path)) throw invalidFilter(at, 'documents cannot be filtered by it.');
  if (trashFields.has(path.split('.')[0] ?? '')) {
    throw invalidFilter(at, 'documents cannot be filtered by it. Use include_deleted=true to see the trash.');
  }
};

/** What values at a path are compared as: on arrays an element is enough, so it is theirs. `undefined`: anything. */
export const comparedTypeAt = (collection: Collection, path: string): FieldType | undefined => {
  const at = typeAt(collection, path);
  const type = at?.type === 'Array' ? at.items?.type : at?.type;
  return type === 'Array' ? undefined : type;
};

/** Whether any text is a value of a type: `null` too, and what patterns match. */
export const isText = (type: FieldType): boolean => type === 'String';

/** Refuses to look for a text in what the schema says is none. `operator`: as the caller wrote it. */
export const requireText = (at: string, operator: string, type: FieldType | undefined): void => {
  if (type === undefined || isText(type)) return;
  throw invalidFilter(at, `${operator} works on text; this is ${withArticle(type)}.`);
};
