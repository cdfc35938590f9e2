import { Validator } from '@seriousme/openapi-schema-validator';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { PageQuery } from '../../../functions/dashboard/schemas.ts';
import { dashboardDocument } from '../../../functions/dashboard-api.ts';
import { publicDocument } from '../../../functions/public-api.ts';
import { dashboardRoutes, publicRoutes } from '../../../functions/routes.ts';
import { JsonObject, JsonObjects, strictBody, success } from '../../../functions/schemas.ts';
import { statusOf } from '../../../shared/core/errors.ts';
import { describeApi } from '../../../shared/http/openapi/describe-api.ts';
import { jsonSchemaOf } from '../../../shared/http/openapi/json-schema.ts';
import { defineRoutes, methodsOf, type RouteTable } from '../../../shared/http/route.ts';

const apis = [
  ['public', publicDocument(), publicRoutes],
  ['dashboard', dashboardDocument(), dashboardRoutes],
] as const;

const rowsOf = (tables: Readonly<Record<string, RouteTable>>) => Object.values(tables).flatMap((t) => Object.values(t));

describe.each(apis)('the document of the %s API', (_name, document, tables) => {
  test('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate({
      ...document,
      servers: [{ url: 'https://example.com' }],
    });
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
  });

  test('has exactly one operation per method and route', () => {
    const described = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const rows = rowsOf(tables).flatMap((route) => methodsOf(route).map((method) => `${method} ${route.path}`));
    expect(described.sort()).toEqual(rows.sort());
  });

  test('has one operationId per route', () => {
    const ids = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
    const rows = rowsOf(tables).map(({ id }) => id);
    expect(ids.filter((id) => !/-patch$/.test(id)).sort()).toEqual(rows.sort());
  });

  test('has no description that ends a comment of a generated client', () => {
    const found: string[] = [];
    JSON.stringify(document, (key, value) => {
      if (['description', 'summary'].includes(key) && typeof value === 'string' && value.includes('*/'))
        found.push(value);
      return value;
    });
    expect(found).toEqual([]);
  });

  test('declares a type for every value', () => {
    const unsaid: string[] = [];
    const walk = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null || /\/examples?$/.test(path)) return;
      const isEmpty = Object.keys(value).length === 0 && !Array.isArray(value);
      // An empty requirement means that no sign-in is needed.
      if (isEmpty && !/\/(properties|paths|security\/\d)$/.test(path)) unsaid.push(path);
      for (const [key, inner] of Object.entries(value)) walk(inner, `${path}/${key}`);
    };
    walk(document, '');
    expect(unsaid).toEqual([]);
  });

  test('can be read by validators and generators of other languages', () => {
    const unportable: string[] = [];
    const walk = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null || /\/examples?$/.test(path)) return;
      const { pattern, properties, required = [], enum: values } = value as Partial<Record<string, unknown>>;
      if (typeof pattern === 'string' && /\\[pPwWdDsSbB]/.test(pattern)) unportable.push(`${path}: ${pattern}`);
      if (Array.isArray(values) && new Set(values.map((one) => typeof one)).size > 1) unportable.push(`${path}: enum`);
      for (const [name, schema] of Object.entries(properties ?? {})) {
        if (Object.hasOwn(schema as object, 'const') && !(required as string[]).includes(name)) {
          unportable.push(`${path}/${name}: const of an optional property`);
        }
      }
      for (const [key, inner] of Object.entries(value)) walk(inner, `${path}/${key}`);
    };
    walk(document, '');
    expect(unportable).toEqual([]);
  });

  test('has a licence, a contact, and a description of each tag', () => {
    expect(document.info).toMatchObject({
      license: { identifier: 'MIT' },
      contact: { name: expect.stringMatching(/./) },
    });
    for (const { name, description } of document.tags as { name: string; description: string }[]) {
      expect(description, name).toMatch(/^[A-Z].*\.$/);
    }
  });

  test('has a summary, a known tag and error responses for every operation', () => {
    const known = (document.tags as { name: string }[]).map(({ name }) => name);
    for (const operation of Object.values(document.paths).flatMap((path) => Object.values(path))) {
      const { operationId, summary, tags, responses } = operation as unknown as {
        operationId: string;
        summary: string;
        tags: string[];
        responses: Record<string, unknown>;
      };
      expect(summary, operationId).toMatch(/./);
      expect(known, operationId).toEqual(expect.arrayContaining(tags));
      expect(Object.keys(responses), operationId).toEqual(expect.arrayContaining(['429', '503']));
    }
  });
});

const below = '/api/projects/{projectId}';
const ofCollection = `${below}/collections/{collectionName}`;

test.each([
  ['get', `${below}/users/{id}`, ['COLLECTION_NOT_FOUND', 'USER_NOT_FOUND']],
  ['post', `${below}/users`, ['COLLECTION_NOT_FOUND', 'USER_EXISTS', 'DUPLICATE_VALUE']],
  ['get', `${ofCollection}/changes`, ['USERS_RESERVED', 'OWN_DATABASE_UNAVAILABLE']],
  ['delete', `${ofCollection}/trash/{id}`, ['USERS_RESERVED', 'OWN_DATABASE_UNAVAILABLE']],
  ['post', `${ofCollection}/imports`, ['USERS_RESERVED', 'COLLECTION_NOT_FOUND']],
  ['post', `${below}/collections`, ['OWN_DATABASE_UNAVAILABLE']],
  ['put', ofCollection, ['OWN_DATABASE_UNAVAILABLE']],
  ['delete', `${ofCollection}/indexes/{indexName}`, ['OWN_DATABASE_UNAVAILABLE']],
])('%s %s lists its errors', (method, path, codes) => {
  const named = JSON.stringify(dashboardDocument().paths[path]?.[method]);
  expect(codes.filter((code) => !new RegExp(`\\b${code}\\b`).test(named))).toEqual([]);
});

test('no route lists an error that it never returns', () => {
  const { paths } = dashboardDocument();
  expect(JSON.stringify(paths[`${below}/users`])).not.toContain('AUTH_DISABLED');
  expect(JSON.stringify(paths[ofCollection])).not.toContain('USERS_RESERVED');
});

test('every status of the error table has a response that both documents share', () => {
  for (const [, document] of apis) {
    const { responses } = document.components as { responses: Record<string, unknown> };
    const statuses = new Set(Object.values(statusOf).filter((status) => status !== 500));
    expect(Object.keys(responses)).toEqual([...statuses].sort().map((status) => `Error${status}`));
  }
});

test('PUT of a document names If-None-Match, 201 and DOCUMENT_EXISTS, and PATCH none of them', () => {
  const { put, patch } = publicDocument().paths['/api/data/{collectionName}/{id}'] ?? {};
  const [ofPut, ofPatch] = [JSON.stringify(put), JSON.stringify(patch)];
  for (const named of ['"if-none-match"', '"201"', 'DOCUMENT_EXISTS', 'INVALID_ID']) expect(ofPut).toContain(named);
  for (const named of ['"if-none-match"', '"201"', 'DOCUMENT_EXISTS']) expect(ofPatch).not.toContain(named);
});

type Described = Record<string, Record<string, { responses: Record<string, { description: string }> }>>;

describe('the description names', () => {
  test('every suffix that a filter of a list may have', () => {
    const text = JSON.stringify(publicDocument().paths['/api/data/{collectionName}']?.get);
    const suffixes = [
      'eq',
      'ne',
      'gt',
      'gte',
      'lt',
      'lte',
      'in',
      'exists',
      'regex',
      'contains',
      'startsWith',
      'endsWith',
    ];
    expect(suffixes.filter((suffix) => !new RegExp(`_${suffix}\\b`).test(text))).toEqual([]);
  });

  test.each([
    ['GET /api/data/{collectionName}', 'SEARCH_NOT_ENABLED'],
    ['GET /api/data/{collectionName}', 'RESULT_TOO_LARGE'],
    ['POST /api/data/{collectionName}/query', 'SEARCH_NOT_ENABLED'],
    ['POST /api/data/{collectionName}/query', 'RESULT_TOO_LARGE'],
    ['GET /api/data/{collectionName}/changes', 'RESULT_TOO_LARGE'],
    ['GET /api/data/{collectionName}/{id}', 'RESULT_TOO_LARGE'],
    ['POST /api/data/{collectionName}', 'INVALID_UPDATE'],
    ['POST /api/data/{collectionName}/bulk', 'INVALID_UPDATE'],
    ['PATCH /api/data/{collectionName}/{id}/recover', 'DOCUMENT_TOO_LARGE'],
    ['GET /api/schemas/{collectionName}', 'SECRET_KEY_REQUIRED'],
    ['GET /api/types.ts', 'RESULT_TOO_LARGE'],
    ['GET /api/projects/{projectId}/collections/{collectionName}/changes', 'USERS_RESERVED'],
    ['DELETE /api/projects/{projectId}/collections/{collectionName}/trash', 'USERS_RESERVED'],
    ['POST /api/projects/{projectId}/collections/{collectionName}/exports', 'USERS_RESERVED'],
    ['GET /api/projects/{projectId}/collections/{collectionName}/imports/{id}', 'USERS_RESERVED'],
    ['PATCH /api/projects/{projectId}/collections/{collectionName}/documents/{id}', 'OWNER_IMMUTABLE'],
  ] as const)('for %s the error %s', (operation, code) => {
    const [method = '', path = ''] = operation.split(' ');
    const paths = Object.assign({}, ...apis.map(([, document]) => document.paths)) as Described;
    expect(paths[path]?.[method.toLowerCase()]?.responses[statusOf[code]]?.description).toContain(code);
  });

  test.each([
    ['404', 'idempotent-replayed'],
    ['409', 'retry-after'],
    ['412', 'etag'],
  ])('the header of %s: %s', (status, header) => {
    const { responses } = publicDocument().components as { responses: Record<string, { headers: object }> };
    expect(Object.keys(responses[`Error${status}`]?.headers ?? {})).toContain(header);
  });
});

const table = <const A extends 'anyKey' | 'developer' | 'public' | 'publishableKey' | 'secretKey' | 'user'>(
  access: A,
  path: `/${string}` = '/api/things',
) => {
  const response = { status: 200, body: success(v.string()) };
  const deals = path.endsWith('/users') ? ({ resource: 'users' } as const) : {};
  return defineRoutes({ 'get-thing': { method: 'GET', path, access, ...deals, summary: 'Read a thing', response } });
};

const operationOf = (routes: RouteTable) =>
  Object.values(
    Object.values(
      describeApi({
        title: 'a',
        description: 'b',
        version: '1',
        tables: { things: routes },
        tags: { things: { name: 'Things', description: 'All of them.' } },
        securitySchemes: {},
      }).paths,
    )[0] ?? {},
  )[0] as unknown as { security: unknown; description?: string; responses: Record<string, { description: string }> };

describe('who may call', () => {
  test.each([
    [table('public'), []],
    [table('publishableKey'), [{ publishableKey: [] }]],
    [table('secretKey'), [{ secretKey: [] }]],
    [table('user'), [{ publishableKey: [], userToken: [] }]],
    [table('anyKey'), [{ secretKey: [] }, { publishableKey: [] }]],
    [
      table('anyKey', '/api/data/{collectionName}'),
      [{ secretKey: [] }, { publishableKey: [] }, { publishableKey: [], userToken: [] }],
    ],
    [table('developer', '/api/auth/sessions'), [{ dashboardToken: [] }]],
    [
      table('developer', '/api/projects/{projectId}/users'),
      [{ dashboardToken: [] }, { personalAccessToken: ['users:read'] }],
    ],
  ])('%j: %j', (routes, security) => {
    expect(operationOf(routes).security).toEqual(security);
  });

  test('the description of a route names the required role when it is below a project', () => {
    const { description, responses } = operationOf(table('developer', '/api/projects/{projectId}/users'));
    expect(description).toBe('Needs the role viewer in the project.');
    expect(responses['403']?.description).toContain('ROLE_REQUIRED');
    expect(responses['404']?.description).toContain('PROJECT_NOT_FOUND');
  });

  test('an API description fails to build when an area has no tag', () => {
    expect(() =>
      describeApi({
        title: 'a',
        description: 'b',
        version: '1',
        tables: { things: table('public') },
        tags: {},
        securitySchemes: {},
      }),
    ).toThrow('The area things has no tag');
  });
});

describe('the JSON schema of', () => {
  test.each([
    ['an object of any kind', JsonObject, { type: 'object', additionalProperties: true }],
    [
      'a list of objects',
      JsonObjects,
      { type: 'array', items: { type: 'object', additionalProperties: true }, minItems: 1, maxItems: 100 },
    ],
    [
      'a body with exactly these fields',
      strictBody({ name: v.string() }),
      {
        type: 'object',
        properties: { name: { type: 'string' } },
        required: ['name'],
        additionalProperties: false,
      },
    ],
    [
      'a page',
      PageQuery,
      {
        type: 'object',
        additionalProperties: false,
        properties: {
          page: { type: 'integer', minimum: 1, default: '1', description: 'Must be a positive whole number.' },
          limit: { type: 'integer', minimum: 1, default: '100', description: 'Must be a positive whole number.' },
        },
      },
    ],
    [
      'values of several types',
      v.picklist([1, -1, 'text']),
      {
        anyOf: [
          { type: 'number', enum: [1, -1] },
          { type: 'string', enum: ['text'] },
        ],
      },
    ],
    ['a date', v.date(), { type: 'string', format: 'date-time' }],
    [
      'what is checked and then changed',
      v.pipe(
        v.string(),
        v.check(() => true, 'must be good'),
        v.transform(Number),
      ),
      { type: 'string', description: 'Must be good.' },
    ],
    [
      'two patterns',
      v.pipe(v.string(), v.regex(/^a/, 'must begin with a'), v.regex(/\w$/u, 'must end with a letter')),
      {
        type: 'string',
        pattern: '^a',
        allOf: [{ pattern: '[A-Za-z0-9_]$' }],
        description: 'Must begin with a. Must end with a letter.',
      },
    ],
  ])('%s', (_name, schema, expected) => {
    expect(jsonSchemaOf(schema)).toEqual(expected);
  });

  test.each([
    ['a custom schema of something else', v.custom<string>((value) => value === 'a')],
    ['something that JSON has not', v.bigint()],
    ['a rule that JSON schemas have not', v.pipe(v.string(), v.creditCard())],
  ])('%s is rejected', (_name, schema) => {
    expect(() => jsonSchemaOf(schema)).toThrow();
  });
});
