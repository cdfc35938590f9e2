import type { Field } from './collection.ts';
import { schemaError } from './schema-error.ts';

const requireString = (fields: readonly Field[], key: string): void => {
  const field = fields.find((candidate) => candidate.key === key);
  if (field?.type !== 'String' || !field.required) {
    throw schemaError(key, 'must be a required String: the users collection needs email and password');
  }
};

/**
 * The schema of the `users` collection: it needs required `String` fields `email` and `password`; `email` is unique whether
 * or not that was asked for. Anything else → 400 `INVALID_SCHEMA`.
 */
export const toUsersSchema = (schema: readonly Field[] | null): readonly Field[] => {
  if (schema === null) throw schemaError('', 'The users collection needs a schema with email and password');
  requireString(schema, 'email');
  requireString(schema, 'password');
  if (schema.some(({ key, unique }) => key === 'password' && unique)) {
    throw schemaError('password', 'is unique, which a password may not be');
  }
  return schema.map((field) => (field.key === 'email' ? { ...field, unique: true } : field));
};
