import type { Field } from '../collection.ts';
import { schemaError, usersCollection } from '../names.ts';

/**
 * The field whose values separate the changes of a collection, or none. Throws 400 `INVALID_SCHEMA` unless it is a
 * top-level `String` or `Ref` of the schema.
 */
export const parsePartition = (name: string, schema: readonly Field[] | null, given: unknown): string | undefined => {
  if (given === undefined || given === null) return undefined;
  if (name === usersCollection) throw schemaError('partition', 'is not possible for users, which have no changes feed');
  const field = schema?.find(({ key }) => key === given);
  if (field?.type !== 'String' && field?.type !== 'Ref') {
    throw schemaError('partition', 'must be the name of a field at the top of the schema, a String or a Ref');
  }
  if (field.onDelete === 'unset') {
    throw schemaError('partition', `is required, so "${field.key}" cannot have "onDelete": "unset"`);
  }
  return field.key;
};

/** The fields as documents must have them: the partition is required. */
export const withRequired = (
  schema: readonly Field[] | null,
  partition: string | undefined,
): readonly Field[] | null => {
  if (partition === undefined || !schema) return schema;
  return schema.map(({ default: fallback, ...field }) =>
    field.key === partition
      ? { ...field, required: true }
      : { ...field, ...(fallback !== undefined && { default: fallback }) },
  );
};
