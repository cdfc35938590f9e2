import type { IndexDescription } from 'mongodb';
import * as v from 'valibot';
import { memoizeByObject } from '../../core/cache.ts';
import type { Collection, Field, ValueType } from '../collection.ts';
import { schemaError } from '../names.ts';
import { fieldsOf } from './field-path.ts';
import type { FieldType } from './field-types.ts';

/** What may happen to a document when the document that it refers to is deleted. */
export const deleteActions = ['none', 'restrict', 'trash', 'delete', 'unset'] as const;

/** What a schema keeps of it: nothing of the default. */
export type DeleteAction = Exclude<(typeof deleteActions)[number], 'none'>;

/** Options of a `Ref` as sent. */
export const referenceShape = {
  exists: v.optional(v.nullable(v.boolean('must have true or false as exists'))),
  onDelete: v.optional(
    v.nullable(v.picklist(deleteActions, `must have one of ${deleteActions.join(', ')} as onDelete`)),
  ),
};

type RawReference = { readonly [Name in keyof typeof referenceShape]?: v.InferOutput<(typeof referenceShape)[Name]> };

/** The options of a `Ref`; of any other type → 400 `INVALID_SCHEMA`. */
export const parseReference = (
  { exists, onDelete, required }: RawReference & { readonly required?: boolean },
  type: FieldType,
  path: string,
): Pick<ValueType, 'exists' | 'onDelete'> => {
  if (exists != null && type !== 'Ref') throw schemaError(path, 'has exists, which only a Ref may have');
  if (onDelete != null && type !== 'Ref') throw schemaError(path, 'has onDelete, which only a Ref may have');
  if (onDelete === 'unset' && required) {
    throw schemaError(
      path,
      'is required, so onDelete cannot be "unset". Choose another onDelete, or do not require it',
    );
  }
  return { ...(exists && { exists: true as const }), ...(onDelete != null && onDelete !== 'none' && { onDelete }) };
};

const checkedBy = ({ exists, ref, items, fields = [] }: ValueType): readonly string[] => [
  ...(exists && ref !== undefined ? [ref] : []),
  ...(items ? checkedBy(items) : []),
  ...fields.flatMap(checkedBy),
];

/** The collections of the documents that must exist because a field of a collection, at any depth, refers to them. */
export const checkedTargets = memoizeByObject(
  (collection: Collection): ReadonlySet<string> => new Set(fieldsOf(collection).flatMap(checkedBy)),
);

/** Whether a field of a collection, at any depth, refers to documents that must exist. */
export const checksReferences = (collection: Collection): boolean => checkedTargets(collection).size > 0;

/** A `Ref` that says what happens when its document is deleted. */
export interface DeletionRef {
  /** By which MongoDB finds it, through arrays too. */
  readonly path: string;
  /** The collection that it points into. */
  readonly ref: string;
  readonly onDelete: DeleteAction;
  /** The keys on the way to it; an array on that way is itself one of them. */
  readonly steps: readonly { readonly key: string; readonly isArray: boolean }[];
}

const stepsTo = (at: ValueType, steps: DeletionRef['steps'], isElement: boolean): readonly DeletionRef[] => {
  const path = steps.map(({ key }) => key).join('.');
  if (at.type === 'Ref') {
    return at.onDelete && at.ref !== undefined ? [{ path, ref: at.ref, onDelete: at.onDelete, steps }] : [];
  }
  if (at.items) {
    const here = steps.map((step, index) => (index === steps.length - 1 ? { ...step, isArray: true } : step));
    const found = stepsTo(at.items, here, true);
    // MongoDB finds elements of an array, not those of an array in it.
    if (isElement && found.length > 0)
      throw schemaError(path, 'has onDelete in an array of arrays, which is not allowed');
    return found;
  }
  return (at.fields ?? []).flatMap((field) => stepsTo(field, [...steps, { key: field.key, isArray: false }], false));
};

const refsOf = (fields: readonly Field[]): readonly DeletionRef[] =>
  fields.flatMap((field) => stepsTo(field, [{ key: field.key, isArray: false }], false));

const refsIn = memoizeByObject(({ schema }: Pick<Collection, 'schema'>) => refsOf(schema ?? []));

/** The references of a collection that say what happens when their document is deleted. */
export const deletionRefs = (collection: Pick<Collection, 'schema'>): readonly DeletionRef[] => refsIn(collection);

/** Accounts end by their users or by developers: 400 `INVALID_SCHEMA` for a reference in `users` that would end them. */
export const requireUsersStay = (schema: readonly Field[] | null): void => {
  const ending = deletionRefs({ schema }).find(({ onDelete }) => onDelete === 'trash' || onDelete === 'delete');
  if (ending) {
    throw schemaError(ending.path, `has onDelete "${ending.onDelete}"; in users it may be restrict or unset`);
  }
};

/**
 * Find the documents that refer to one: for `restrict` the active ones, otherwise those in the trash too. Lists of users
 * need no such index, as they have one for each Ref.
 */
export const referenceIndexes = (collection: Pick<Collection, 'schema'>): readonly IndexDescription[] =>
  deletionRefs(collection).map(({ path, onDelete }) =>
    onDelete === 'restrict'
      ? { name: `basalt_ref_${path}`, key: { [path]: 1 }, partialFilterExpression: { deletedAt: null } }
      : {
          name: `basalt_refs_${path}`,
          key: { [path]: 1, deletedAt: 1 },
          partialFilterExpression: { [path]: { $exists: true } },
        },
  );
