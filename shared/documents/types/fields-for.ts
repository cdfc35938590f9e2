import type { Collection, Field, ValueType } from '../../collections/collection.ts';
import { rightsOf } from '../../collections/schema/field-rights.ts';
import type { KeyKind } from '../../projects/project.ts';

/** What a description of fields is for. */
type Use = 'read' | 'insert' | 'update';

const isAbsent = ({ write, read }: Field, use: Use): boolean => (use === 'read' ? read : write) === 'server';

const isOptional = ({ read, write, default: fallback }: Field, use: Use): boolean =>
  use === 'read' ? read !== undefined && read !== true : write === 'server' && fallback !== undefined;

const inside = <T extends ValueType>(value: T, keyKind: KeyKind, use: Use): T => ({
  ...value,
  ...(value.items && { items: inside(value.items, keyKind, use) }),
  ...(value.fields && { fields: narrowed(value.fields, keyKind, use) }),
});

const narrowed = (fields: readonly Field[], keyKind: KeyKind, use: Use): readonly Field[] =>
  fields
    .filter((field) => keyKind === 'secret' || !isAbsent(field, use))
    .map((field) => {
      const isOpen = use === 'read' ? keyKind === 'publishable' && isOptional(field, use) : isOptional(field, use);
      return inside(isOpen ? { ...field, required: false } : field, keyKind, use);
    });

/**
 * The fields for a key: without those that only the server reads or sets if it is a publishable key, and optional if
 * they may be missing.
 */
export const fieldsFor = (
  collection: Pick<Collection, 'schema'>,
  fields: readonly Field[],
  keyKind: KeyKind,
  use: Use,
): readonly Field[] => {
  const { written, read } = rightsOf(collection);
  return (use === 'read' ? read : written).length === 0 ? fields : narrowed(fields, keyKind, use);
};
