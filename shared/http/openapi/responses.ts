import { type ErrorCode, statusOf } from '../../core/errors.ts';
import type { Route } from '../route.ts';
import { type JsonSchema, jsonSchemaOf } from './json-schema.ts';

export const errorSchema: JsonSchema = {
  type: 'object',
  description: 'Every error response.',
  properties: {
    success: { const: false },
    message: { type: 'string', description: 'For people: what was wrong and what to do.' },
    code: { enum: Object.keys(statusOf), description: 'For programs; each code has one status.' },
    requestId: { type: 'string', description: 'Identifies the request in the log.' },
    docUrl: { type: 'string', description: 'Address of the page that explains the code.' },
    ticket: { type: 'string', description: 'With SECOND_FACTOR_REQUIRED: the token that continues the sign-in.' },
    data: { type: 'object', description: 'With DOCUMENT_EXISTS: the document, if the caller may read it.' },
    errors: {
      type: 'array',
      description: 'What was wrong, by field.',
      items: {
        type: 'object',
        properties: {
          field: { type: 'string' },
          message: { type: 'string' },
          index: { type: 'integer', description: 'Index of the item if the body is a list.' },
          count: { type: 'integer' },
          collection: {
            type: 'string',
            description:
              'With STILL_REFERENCED: a collection whose documents refer to this one, or to one that would be deleted with it.',
          },
          examples: { type: 'array', items: { type: 'string' } },
          effect: { type: 'integer', description: 'With EFFECT_REFUSED: the number of the effect, from 0.' },
          write: {
            type: 'integer',
            description: 'With EFFECT_REFUSED: the number of the write of the effect, from 0.',
          },
        },
      },
    },
  },
  required: ['success', 'message', 'code', 'requestId', 'docUrl'],
};

const summaries: Readonly<Record<number, string>> = {
  400: 'The request is not valid.',
  401: 'The key, token or other credential is missing or invalid.',
  403: 'The caller does not have permission.',
  404: 'Not found, or not visible to this caller.',
  409: 'The current state conflicts with the request.',
  410: 'No longer available.',
  412: 'A condition of the request does not hold. ETag has the current revision.',
  413: 'The request or the result is too large.',
  415: 'The media type or encoding is not supported.',
  422: 'The mail provider could not process the content.',
  429: 'Too many requests. Retry after Retry-After seconds.',
  501: 'This deployment does not have the feature set up.',
  502: 'An external service failed.',
  503: 'Part of the service is unavailable. Retry after Retry-After seconds.',
};

const header = (description: string, schema: JsonSchema = { type: 'integer' }) => ({ description, schema });

const requestId = { 'x-request-id': header('Identifies the request in the log.', { type: 'string' }) };

const retryAfter = { 'retry-after': header('Seconds to wait before a retry.') };

const replayed = {
  'idempotent-replayed': header('`true` if this is the stored response of an earlier request.', { type: 'string' }),
};

const revision = {
  etag: header('Identifies the content, in quotes; for a document, its revision.', { type: 'string' }),
};

/** Headers of error responses other than the request id. Stored responses have a header that marks the repeat. */
const refusalHeaders: Readonly<Record<string, unknown>> = {
  400: replayed,
  403: replayed,
  404: replayed,
  409: { ...replayed, 'retry-after': header('With IDEMPOTENCY_IN_PROGRESS: seconds to wait before a retry.') },
  412: { ...replayed, ...revision },
  413: replayed,
  429: { ...replayed, ...retryAfter },
  503: retryAfter,
};

export const limitHeaders = {
  'RateLimit-Limit': header('Limit of the window with the fewest requests left, per 15 minutes.'),
  'RateLimit-Remaining': header('Requests left in that window.'),
  'RateLimit-Reset': header('Seconds until the window resets.'),
} as const;

const counted = Object.fromEntries(
  Object.keys(limitHeaders).map((name) => [name.toLowerCase(), { $ref: `#/components/headers/${name}` }]),
);

const errorContent = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };

export const errorResponses = Object.fromEntries(
  Object.entries(summaries).map(([status, description]) => [
    `Error${status}`,
    {
      description,
      headers: { ...requestId, ...(refusalHeaders[status] ?? {}) },
      content: errorContent,
    },
  ]),
);

type Codes = readonly ErrorCode[];

const always: Codes = ['VALIDATION_FAILED', 'RATE_LIMITED', 'SERVICE_UNAVAILABLE'];
const key: Codes = ['API_KEY_MISSING', 'API_KEY_INVALID'];
const token: Codes = ['TOKEN_MISSING', 'TOKEN_INVALID'];
const publishable: Codes = [...key, 'PUBLISHABLE_KEY_REQUIRED', 'ORIGIN_NOT_ALLOWED'];

const ofAccess: Readonly<Record<Route['access'], Codes>> = {
  public: [],
  anyKey: [...key, 'ORIGIN_NOT_ALLOWED'],
  publishableKey: publishable,
  secretKey: [...key, 'SECRET_KEY_REQUIRED', 'ORIGIN_NOT_ALLOWED'],
  user: [...publishable, ...token],
  developer: [...token, 'SCOPE_REQUIRED'],
};

const ofBody: Codes = [
  'INVALID_JSON',
  'INVALID_BODY',
  'NUMBER_NOT_EXACT',
  'VALIDATION_FAILED',
  'BODY_TOO_LARGE',
  'ENCODING_NOT_SUPPORTED',
];
const ofProject: Codes = ['PROJECT_NOT_FOUND', 'ROLE_REQUIRED'];
const ofRepeats: Codes = [
  'VALIDATION_FAILED',
  'IDEMPOTENCY_KEY_REUSED',
  'IDEMPOTENCY_IN_PROGRESS',
  'IDEMPOTENCY_OUTCOME_UNKNOWN',
];
const ofWrites: Codes = [...token, 'RLS_REQUIRED', 'NOT_OWNER', 'MFA_REQUIRED'];

/** Names that begin with `users` are reserved. */
const refusesUsers = /^\/api\/data\/|\{collectionName\}\/(?:documents|changes|trash|exports|imports)/;
const readsDocuments = /^\/api\/data\/|\{collectionName\}\/(?:documents|changes|trash)/;
/** These write to the database that contains the documents. */
const changesCollections = /\/collections(?:\/\{collectionName\}(?:\/indexes.*)?)?$/;

const ofCollections = ({ path, method }: Route): Codes => [
  ...(/\{collectionName\}|\{projectId\}\/users/.test(path) ? (['COLLECTION_NOT_FOUND'] as const) : []),
  ...(refusesUsers.test(path) ? (['USERS_RESERVED'] as const) : []),
  ...(readsDocuments.test(path) || (method !== 'GET' && changesCollections.test(path))
    ? (['OWN_DATABASE_UNAVAILABLE'] as const)
    : []),
];

const ofDatabase = (route: Route): Codes => {
  if (route.database === false) return [];
  return route.method === 'GET' ? ['DATABASE_UNAVAILABLE'] : ['DATABASE_UNAVAILABLE', 'TOO_MANY_WRITERS'];
};

/** True if the method inserts a missing document with `If-None-Match: *`. */
export const insertsBy = ({ response }: Route, method: string): boolean =>
  response.orCreated === 'PUT' && method === 'PUT';

const codesOf = (route: Route, method: string): ReadonlySet<ErrorCode> =>
  new Set([
    ...(insertsBy(route, method) ? (['DOCUMENT_EXISTS'] as const) : []),
    ...(route.body ? ofBody : []),
    ...(route.query ? (['INVALID_QUERY'] as const) : []),
    ...(route.query && readsDocuments.test(route.path) ? (['NUMBER_NOT_EXACT'] as const) : []),
    ...ofAccess[route.access],
    ...(route.path.startsWith('/api/projects/{projectId}') ? ofProject : []),
    ...ofCollections(route),
    ...(route.session ? (['TOKEN_INVALID'] as const) : []),
    ...(route.way ? (['SIGN_IN_DISABLED'] as const) : []),
    ...(route.writes ? ofWrites : []),
    ...(route.repeats === undefined ? [] : ofRepeats),
    ...ofDatabase(route),
    ...(route.errors ?? []),
    ...always,
  ]);

const refusalsOf = (route: Route, method: string) => {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codesOf(route, method)) {
    const status = statusOf[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, codes]): [string, unknown] => [
      String(status),
      { $ref: `#/components/responses/Error${status}`, description: `${summaries[status]} ${codes.join(', ')}.` },
    ]);
};

const successOf = (route: Route, body = route.response.body): unknown => {
  const { status, text } = route.response;
  const repeated = route.repeats !== undefined && replayed;
  const headers = { ...requestId, ...counted, ...repeated, ...(route.isRevised && revision) };
  if (status === 302 || status === 303) {
    const location = header('Where the browser is sent.', { type: 'string' });
    return { description: 'Redirects the browser.', headers: { ...headers, location } };
  }
  return {
    description: 'Success.',
    headers,
    content: { [text ? 'text/plain' : 'application/json']: { schema: jsonSchemaOf(body) } },
  };
};

const notModified = {
  description: 'Not modified.',
  headers: { ...requestId, ...counted, ...revision },
};

export const responsesOf = (route: Route, method: string): Readonly<Record<string, unknown>> =>
  Object.fromEntries([
    [String(route.response.status), successOf(route)],
    ...(route.response.orCreated === true || insertsBy(route, method) ? [['201', successOf(route)]] : []),
    ...(route.response.orUpdated ? [['200', successOf(route, route.response.orUpdated)]] : []),
    ...(route.example?.headers?.['if-none-match'] ? [['304', notModified]] : []),
    ...refusalsOf(route, method),
  ]);
