import type { Collection, Field, ValueType } from '../../collections/collection.ts';
import { usersCollection } from '../../collections/names.ts';
import { type BoundName, boundKeywords, textFormatNames } from '../../collections/schema/field-bounds.ts';
import { fieldTypeNames, fieldTypes, listTypes } from '../../collections/schema/field-types.ts';
import { deleteActions } from '../../collections/schema/references.ts';
import { fieldsFor } from '../../documents/types/type-text.ts';
import { insertedFields, shownFields } from '../../documents/types/types-text.ts';
import { updateText } from '../../documents/update-text.ts';
import type { KeyKind } from '../../projects/project.ts';
import type { OpenApi, Operation } from './describe-api.ts';
import type { JsonSchema } from './json-schema.ts';
import type { Parameter } from './parameters.ts';

const id = fieldTypes.Ref.json;
const time = fieldTypes.Date.json;
const anything: JsonSchema = { description: 'Any JSON value.' };

/** With `isClosed`, no other fields are allowed. */
const objectOf = (fields: readonly Field[], isClosed: boolean): JsonSchema => {
  const required = fields.filter((field) => field.required).map(({ key }) => key);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.key, fieldSchema(field, isClosed)])),
    ...(required.length > 0 && { required }),
    additionalProperties: !(isClosed && fields.length > 0),
  };
};

const valueSchema = (value: ValueType, isClosed: boolean): JsonSchema => {
  const bounds = boundKeywords(value);
  if (value.type === 'Array')
    return { type: 'array', items: value.items ? valueSchema(value.items, isClosed) : anything, ...bounds };
  if (value.type === 'Object') return objectOf(value.fields ?? [], isClosed);
  const { json } = fieldTypes[value.type];
  return value.ref ? { ...json, description: `Id of a document of ${value.ref}.` } : { ...json, ...bounds };
};

/** Client generators make one type of an `enum`, so a nullable one needs an alternative. */
const orNull = (schema: JsonSchema): JsonSchema =>
  'enum' in schema ? { anyOf: [schema, { type: 'null' }] } : { ...schema, type: [schema.type, 'null'] };

const fieldSchema = (field: Field, isClosed: boolean): JsonSchema => {
  const schema = valueSchema(field, isClosed);
  return {
    ...(field.required ? schema : orNull(schema)),
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

/** True if `populate` can replace a reference in it. */
const hasRef = ({ type, items, fields = [] }: ValueType): boolean =>
  type === 'Ref' || (items !== undefined && hasRef(items)) || fields.some(hasRef);

const orPopulated = (field: Field, isClosed: boolean): JsonSchema =>
  hasRef(field)
    ? { description: 'As in a document, or with documents in the place of ids.' }
    : fieldSchema(field, isClosed);

type Part = 'document' | 'populated' | 'listed' | 'insert' | 'update';

/** JSON schemas of a collection's documents: stored, read one by one, listed, inserted and updated. */
export const collectionSchemas = (collection: Collection, keyKind: KeyKind): Readonly<Record<Part, JsonSchema>> => {
  const shown = fieldsFor(collection, shownFields(collection), keyKind, 'read');
  const changed = fieldsFor(collection, shownFields(collection), keyKind, 'update');
  const inserted = fieldsFor(collection, insertedFields(collection), keyKind, 'insert');
  const isClosed = collection.closed === true;
  const read = objectOf(shown, isClosed);
  const required = [...Object.keys(written), ...((read.required as readonly string[] | undefined) ?? [])];
  // Dotted names are not among the properties.
  const update = { ...objectOf(changed, isClosed), minProperties: 1, additionalProperties: true };
  const populated = {
    ...read,
    properties: { ...written, ...Object.fromEntries(shown.map((field) => [field.key, orPopulated(field, isClosed)])) },
    required,
  };
  return {
    document: { ...read, properties: { ...written, ...(read.properties as JsonSchema) }, required },
    populated,
    listed: { ...populated, required: ['_id'] },
    insert: objectOf(inserted, isClosed),
    update: { ...update, required: undefined, description: updateText },
  };
};

const prefix = '/api/data/{collectionName}';

const json = (schema: JsonSchema) => ({ required: true, content: { 'application/json': { schema } } });

type Ref = { readonly $ref: string };

const refTo = (name: string): Ref => ({ $ref: `#/components/schemas/${name}` });

const bodies: Readonly<Record<string, (name: string) => JsonSchema>> = {
  'create-document': (name) => refTo(`${name}.insert`),
  'create-documents': (name) => ({ type: 'array', items: refTo(`${name}.insert`), minItems: 1, maxItems: 100 }),
  'update-document': (name) => refTo(`${name}.update`),
};

/** Routes that return documents in another schema than the stored one. */
const answers: Readonly<Record<string, string>> = {
  'get-document': 'populated',
  'list-documents': 'listed',
  'query-documents': 'listed',
};

const ofCollection = (collection: Collection, parameter: Parameter, keyKind: KeyKind): Parameter => {
  const { example: _general, ...rest } = parameter;
  const fields = fieldsFor(collection, collection.schema ?? [], keyKind, 'read');
  if (parameter.name !== 'filters') return rest;
  const properties = Object.fromEntries(fields.map(({ key }) => [key, { type: 'string' }]));
  return { ...rest, schema: { ...rest.schema, properties } };
};

/**
 * Copies an operation of the general description for one collection. `document` is the general document schema as text.
 */
const operationOf = (collection: Collection, operation: Operation, document: string, keyKind: KeyKind): Operation => {
  const { name } = collection;
  const {
    parameters = [],
    requestBody,
    responses,
    ...rest
  } = operation as Operation & {
    readonly parameters?: readonly Parameter[];
    readonly requestBody?: unknown;
    readonly responses: unknown;
  };
  const kept = parameters.filter((parameter) => parameter.name !== 'collectionName');
  const answered = refTo(`${name}.${answers[operation.operationId] ?? 'document'}`);
  const body = bodies[operation.operationId.replace(/-patch$/, '')];
  return {
    ...rest,
    operationId: `${operation.operationId}-${name}`,
    tags: [`Collection ${name}`],
    ...(kept.length > 0 && { parameters: kept.map((parameter) => ofCollection(collection, parameter, keyKind)) }),
    ...(requestBody !== undefined && { requestBody: body ? json(body(name)) : requestBody }),
    responses: JSON.parse(JSON.stringify(responses).replaceAll(document, JSON.stringify(answered))) as unknown,
  };
};

/** Returns the general document schema as text, from the response of an insert. */
const documentText = (paths: OpenApi['paths']): string => {
  const insert = paths[prefix]?.post as
    | {
        readonly responses: Readonly<
          Record<string, { readonly content: Readonly<Record<string, { schema: unknown }>> }>
        >;
      }
    | undefined;
  return JSON.stringify(insert?.responses['201']?.content['application/json']?.schema);
};

/**
 * Adds the collections of one project to the description of the public API: paths by name, with document schemas.
 * `users` has no document paths.
 */
export const describeCollections = (
  document: OpenApi,
  collections: readonly Collection[],
  keyKind: KeyKind,
): OpenApi => {
  const general = Object.entries(document.paths).filter(([path]) => path.startsWith(prefix));
  const text = documentText(document.paths);
  const { schemas, ...components } = document.components as { readonly schemas: JsonSchema };
  const paths: Record<string, OpenApi['paths'][string]> = { ...document.paths };
  const named: Record<string, JsonSchema> = {};
  const tags: object[] = [...(document.tags as readonly object[])];
  for (const collection of collections) {
    const { name } = collection;
    if (name === usersCollection) continue;
    tags.push({ name: `Collection ${name}`, description: `The documents of ${name}.` });
    for (const [part, schema] of Object.entries(collectionSchemas(collection, keyKind)))
      named[`${name}.${part}`] = schema;
    for (const [path, operations] of general) {
      paths[path.replace('{collectionName}', name)] = Object.fromEntries(
        Object.entries(operations).map(([method, operation]) => [
          method,
          operationOf(collection, operation, text, keyKind),
        ]),
      );
    }
  }
  return { ...document, tags, paths, components: { ...components, schemas: { ...schemas, ...named } } };
};

const type = { enum: fieldTypeNames };
const count = (description: string) => ({ type: ['integer', 'null'], minimum: 0, description });
const limit = (description: string) => ({ type: ['number', 'null'], description });
const flag = (description: string) => ({ type: ['boolean', 'null'], description });

const bounds: Readonly<Record<BoundName, JsonSchema>> = {
  enum: {
    type: ['array', 'null'],
    items: { type: ['string', 'number'] },
    minItems: 1,
    maxItems: 100,
    description: 'String, Number: the allowed values.',
  },
  minLength: count('String: minimum number of characters.'),
  maxLength: count('String: maximum number of characters.'),
  pattern: {
    type: ['string', 'null'],
    minLength: 1,
    maxLength: 128,
    description:
      'String: a regular expression that a part of the text must match. To match the entire text, use ^ and $.',
  },
  format: { type: ['string', 'null'], description: `String: ${textFormatNames.join(' or ')}.` },
  min: limit('Number: minimum value.'),
  max: limit('Number: maximum value.'),
  integer: flag('Number: whole numbers only.'),
  minItems: count('Array: minimum number of elements.'),
  maxItems: count('Array: maximum number of elements.'),
  uniqueItems: flag('Array: every element must be different.'),
};

const inside = {
  ...bounds,
  ref: { type: ['string', 'null'], description: 'Ref: the collection of the referenced document.' },
  onDelete: {
    type: 'string',
    enum: deleteActions,
    description:
      'Ref: what happens when the referenced document is deleted. restrict: its deletion is rejected. trash, delete: this document follows it. unset: this document loses the reference.',
  },
  exists: {
    type: ['boolean', 'null'],
    description:
      'Ref: whether the referenced document must exist, and be readable by the writer, when the field is written.',
  },
  items: {
    anyOf: [{ $ref: '#/components/schemas/Items' }, { type: 'null' }],
    description: 'Array: the type of every element.',
  },
  fields: {
    type: ['array', 'null'],
    items: { $ref: '#/components/schemas/Field' },
    description: 'Object: its fields.',
  },
};

/** The schema language of collections, as parts of the API description. */
export const fieldSchemas: Readonly<Record<'Field' | 'Items', JsonSchema>> = {
  Field: {
    type: 'object',
    description: 'A field of the documents of a collection.',
    properties: {
      key: { type: 'string', description: 'Name of the field.' },
      type: { ...type, description: 'Type of the value.' },
      required: { type: ['boolean', 'null'], description: 'Whether every document must have the field.' },
      unique: {
        type: ['boolean', 'null'],
        description: `For ${listTypes(({ unique }) => unique, 'and')} at the top level.`,
      },
      uniquePer: {
        type: 'string',
        enum: ['owner'],
        description: 'owner: the values are unique among the documents of one owner. This needs row security.',
      },
      searchable: {
        type: ['boolean', 'null'],
        description: 'Whether searches include the field: up to 10 top-level fields of type String or Array of String.',
      },
      write: {
        type: ['string', 'boolean', 'object', 'null'],
        description: 'Who sets the field: "server", "create" (once), true, or an access rule.',
      },
      read: {
        type: ['string', 'boolean', 'object', 'null'],
        description: 'Whose responses contain the field: "server", "owner", true, or an access rule about the caller.',
      },
      default: { type: ['string', 'number', 'boolean', 'null'], description: 'The value of a missing field.' },
      ...inside,
    },
    required: ['key', 'type'],
    additionalProperties: false,
  },
  Items: {
    type: 'object',
    description: 'The type of every element of an Array.',
    properties: {
      type,
      ...inside,
    },
    required: ['type'],
    additionalProperties: false,
  },
};
