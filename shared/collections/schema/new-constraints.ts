import type { Field, ValueType } from '../collection.ts';
import { type FieldType, type FieldTypeJson, fieldTypes, withArticle } from './field-types.ts';
import { type Lift, type MongoJsonSchema, newBounds } from './new-bounds.ts';

/** A new requirement on a path: documents that violate `schema` prevent the edit. */
export interface Constraint {
  readonly path: string;
  /** Follows the path in a sentence. */
  readonly message: string;
  readonly schema: MongoJsonSchema;
}

/** The part of the type's JSON schema that MongoDB can check. */
const storedAs = (type: FieldType) => {
  const { json, bsonType } = fieldTypes[type];
  const { type: _type, format: _format, ...form }: FieldTypeJson = json;
  return { ...form, bsonType };
};

const messageOf = (typeIsNew: boolean, requiredIsNew: boolean, type: FieldType): string =>
  [...(requiredIsNew ? ['is required'] : []), ...(typeIsNew ? [`must be ${withArticle(type)}`] : [])].join(' and ');

const ofField = (field: Field, old: Field | undefined, path: string, lift: Lift): Constraint[] => {
  const typeIsNew = old?.type !== field.type;
  const requiredIsNew = field.required && !old?.required;
  if (!typeIsNew && !requiredIsNew) return [];
  const { bsonType, ...form } = storedAs(field.type);
  const value = { ...form, bsonType: field.required ? [bsonType] : [bsonType, 'null'] };
  return [
    {
      path,
      message: messageOf(typeIsNew, requiredIsNew, field.type),
      schema: lift({ properties: { [field.key]: value }, ...(field.required ? { required: [field.key] } : {}) }),
    },
  ];
};

const boundsOf = (field: Field, old: Field | undefined, path: string, lift: Lift): Constraint[] =>
  newBounds(field, old?.type === field.type ? old : undefined).map(({ message, keywords }) => ({
    path,
    message,
    schema: lift({ properties: { [field.key]: keywords } }),
  }));

const inside = (now: ValueType, before: ValueType | undefined, path: string, lift: Lift): Constraint[] => {
  const old = before?.type === now.type ? before : undefined;
  if (now.fields) return ofFields(now.fields, old?.fields ?? [], `${path}.`, lift);
  if (!now.items) return [];
  const { items } = now;
  const liftItem: Lift = (inner) => lift({ items: inner });
  const own =
    old?.items?.type === items.type
      ? []
      : [
          {
            path,
            message: `may only have elements of type ${items.type}`,
            schema: liftItem(storedAs(items.type)),
          },
        ];
  const oldItems = old?.items?.type === items.type ? old.items : undefined;
  const ofBounds = newBounds(items, oldItems).map(({ message, keywords }) => ({
    path,
    message: `may only have elements of which each ${message}`,
    schema: liftItem(keywords),
  }));
  return [...own, ...ofBounds, ...inside(items, old?.items, path, liftItem)];
};

const ofFields = (now: readonly Field[], before: readonly Field[], prefix: string, lift: Lift): Constraint[] =>
  now.flatMap((field) => {
    const old = before.find(({ key }) => key === field.key);
    const path = prefix + field.key;
    return [
      ...ofField(field, old, path, lift),
      ...boundsOf(field, old, path, lift),
      ...inside(field, old, path, (inner) => lift({ properties: { [field.key]: inner } })),
    ];
  });

/**
 * Returns what a new schema requires beyond the old one: types, required fields and bounds at every depth. `null` is a
 * schema without requirements.
 */
export const newConstraints = (now: readonly Field[] | null, before: readonly Field[] | null): readonly Constraint[] =>
  ofFields(now ?? [], before ?? [], '', (inner) => inner);
