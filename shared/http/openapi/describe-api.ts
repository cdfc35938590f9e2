import { methodsOf, type NamedRoute, type RouteTable } from '../route.ts';
import type { Example, Examples } from './example.ts';
import { fieldSchemas } from './field-schema.ts';
import { forGenerators, type JsonSchema, jsonSchemaOf } from './json-schema.ts';
import { parametersOf } from './parameters.ts';
import { errorResponses, errorSchema, limitHeaders, responsesOf } from './responses.ts';
import { roleNote, securityOf } from './security.ts';

/** What people call an area, or several, and what is to be found there. */
export interface Tag {
  readonly name: string;
  readonly description: string;
}

/** One API: its tables, their examples, and what people call its areas. */
interface ApiParts {
  readonly title: string;
  readonly description: string;
  readonly version: string;
  readonly tables: Readonly<Record<string, RouteTable>>;
  readonly examples: Readonly<Record<string, Examples>>;
  /** Area → tag; areas may share one. */
  readonly tags: Readonly<Record<string, Tag>>;
  readonly securitySchemes: Readonly<Record<string, unknown>>;
}

/** One operation of a document, as far as code reads it again. */
export interface Operation {
  readonly operationId: string;
  readonly [name: string]: unknown;
}

/** An OpenAPI 3.1 document; `servers` is for whoever serves it to add. */
export interface OpenApi {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly [name: string]: unknown };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly [name: string]: unknown;
}

/** What a list of objects or an object looks like where no schema says more. */
const bodyOf = ({ body }: NamedRoute, example: Example): JsonSchema | undefined => {
  if (!body && example.body === undefined) return undefined;
  const schema = body ? jsonSchemaOf(body) : { type: 'object' };
  return { required: true, content: { 'application/json': { schema, example: example.body } } };
};

const operationOf = (route: NamedRoute, method: string, example: Example, tag: Tag): Operation => {
  const requestBody = bodyOf(route, example);
  const parameters = parametersOf(route, example);
  const description = roleNote(route);
  return {
    operationId: method === methodsOf(route)[0] ? route.id : `${route.id}-${method.toLowerCase()}`,
    summary: route.summary,
    ...(description && { description }),
    tags: [tag.name],
    security: securityOf(route),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: responsesOf(route, example),
  };
};

/** One operation for each method of each row. Throws for a row without an example, or what cannot be described. */
export const describeApi = (parts: ApiParts): OpenApi => {
  const { title, description, version, tables, examples, tags, securitySchemes } = parts;
  const paths: Record<string, Record<string, Operation>> = {};
  for (const [area, table] of Object.entries(tables)) {
    for (const route of Object.values(table)) {
      const example = examples[area]?.[route.id];
      const tag = tags[area];
      if (!example || !tag) throw new Error(`${area}/${route.id} has no example, or its area no tag`);
      const operations = paths[route.path] ?? {};
      paths[route.path] = operations;
      for (const method of methodsOf(route)) {
        operations[method.toLowerCase()] = operationOf(route, method, example, tag);
      }
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title,
      description,
      version,
      // The licence of the program; whose service it is, a deployment knows and the program does not.
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'Whoever operates this service' },
    },
    tags: [...new Map(Object.values(tags).map((tag) => [tag.name, tag])).values()],
    paths: forGenerators(paths),
    components: {
      schemas: forGenerators({ Error: errorSchema, ...fieldSchemas }),
      responses: errorResponses,
      headers: limitHeaders,
      securitySchemes,
    },
  };
};
