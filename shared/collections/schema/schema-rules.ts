import { allFields, type Field, type ValueType } from '../collection.ts';
import { requireIndexRoom } from '../indexes/indexes.ts';
import { isCollectionName } from './collection-name.ts';
import { requireFieldKey } from './field-key.ts';
import { FieldShape, ItemsShape, keyOf, parseShape, type RawField, type RawItems } from './field-shape.ts';
import { fieldTypes, isScalar, listTypes, withArticle } from './field-types.ts';
import { scalarRules } from './scalar-values.ts';
import { schemaError } from './schema-error.ts';
import { requireSearchable } from './search-rules.ts';

const maxFields = 100;
const maxLevels = 8;
/** Each function that serves a collection has its schema in memory. */
const maxFieldsInAll = 2000;

const join = (parent: string, key: string): string => (parent ? `${parent}.${key}` : key);

const refuseMisplaced = (raw: RawItems | RawField, path: string): void => {
  if (raw.ref != null && raw.type !== 'Ref') throw schemaError(path, 'has a ref, which only a Ref may have');
  if (raw.items != null && raw.type !== 'Array') throw schemaError(path, 'has items, which only an Array may have');
  if (raw.fields?.length && raw.type !== 'Object') throw schemaError(path, 'has fields, which only an Object may have');
};

const parseRef = (ref: string | null | undefined, path: string): string => {
  if (ref == null) throw schemaError(path, 'needs a ref: the name of the collection it points into');
  if (!isCollectionName(ref)) throw schemaError(path, 'has a ref that cannot be the name of a collection');
  return ref;
};

const parseDetails = (raw: RawItems | RawField, path: string, level: number): ValueType => {
  refuseMisplaced(raw, path);
  const { type, items, fields } = raw;
  if (type === 'Ref') return { type, ref: parseRef(raw.ref, path) };
  if (items != null) return { type, items: parseItems(items, join(path, 'items'), level + 1) };
  if (fields?.length) return { type, fields: parseFields(fields, path, level + 1) };
  return { type };
};

const parseItems = (value: unknown, path: string, level: number): ValueType => {
  if (level > maxLevels) throw schemaError(path, `is nested more than ${maxLevels} levels deep`);
  return parseDetails(parseShape(ItemsShape, value, path), path, level);
};

const parseDefault = ({ type, default: value }: RawField, path: string): string | number | boolean => {
  if (!isScalar(type) || !fieldTypes[type].default) {
    const takers = listTypes((rules) => rules.default, 'or');
    throw schemaError(path, `has a default, which only a ${takers} may have`);
  }
  if (scalarRules[type].fromJson(value) !== undefined) return value as string | number | boolean;
  throw schemaError(path, `has a default that is not ${withArticle(type)}`);
};

const parseField = (value: unknown, parent: string, position: number, level: number): Field => {
  const key = keyOf(value);
  const path = key ? join(parent, key) : `${parent ? `${parent}.fields` : 'schema'}.${position}`;
  const raw = parseShape(FieldShape, value, path);
  requireFieldKey(raw.key, path, level === 1);
  if (raw.unique && level > 1) throw schemaError(path, 'is unique, which only a field of the top level may be');
  if (raw.unique && !fieldTypes[raw.type].unique) throw schemaError(path, `is unique, which no ${raw.type} may be`);
  if (raw.uniquePer && !raw.unique) throw schemaError(path, 'has uniquePer, which only a unique field may have');
  if (raw.searchable && level > 1) throw schemaError(path, 'is searchable, which only a field of the top level may be');
  return {
    key: raw.key,
    required: raw.required,
    unique: raw.unique,
    ...(raw.uniquePer && { uniquePer: raw.uniquePer }),
    // A required field is never absent, so a default would never be used (specification, "default").
    ...(raw.default == null || raw.required ? {} : { default: parseDefault(raw, path) }),
    ...(raw.searchable && { searchable: true as const }),
    ...parseDetails(raw, path, level),
  };
};

const parseFields = (values: readonly unknown[], parent: string, level: number): Field[] => {
  if (level > maxLevels) throw schemaError(parent, `is nested more than ${maxLevels} levels deep`);
  if (values.length > maxFields) throw schemaError(parent || 'schema', `has more than ${maxFields} fields`);
  const fields = values.map((value, position) => parseField(value, parent, position, level));
  const seen = new Set<string>();
  for (const { key } of fields) {
    if (seen.has(key)) throw schemaError(join(parent, key), 'is defined twice');
    seen.add(key);
  }
  return fields;
};

/**
 * Reads a schema as a developer writes it: a list of fields, or `null` for a collection that takes any JSON object.
 * Fills defaults in, so that what is stored is complete. Anything that breaks a rule of the specification's "Collection
 * schema" or contract 2 → 400 `INVALID_SCHEMA` naming the field by its dot path.
 */
export const parseSchema = (value: unknown): readonly Field[] | null => {
  if (value === null) return null;
  if (!Array.isArray(value)) throw schemaError('', 'schema must be a list of fields, or null for any JSON object');
  if (value.length === 0) throw schemaError('', 'At least one field is required');
  const fields = parseFields(value, '', 1);
  if (allFields(fields).length > maxFieldsInAll)
    throw schemaError('', `schema has more than ${maxFieldsInAll} fields in all`);
  requireIndexRoom(fields);
  requireSearchable(fields);
  return fields;
};
