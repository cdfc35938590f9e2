import type { Collection, Field, ValueType } from '../../collections/collection.ts';
import { fieldTypes } from '../../collections/schema/field-types.ts';
import { insertedFields, shownFields } from '../../documents/types/shown-fields.ts';
import type { JsonSchema } from './json-schema.ts';

const id = fieldTypes.Ref.json;
const time = fieldTypes.Date.json;
const anything: JsonSchema = { description: 'Any JSON value.' };

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
  const { json } = fieldTypes[value.type];
  return value.ref ? { ...json, description: `Id of a document of ${value.ref}.` } : json;
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

/** Whether a reference is in it, in whose place a reader may ask for the document. */
const hasRef = ({ type, items, fields = [] }: ValueType): boolean =>
  type === 'Ref' || (items !== undefined && hasRef(items)) || fields.some(hasRef);

const orPopulated = (field: Field): JsonSchema =>
  hasRef(field) ? { description: 'As in a document, or with documents in the place of ids.' } : fieldSchema(field);

type Part = 'document' | 'populated' | 'listed' | 'insert' | 'update';

/**
 * Documents of a collection as JSON schemas: as they are written, read one by one, listed (whole or some fields of
 * them), inserted and changed.
 */
export const collectionSchemas = (collection: Collection): Readonly<Record<Part, JsonSchema>> => {
  const shown = shownFields(collection);
  const read = objectOf(shown);
  const required = [...Object.keys(written), ...((read.required as readonly string[] | undefined) ?? [])];
  const update = { ...read, minProperties: 1 };
  const populated = {
    ...read,
    properties: { ...written, ...Object.fromEntries(shown.map((field) => [field.key, orPopulated(field)])) },
    required,
  };
  return {
    document: { ...read, properties: { ...written, ...(read.properties as JsonSchema) }, required },
    populated,
    listed: { ...populated, required: ['_id'] },
    insert: objectOf(insertedFields(collection)),
    update: { ...update, required: undefined, description: 'The fields to change; dotted names reach inside.' },
  };
};
