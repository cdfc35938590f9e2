import type { Collection, Field } from '../../../shared/collections/collection.ts';
import { usersCollection } from '../../../shared/collections/names.ts';
import { fieldsOf } from '../../../shared/collections/schema/field-path.ts';
import type { FieldType } from '../../../shared/collections/schema/field-types.ts';
import { memoizeByObject } from '../../../shared/core/cache.ts';
import type { Data } from '../../api/rows.ts';
import type { Draft } from './document-draft.ts';

/** A field as the form shows it: of the schema, or another one that the document has. */
export interface ShownField {
  readonly key: string;
  /** `Any` if the type is not known. */
  readonly type: FieldType | 'Any';
  readonly required: boolean;
  readonly ref?: string;
  /** The field in the schema, if it is there. */
  readonly rules?: Field;
}

const typeNow = (value: unknown): ShownField['type'] => {
  if (typeof value === 'string') return 'String';
  if (typeof value === 'number') return 'Number';
  if (typeof value === 'boolean') return 'Boolean';
  return 'Any';
};

const rulesOf = new WeakMap<object, readonly Field[]>();

/** A collection as the service's own checks need it: the owner field is '' instead of null. */
export const collectionOf = memoizeByObject(
  (collection: Data<'get-collection'>): Collection =>
    ({ ...collection, rls: { ...collection.rls, ownerField: collection.rls.ownerField ?? '' } }) as Collection,
);

/** The fields that the service validates, including the owner field of row security, which names a user. */
export const enforcedFields = (collection: Data<'get-collection'>): readonly Field[] => {
  const { ownerField } = collection.rls;
  const known =
    rulesOf.get(collection) ??
    fieldsOf(collectionOf(collection)).map((field) =>
      field.key === ownerField && field.type === 'String' ? { ...field, ref: usersCollection } : field,
    );
  rulesOf.set(collection, known);
  return known;
};

/** The fields of a form: those of the schema in order, then the others in the draft. */
export const shownFields = (rules: readonly Field[], { base, value }: Draft): readonly ShownField[] => {
  const named = new Set(rules.map(({ key }) => key));
  const others = new Set([...Object.keys(base), ...Object.keys(value)].filter((key) => !named.has(key)));
  return [
    ...rules.map((field) => ({
      key: field.key,
      type: field.type,
      required: field.required,
      rules: field,
      ...(field.ref === undefined ? {} : { ref: field.ref }),
    })),
    ...[...others].map((key) => ({ key, type: typeNow(base[key] ?? value[key]), required: false })),
  ];
};
