import type { Collection, Field } from '../collections/collection.ts';
import { oncePer } from '../core/once-per.ts';

/**
 * The fields that are enforced in a collection: its schema and, under row security, the owner field as an implied
 * `String` (whatever the schema makes of it). Worked out once for a collection object; empty where anything goes.
 */
export const fieldsOf = oncePer(({ schema, rls }: Collection): readonly Field[] => {
  const fields = schema ?? [];
  if (!rls.enabled) return fields;
  const required = fields.some(({ key, required }) => key === rls.ownerField && required);
  const owner: Field = { key: rls.ownerField, type: 'String', required, unique: false };
  return [...fields.filter(({ key }) => key !== rls.ownerField), owner];
});
