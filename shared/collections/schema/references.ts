import * as v from 'valibot';
import { memoizeByObject } from '../../core/cache.ts';
import type { Collection, ValueType } from '../collection.ts';
import { schemaError } from '../names.ts';
import { fieldsOf } from './field-path.ts';
import type { FieldType } from './field-types.ts';

/** Options of a `Ref` as sent. */
export const referenceShape = {
  exists: v.optional(v.nullable(v.boolean('must have true or false as exists'))),
};

type RawReference = { readonly [Name in keyof typeof referenceShape]?: boolean | null | undefined };

/** The options of a `Ref`; of any other type → 400 `INVALID_SCHEMA`. */
export const parseReference = ({ exists }: RawReference, type: FieldType, path: string): Pick<ValueType, 'exists'> => {
  if (exists != null && type !== 'Ref') throw schemaError(path, 'has exists, which only a Ref may have');
  return exists ? { exists: true } : {};
};

const isChecked = ({ exists, items, fields = [] }: ValueType): boolean =>
  exists === true || (items !== undefined && isChecked(items)) || fields.some(isChecked);

const checkedIn = memoizeByObject((collection: Collection) => ({ some: fieldsOf(collection).some(isChecked) }));

/** Whether a field of a collection, at any depth, refers to documents that must exist. */
export const checksReferences = (collection: Collection): boolean => checkedIn(collection).some;
