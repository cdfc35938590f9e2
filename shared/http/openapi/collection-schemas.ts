import type { Collection, Field, ValueType } from '../../collections/collection.ts';
import type { ScalarType } from '../../collections/schema/field-types.ts';
import { insertedFields, shownFields } from '../../documents/types/shown-fields.ts';
import type { JsonSchema } from './json-schema.ts';

const id = { type: 'string', pattern: '^[0-9a-fA-F]{24}$' } as const;
const time = { type: 'string', format: 'date-time' } as const;
const anything: JsonSchema = { description: 'Any JSON value.' };

const scalars: Readonly<Record<ScalarType, JsonSchema>> = {
  String: { type: 'string' },
  Number: { type: 'number' },
  Boolean: { type: 'boolean' },
  Date: time,
  Ref: id,
};

const objectOf = (fields: readonly Field[]): JsonSchema => {
  const required = fields.filter((field) => field.required).map(({ key }) => key);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.key, fieldSchema(field)])),
    ...(required.length > 0 && { required }),
    additionalProperties: true,
  };
};

const valueSchema = (value: ValueType): JsonSchema => {
  if (value.type === 'Array') return { type: 'array', items: value.items ? valueSchema(value.items) : anything };
  if (value.type === 'Object') return objectOf(value.fields ?? []);
  return value.ref ? { ...scalars[value.type], description: `Id of a document of ${value.ref}.` } : scalars[value.type];
};

/** What is optional may be `null` besides. */
const fieldSchema = (field: Field): JsonSchema => {
  const schema = valueSchema(field);
  return {
    ...schema,
    ...(!field.required && { type: [schema.type, 'null'] }),
    ...(field.default !== undefined && { default: field.default }),
  };
};

const written: JsonSchema = {
  _id: id,
  isDeleted: { type: 'boolean' },
  deletedAt: { ...time, type: ['string', 'null'] },
  createdAt: time,
  updatedAt: time,
};

type Part = 'document' | 'insert' | 'update';

/** Documents of a collection as they are read, inserted and changed, as JSON schemas. */
export const collectionSchemas = (collection: Collection): Readonly<Record<Part, JsonSchema>> => {
  const read = objectOf(shownFields(collection));
  const required = [...Object.keys(written), ...((read.required as readonly string[] | undefined) ?? [])];
  const update = { ...objectOf(shownFields(collection)), minProperties: 1 };
  return {
    document: { ...read, properties: { ...written, ...(read.properties as JsonSchema) }, required },
    insert: objectOf(insertedFields(collection)),
    update: { ...update, required: undefined, description: 'The fields to change; dotted names reach inside.' },
  };
};
