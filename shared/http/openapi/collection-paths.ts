import type { Collection } from '../../collections/collection.ts';
import { usersCollection } from '../../collections/schema/collection-name.ts';
import { collectionSchemas } from './collection-schemas.ts';
import type { OpenApi, Operation } from './describe-api.ts';
import type { JsonSchema } from './json-schema.ts';
import type { Parameter } from './parameters.ts';

const prefix = '/api/data/{collectionName}';

const json = (schema: JsonSchema) => ({ required: true, content: { 'application/json': { schema } } });

type Ref = { readonly $ref: string };

const refTo = (name: string): Ref => ({ $ref: `#/components/schemas/${name}` });

/** Bodies that are documents: row → what is sent. */
const bodies: Readonly<Record<string, (name: string) => JsonSchema>> = {
  'create-document': (name) => refTo(`${name}.insert`),
  'create-documents': (name) => ({ type: 'array', items: refTo(`${name}.insert`), minItems: 1, maxItems: 100 }),
  'update-document': (name) => refTo(`${name}.update`),
};

/** Answers whose documents are not as they were written: row → which schema they have. */
const answers: Readonly<Record<string, string>> = {
  'get-document': 'populated',
  'list-documents': 'listed',
  'query-documents': 'listed',
};

const ofCollection = ({ schema }: Collection, parameter: Parameter): Parameter => {
  const { example: _general, ...rest } = parameter;
  if (parameter.name !== 'filters') return rest;
  const properties = Object.fromEntries((schema ?? []).map(({ key }) => [key, { type: 'string' }]));
  return { ...rest, schema: { ...rest.schema, properties } };
};

/** An operation of the general description for one collection; `document` is the text of what it says of documents. */
const operationOf = (collection: Collection, operation: Operation, document: string): Operation => {
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
    ...(kept.length > 0 && { parameters: kept.map((parameter) => ofCollection(collection, parameter)) }),
    ...(requestBody !== undefined && { requestBody: body ? json(body(name)) : requestBody }),
    responses: JSON.parse(JSON.stringify(responses).replaceAll(document, JSON.stringify(answered))) as unknown,
  };
};

/** What the general description says of a document, as text: the answer of an insert. */
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
 * The description of a public API with the collections of one project besides: the paths of each by its name, with
 * schemas of its documents. `users` has no paths of documents.
 */
export const describeCollections = (document: OpenApi, collections: readonly Collection[]): OpenApi => {
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
    for (const [part, schema] of Object.entries(collectionSchemas(collection))) named[`${name}.${part}`] = schema;
    for (const [path, operations] of general) {
      paths[path.replace('{collectionName}', name)] = Object.fromEntries(
        Object.entries(operations).map(([method, operation]) => [method, operationOf(collection, operation, text)]),
      );
    }
  }
  return { ...document, tags, paths, components: { ...components, schemas: { ...schemas, ...named } } };
};
