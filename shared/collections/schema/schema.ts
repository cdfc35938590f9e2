import * as v from 'valibot';
import { isPlainObject } from '../../core/json.ts';
import { allFields, type Field, type ValueType } from '../collection.ts';
import { requireIndexRoom } from '../indexes/indexes.ts';
import { isCollectionName, requireFieldKey, schemaError } from '../names.ts';
import { parseRights, requireRights, rightsShape } from './field-rights.ts';
import {
  fieldTypeNames,
  fieldTypes,
  isScalar,
  listTypes,
  requireSearchable,
  scalarRules,
  withArticle,
} from './field-types.ts';
import { boundShapes, parseBounds, requireDefaultInBounds, requireFewPatterns } from './parse-bounds.ts';
import { parseReference, referenceShape } from './references.ts';

const type = v.picklist(fieldTypeNames, `needs a type, one of ${fieldTypeNames.join(', ')}`);
const flag = (name: string) => v.optional(v.nullable(v.boolean(`must have true or false as ${name}`), false), false);

const details = {
  ref: v.optional(v.nullable(v.string('needs the name of a collection as ref'))),
  items: v.optional(v.nullable(v.unknown())),
  fields: v.optional(v.nullable(v.array(v.unknown(), 'needs a list as fields'))),
  ...boundShapes,
  ...referenceShape,
};

/** One level of a definition; `null` means omitted. */
const ItemsShape = v.strictObject({ type, ...details });
/** `items` and `fields` are parsed level by level. */
const FieldShape = v.strictObject({
  key: v.string('needs a key that is a string'),
  type,
  required: flag('required'),
  unique: flag('unique'),
  uniquePer: v.optional(v.nullable(v.literal('owner', 'must have "owner" as uniquePer, or leave it out'))),
  searchable: flag('searchable'),
  ...rightsShape,
  default: v.optional(v.unknown()),
  ...details,
});

type RawItems = v.InferOutput<typeof ItemsShape>;
type RawField = v.InferOutput<typeof FieldShape>;

const keyOf = (value: unknown): string | undefined =>
  isPlainObject(value) && typeof value.key === 'string' ? value.key : undefined;

/** Throws 400 `INVALID_SCHEMA` for missing, ill-typed and unknown properties. */
const parseShape = <S extends typeof ItemsShape | typeof FieldShape>(
  shape: S,
  value: unknown,
  path: string,
): v.InferOutput<S> => {
  if (!isPlainObject(value)) throw schemaError(path, 'must be an object that defines a field');
  const result = v.safeParse(shape, value, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  const property = v.getDotPath(issue);
  if (issue.expected === 'never') throw schemaError(path, `has an unknown property, ${property}`);
  throw schemaError(path, issue.message.startsWith('Invalid key') ? `needs a ${property}` : issue.message);
};

const maxFields = 100;
const maxLevels = 8;
/** Every function that serves a collection has its schema in memory. */
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
  const bounds = parseBounds(raw, type, path);
  const reference = parseReference(raw, type, path);
  if (type === 'Ref') return { type, ref: parseRef(raw.ref, path), ...reference };
  if (items != null) return { type, items: parseItems(items, join(path, 'items'), level + 1), ...bounds };
  if (fields?.length) return { type, fields: parseFields(fields, path, level + 1) };
  return { type, ...bounds };
};

const parseItems = (value: unknown, path: string, level: number): ValueType => {
  if (level > maxLevels) throw schemaError(path, `is nested more than ${maxLevels} levels deep`);
  return parseDetails(parseShape(ItemsShape, value, path), path, level);
};

const parseDefault = (raw: RawField, path: string): string | number | boolean => {
  const { type, default: value } = raw;
  if (!isScalar(type) || !fieldTypes[type].default) {
    const takers = listTypes((rules) => rules.default, 'or');
    throw schemaError(path, `has a default, which only a ${takers} may have`);
  }
  if (scalarRules[type].fromJson(value) === undefined) {
    throw schemaError(path, `has a default that is not ${withArticle(type)}`);
  }
  requireDefaultInBounds(parseBounds(raw, type, path), value, path);
  return value as string | number | boolean;
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
    // A required field never uses its default, unless only the server sends the field.
    ...(raw.default == null || (raw.required && raw.write !== 'server') ? {} : { default: parseDefault(raw, path) }),
    ...(raw.searchable && { searchable: true as const }),
    ...parseRights(raw, path),
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
 * Parses a schema: a list of fields, or `null` for any JSON object. Fills in defaults. Throws 400 `INVALID_SCHEMA`
 * naming the field's dotted path.
 */
export const parseSchema = (value: unknown): readonly Field[] | null => {
  if (value === null) return null;
  if (!Array.isArray(value)) throw schemaError('', 'schema must be a list of fields, or null for any JSON object');
  if (value.length === 0) throw schemaError('', 'At least one field is required');
  requireFewPatterns(value);
  const fields = parseFields(value, '', 1);
  if (allFields(fields).length > maxFieldsInAll)
    throw schemaError('', `schema has more than ${maxFieldsInAll} fields in all`);
  requireIndexRoom(fields);
  requireSearchable(fields);
  requireRights(fields);
  return fields;
};
