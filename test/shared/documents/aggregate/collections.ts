import type { Collection, Field } from '../../../../shared/collections/collection.ts';
import type { FieldType } from '../../../../shared/collections/schema/field-types.ts';
import { AppError } from '../../../../shared/core/errors.ts';

const field = (key: string, type: FieldType, more: Partial<Field> = {}): Field => ({
  key,
  type,
  required: false,
  unique: false,
  ...more,
});

const rls = { enabled: false, mode: 'public-read', ownerField: 'userId', trash: 'everyone', requires: 'none' } as const;

/** Anyone may read it; it has a field of every type that a `$match` converts. */
export const posts: Collection = {
  name: 'posts',
  rls,
  schema: [
    field('title', 'String'),
    field('author', 'Ref', { ref: 'people' }),
    field('at', 'Date'),
    field('editors', 'Array', { items: { type: 'Ref', ref: 'people' } }),
    field('meta', 'Object', { fields: [field('seen', 'Date')] }),
    field('notes', 'Array', { items: { type: 'Object', fields: [field('by', 'Ref', { ref: 'people' })] } }),
  ],
};

/** Anyone may read it; it has no schema. */
export const people: Collection = { name: 'people', rls, schema: null };

/** Owners read only their own documents. */
export const todos: Collection = {
  name: 'todos',
  rls: { enabled: true, mode: 'private', ownerField: 'userId', trash: 'everyone', requires: 'none' },
  schema: [field('post', 'Ref', { ref: 'posts' })],
};

/** Returns the code and message of the error that a call throws; fails if it throws no such error. */
export const refusal = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof AppError) return `${error.code} ${error.message}`;
    throw error;
  }
  return 'nothing was refused';
};
