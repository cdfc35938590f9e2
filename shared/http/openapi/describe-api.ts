import { roleFor } from '../middleware/developer.ts';
import { type Access, methodsOf, type NamedRoute, type Route, type RouteTable, scopesOf } from '../route.ts';
import { fieldSchemas } from './collections.ts';
import { forGenerators, type JsonSchema, jsonSchemaOf } from './json-schema.ts';
import { parametersOf } from './parameters.ts';
import { errorResponses, errorSchema, limitHeaders, responsesOf } from './responses.ts';

type Requirement = Readonly<Record<string, readonly string[]>>;

const apiKey = (description: string) => ({ type: 'apiKey', in: 'header', name: 'x-api-key', description }) as const;

const bearer = (description: string) => ({ type: 'http', scheme: 'bearer', description }) as const;

export const projectSchemes = {
  publishableKey: apiKey("`pk_live_…`: for browsers and apps, from the project's allowed domains."),
  secretKey: apiKey('`sk_live_…`: for servers only.'),
  userToken: { ...bearer('Access token of a user, from a sign-in response.'), bearerFormat: 'JWT' },
} as const;

export const dashboardSchemes = {
  dashboardToken: { ...bearer('Access token of a developer, as sign-in returns it.'), bearerFormat: 'JWT' },
  personalAccessToken: bearer('`bslt_pat_…`: a personal access token with every scope that is named.'),
} as const;

const publishable = { publishableKey: [] };
const secret = { secretKey: [] };
const asUser = { publishableKey: [], userToken: [] };

const ofProjects: Readonly<Record<Exclude<Access, 'developer'>, readonly Requirement[]>> = {
  public: [],
  publishableKey: [publishable],
  secretKey: [secret],
  user: [asUser],
  anyKey: [secret, publishable],
};

const isOfDocuments = ({ path }: Route): boolean => path.startsWith('/api/data/');

/** Returns the alternatives of authentication. */
const securityOf = (route: Route): readonly Requirement[] => {
  if (route.access === 'developer') {
    const scopes = scopesOf(route);
    return [{ dashboardToken: [] }, ...(scopes.length > 0 ? [{ personalAccessToken: scopes }] : [])];
  }
  if (route.session && route.access === 'public') return [{ dashboardToken: [] }, {}];
  const ways = ofProjects[route.access];
  if (route.session) return [asUser, publishable, ...ways.filter((way) => way !== publishable)];
  // Collections with row security need a user.
  return route.access === 'anyKey' && isOfDocuments(route) ? [...ways, asUser] : ways;
};

const roleNote = (route: Route): string | undefined =>
  route.path.startsWith('/api/projects/{projectId}') ? `Needs the role ${roleFor(route)} in the project.` : undefined;

export interface Tag {
  readonly name: string;
  readonly description: string;
}

interface ApiParts {
  readonly title: string;
  readonly description: string;
  readonly version: string;
  readonly tables: Readonly<Record<string, RouteTable>>;
  readonly tags: Readonly<Record<string, Tag>>;
  readonly securitySchemes: Readonly<Record<string, unknown>>;
}

export interface Operation {
  readonly operationId: string;
  readonly [name: string]: unknown;
}

/** `servers` is added by the function that serves it. */
export interface OpenApi {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly [name: string]: unknown };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly [name: string]: unknown;
}

const bodyOf = ({ body, example }: NamedRoute): JsonSchema | undefined => {
  if (!body && example?.body === undefined) return undefined;
  const schema = body ? jsonSchemaOf(body) : { type: 'object' };
  return { required: true, content: { 'application/json': { schema, example: example?.body } } };
};

const operationOf = (route: NamedRoute, method: string, tag: Tag): Operation => {
  const requestBody = bodyOf(route);
  const parameters = parametersOf(route, method);
  const description = roleNote(route);
  return {
    operationId: method === methodsOf(route)[0] ? route.id : `${route.id}-${method.toLowerCase()}`,
    summary: route.summary,
    ...(description && { description }),
    tags: [tag.name],
    security: securityOf(route),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: responsesOf(route, method),
  };
};

/**
 * Describes one operation per method and route. Throws for an area without a tag, or a schema that JSON Schema cannot
 * express.
 */
export const describeApi = (parts: ApiParts): OpenApi => {
  const { title, description, version, tables, tags, securitySchemes } = parts;
  const paths: Record<string, Record<string, Operation>> = {};
  for (const [area, table] of Object.entries(tables)) {
    const tag = tags[area];
    if (!tag) throw new Error(`The area ${area} has no tag`);
    for (const route of Object.values(table)) {
      const operations = paths[route.path] ?? {};
      paths[route.path] = operations;
      for (const method of methodsOf(route)) {
        operations[method.toLowerCase()] = operationOf(route, method, tag);
      }
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title,
      description,
      version,
      // The licence of the program; only a deployment knows the operator.
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'The operator of this service' },
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
