import type { IndexDescription } from 'mongodb';
import * as v from 'valibot';
import { memoizeByObject } from '../../core/cache.ts';
import type { Collection, Field, ValueType } from '../collection.ts';
import { schemaError } from '../names.ts';
import { fieldsOf } from './field-path.ts';
import type { FieldType } from './field-types.ts';

/** What may happen to a document when the document that it refers to is deleted. */
export const deleteActions = ['none', 'restrict'] as const;

/** Options of a `Ref` as sent. */
export const referenceShape = {
  exists: v.optional(v.nullable(v.boolean('must have true or false as exists'))),
  onDelete: v.optional(v.nullable(v.picklist(deleteActions, 'must have "none" or "restrict" as onDelete'))),
};

type RawReference = { readonly [Name in keyof typeof referenceShape]?: v.InferOutput<(typeof referenceShape)[Name]> };

/** The options of a `Ref`; of any other type → 400 `INVALID_SCHEMA`. */
export const parseReference = (
  { exists, onDelete }: RawReference,
  type: FieldType,
  path: string,
): Pick<ValueType, 'exists' | 'onDelete'> => {
  if (exists != null && type !== 'Ref') throw schemaError(path, 'has exists, which only a Ref may have');
  if (onDelete != null && type !== 'Ref') throw schemaError(path, 'has onDelete, which only a Ref may have');
  return { ...(exists && { exists: true as const }), ...(onDelete === 'restrict' && { onDelete }) };
};

const isChecked = ({ exists, items, fields = [] }: ValueType): boolean =>
  exists === true || (items !== undefined && isChecked(items)) || fields.some(isChecked);

const checkedIn = memoizeByObject((collection: Collection) => ({ some: fieldsOf(collection).some(isChecked) }));

/** Whether a field of a collection, at any depth, refers to documents that must exist. */
export const checksReferences = (collection: Collection): boolean => checkedIn(collection).some;

/** A `Ref` whose document may not be deleted: the path by which MongoDB finds it, through arrays too. */
export interface RestrictedRef {
  readonly path: string;
  readonly ref: string;
}

const restrictedIn = (at: ValueType, path: string, isElement: boolean): readonly RestrictedRef[] => {
  if (at.type === 'Ref') return at.onDelete && at.ref !== undefined ? [{ path, ref: at.ref }] : [];
  if (at.items) {
    const found = restrictedIn(at.items, path, true);
    // MongoDB finds elements of an array, not those of an array in it.
    if (isElement && found.length > 0)
      throw schemaError(path, 'has onDelete in an array of arrays, where it cannot be');
    return found;
  }
  return (at.fields ?? []).flatMap((field) => restrictedIn(field, `${path}.${field.key}`, false));
};

const refsOf = (fields: readonly Field[]): readonly RestrictedRef[] =>
  fields.flatMap((field) => restrictedIn(field, field.key, false));

const refsIn = memoizeByObject(({ schema }: Pick<Collection, 'schema'>) => refsOf(schema ?? []));

/** The references of a collection that keep documents from being deleted. */
export const restrictedRefs = (collection: Pick<Collection, 'schema'>): readonly RestrictedRef[] => refsIn(collection);

/** Find the active documents that refer to one; lists of users do not choose them, as they do not name `deletedAt`. */
export const referenceIndexes = (collection: Pick<Collection, 'schema'>): readonly IndexDescription[] =>
  restrictedRefs(collection).map(({ path }) => ({
    name: `basalt_ref_${path}`,
    key: { [path]: 1 },
    partialFilterExpression: { deletedAt: null },
  }));
