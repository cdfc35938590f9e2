import type { Collection, Field, ValueType } from './collection.ts';

/** About what a parsed field takes of memory, in bytes, besides its texts. */
const fieldBytes = 150;

const itemsBytes = ({ items, fields }: ValueType): number =>
  (items ? itemsBytes(items) : 0) + fieldsBytes(fields ?? []);

const fieldsBytes = (fields: readonly Field[]): number =>
  fields.reduce((sum, field) => sum + fieldBytes + String(field.default ?? '').length + itemsBytes(field), 0);

/** About how many bytes of memory a collection takes that a process remembers: nearly all of it is the schema. */
export const collectionBytes = ({ schema }: Collection): number => fieldBytes + fieldsBytes(schema ?? []);

/** How many bytes of collections one cache of a process may remember. */
export const mostCollectionBytes = 24 * 1024 * 1024;
