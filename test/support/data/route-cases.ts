import { AggregateBody, UpdateBody } from '../../../functions/data/schemas.ts';
import { dashboardRoutes, publicRoutes } from '../../../functions/routes.ts';
import { JsonObject } from '../../../functions/schemas.ts';
import { enableAllProviders } from '../../../infra/local/identity-providers/fakes.ts';
import { methodsOf, type NamedRoute, type PathParams, type RouteTable } from '../../../shared/http/route.ts';

/** One method of one route. */
export interface RouteCase {
  readonly id: string;
  readonly method: string;
  readonly route: NamedRoute;
  /** The API that serves it. */
  readonly api: 'public' | 'dashboard';
  /** The path with its parameters, percent-encoded. */
  readonly pathWith: (parameters: Readonly<Record<string, string>>) => string;
  readonly parameters: readonly string[];
}

const placeholder = /\{(\w+)\}/g;

const casesOf = (tables: Readonly<Record<string, RouteTable>>, api: RouteCase['api']): RouteCase[] =>
  Object.values(tables).flatMap((table) =>
    Object.values(table).flatMap((route) =>
      methodsOf(route).map((method) => ({
        id: route.id,
        method,
        route,
        api,
        parameters: [...route.path.matchAll(placeholder)].map(([, name = '']) => name),
        pathWith: (parameters: Readonly<Record<string, string>>) =>
          route.path.replaceAll(placeholder, (_, name: string) => {
            const value = parameters[name];
            if (value === undefined) throw new Error(`${route.id} needs a value for {${name}}`);
            return encodeURIComponent(value);
          }),
      })),
    ),
  );

/** All methods of all routes: first the public API, then the dashboard API. */
export const publicCases = casesOf(publicRoutes, 'public');
export const dashboardCases = casesOf(dashboardRoutes, 'dashboard');

/** Account routes; most need the publishable key, some also a user's token. */
export const accountCases = publicCases.filter(({ route }) => route.path.startsWith('/api/userAuth/'));

const free: ReadonlySet<unknown> = new Set([AggregateBody, JsonObject, UpdateBody]);

/** True if the body is a document, which may have any fields, or a pipeline, as in the data API. */
export const takesAnything = ({ route }: RouteCase): boolean => free.has(route.body);

type RowOf<Tables> = { [Area in keyof Tables]: Tables[Area][keyof Tables[Area]] }[keyof Tables];
type Row = RowOf<typeof publicRoutes> | RowOf<typeof dashboardRoutes>;

type ParameterOf<R> = R extends { readonly path: infer Path extends string } ? keyof PathParams<Path> : never;
type WithBody<R> = R extends { readonly id: infer Id extends string; readonly body: object } ? Id : never;

/** A well-formed value for each path parameter; tests create those that must exist. */
export const sampleParameters = {
  projectId: 'f'.repeat(24),
  collectionName: 'notes',
  indexName: 'none',
  id: 'f'.repeat(24),
  sessionId: 'f'.repeat(24),
  developerId: 'f'.repeat(24),
  username: 'ann',
  provider: 'github',
  providerId: 'none',
  templateId: 'f'.repeat(24),
  webhookId: 'f'.repeat(24),
  audienceId: 'sample-audience',
  contactId: 'sample-contact',
  email: 'sample@example.com',
} as const satisfies Readonly<Record<ParameterOf<Row>, string>>;

const everyWay = { password: true, emailCode: true, anonymous: true, passkey: true, secondFactor: 'optional' };

/** Links to an image variant. */
const linksSample = {
  paths: [`${'f'.repeat(24)}/sample`],
  expiresIn: 60,
  width: 64,
  height: 64,
  fit: 'contain',
  format: 'webp',
};

const bodies = {
  'create-document': { text: 'a', nested: { text: 'b' }, list: ['c'] },
  'create-documents': [{ text: 'a' }, { text: 'b' }],
  'update-documents': { where: { n: { $exists: true } }, changes: { n: 1 } },
  'delete-documents': { where: { n: { $exists: true } }, permanent: true },
  'update-document': { text: 'c', 'nested.text': 'd' },
  'query-documents': { where: { text: 'a' }, sort: ['-text'], limit: 1 },
  'send-user-invitation': {
    email: 'sample@example.com',
    document: { collection: 'notes', fields: { n: 1 } },
    userField: 'sample',
  },
  'run-batch': { writes: [{ op: 'insert', collection: 'notes', document: { n: 1 } }] },
  'create-ticket': { collections: ['notes'], rooms: [{ of: { collection: 'notes', id: 'f'.repeat(24) } }] },
  'aggregate-documents': { pipeline: [{ $match: { text: 'a' } }, { $limit: 1 }] },
  'aggregate-project-documents': { pipeline: [{ $match: { text: 'a' } }, { $limit: 1 }] },
  'update-project-documents': { where: { n: { $exists: true } }, changes: { n: 1 } },
  'delete-project-documents': { where: { n: { $exists: true } } },
  'create-project-document': { text: 'a', nested: { text: 'b' }, list: ['c'] },
  'update-project-document': { text: 'c', 'nested.text': 'd' },
  'start-export': { format: 'json', includeDeleted: true, where: { n: 1 }, sort: '-n', fields: ['text'] },
  'start-import': { format: 'csv', content: 'text\na' },
  'exchange-code': { token: 'sample', rtCode: 'sample' },
  'sign-up-developer': { email: 'sample@example.com', password: 'sample-password' },
  'sign-in-developer': { email: 'sample@example.com', password: 'sample-password' },
  'verify-developer-email': { token: 'sample', email: 'sample@example.com', otp: 'AAAA-AAAA' },
  'resend-developer-verification': { email: 'sample@example.com' },
  'request-developer-reset': { email: 'sample@example.com' },
  'reset-developer-password': {
    token: 'sample',
    email: 'sample@example.com',
    otp: 'AAAA-AAAA',
    newPassword: 'sample-password',
  },
  'change-developer-password': {
    currentPassword: 'sample-password',
    newPassword: 'sample-password',
    endTokens: true,
  },
  'delete-developer': { password: 'sample-password' },
  'exchange-developer-code': { token: 'sample', rtCode: 'sample' },
  'create-token': {
    name: 'sample',
    scopes: ['documents:read'],
    projectIds: ['f'.repeat(24)],
    expiresInDays: 1,
  },
  'create-project': {
    name: 'sample',
    siteUrl: 'https://example.com',
    allowedDomains: ['https://example.com'],
    allowPublicSignup: true,
    authEnabled: true,
    strictSessions: true,
    signIn: everyWay,
    uploads: { users: true, maxBytes: 1000, types: ['image/png'] },
  },
  'update-project': {
    name: 'sample',
    siteUrl: 'https://example.com',
    allowedDomains: ['*'],
    allowPublicSignup: true,
    authEnabled: true,
    strictSessions: true,
    signIn: everyWay,
    uploads: { users: true, maxBytes: 1000, types: ['image/png'] },
    directory: { read: true, fields: ['name'] },
    providerApiKey: 're_sample',
    providerWebhookSecret: 'whsec_c2FtcGxl',
    providerFromEmail: 'Sample <sample@example.com>',
    socialProviders: enableAllProviders('sample', 'sample'),
  },
  'create-collection': {
    name: 'sample',
    schema: [
      { key: 'text', type: 'String', default: 'a' },
      { key: 'ref', type: 'Ref', ref: 'notes' },
      { key: 'list', type: 'Array', items: { type: 'Ref', ref: 'notes' } },
      { key: 'object', type: 'Object', fields: [{ key: 'text', type: 'String' }] },
    ],
    rls: { enabled: true, mode: 'private', ownerField: 'owner' },
    searchLanguage: 'english',
    changes: true,
    closed: true,
    unique: [{ fields: ['text'], ignoreCase: true, keepTrashed: true }],
    effects: [],
    partition: 'text',
  },
  'update-collection': {
    name: 'sample',
    schema: [{ key: 'text', type: 'String' }],
    rls: { enabled: true, mode: 'private', ownerField: 'owner' },
    searchLanguage: 'english',
    changes: true,
    closed: true,
    unique: [{ fields: ['text'], ignoreCase: true, keepTrashed: true }],
    effects: [],
    partition: 'text',
    force: true,
  },
  'create-webhook': {
    url: 'https://example.com/hooks',
    events: ['document.created'],
    collections: ['notes'],
    enabled: true,
  },
  'update-webhook': {
    url: 'https://example.com/hooks',
    events: ['document.created'],
    collections: ['notes'],
    enabled: false,
  },
  'replay-webhook': { since: '2026-01-31T12:00:00Z', deliveryId: 'f'.repeat(24) },
  'create-index': { keys: { text: 1, place: '2dsphere' }, name: 'sample' },
  'sign-up': { email: 'sample@example.com', password: 'sample-password', name: 'sample' },
  'sign-in': { email: 'sample@example.com', password: 'sample-password' },
  'update-profile': { name: 'sample' },
  'change-password': { currentPassword: 'sample-password', newPassword: 'sample-password' },
  'request-email-change': { email: 'sample@example.com', password: 'sample-password' },
  'change-email': { token: 'sample', email: 'sample@example.com', otp: 'AAAA-AAAA' },
  'delete-account': { password: 'sample-password' },
  'verify-email': { token: 'sample', email: 'sample@example.com', otp: 'AAAA-AAAA' },
  'resend-verification-otp': { email: 'sample@example.com' },
  'request-password-reset': { email: 'sample@example.com' },
  'upgrade-anonymous': { email: 'sample@example.com', password: 'sample-password' },
  'confirm-totp': { code: '123456' },
  'remove-totp': { code: '123456', recoveryCode: 'AAAA-AAAA' },
  'create-recovery-codes': { code: '123456', recoveryCode: 'AAAA-AAAA' },
  'sign-in-with-factor': { ticket: 'sample', code: '123456', recoveryCode: 'AAAA-AAAA' },
  'register-passkey': { response: { id: 'sample', response: {} }, name: 'sample' },
  'sign-in-with-passkey': { response: {} },
  'send-code': { email: 'sample@example.com' },
  'send-developer-code': { email: 'sample@example.com' },
  'sign-in-developer-by-code': { token: 'sample', email: 'sample@example.com', code: 'AAAA-AAAA' },
  'register-developer-passkey': { response: { id: 'sample', response: {} }, name: 'sample' },
  'sign-in-developer-with-passkey': { response: {} },
  'confirm-developer-totp': { code: '123456' },
  'remove-developer-totp': { code: '123456', recoveryCode: 'AAAA-AAAA' },
  'sign-in-developer-with-factor': { ticket: 'sample', code: '123456', recoveryCode: 'AAAA-AAAA' },
  'sign-in-by-code': { token: 'sample', email: 'sample@example.com', code: 'AAAA-AAAA' },
  'reset-password': {
    token: 'sample',
    email: 'sample@example.com',
    otp: 'AAAA-AAAA',
    newPassword: 'sample-password',
  },
  'send-test-mail': { to: 'sample@example.com', variables: { count: 1 } },
  'create-audience': { name: 'sample' },
  'create-contact': { email: 'sample@example.com', firstName: 'a', lastName: 'b', unsubscribed: false },
  'update-contact': { email: 'sample@example.com', firstName: 'a', lastName: 'b', unsubscribed: true },
  'create-broadcast': {
    audienceId: 'sample',
    subject: 'sample',
    html: '<p>sample</p>',
    scheduledAt: '2030-01-01T00:00:00Z',
    from: 'sample@example.com',
  },
  'create-project-audience': { name: 'sample' },
  'create-project-contact': { email: 'sample@example.com', firstName: 'a', lastName: 'b', unsubscribed: false },
  'update-project-contact': { email: 'sample@example.com', firstName: 'a', lastName: 'b', unsubscribed: true },
  'create-project-broadcast': {
    audienceId: 'sample',
    subject: 'sample',
    html: '<p>sample</p>',
    scheduledAt: '2030-01-01T00:00:00Z',
    from: 'sample@example.com',
  },
  'create-mail-template': {
    name: 'sample',
    key: 'sample',
    subject: 'Hello {{name}}',
    html: '<p>{{name}}</p>',
    text: '{{name}}',
  },
  'update-mail-template': {
    name: 'sample',
    key: 'sample',
    subject: 'Hello {{name}}',
    html: '<p>{{name}}</p>',
    text: '{{name}}',
  },
  'request-upload': {
    ...{ filename: 'sample.txt', contentType: 'text/plain', size: 6, visibility: 'private' },
    of: { collection: 'notes', id: 'f'.repeat(24) },
  },
  'request-parts': { filePath: `${'f'.repeat(24)}/sample`, size: 6 },
  'confirm-upload': { filePath: `${'f'.repeat(24)}/sample`, size: 6 },
  'delete-file': { path: `${'f'.repeat(24)}/sample` },
  'change-visibility': { path: `${'f'.repeat(24)}/sample`, visibility: 'private' },
  'sign-links': linksSample,
  'send-mail': {
    to: 'sample@example.com',
    replyTo: 'sample@example.com',
    subject: 'sample',
    html: '<p>sample</p>',
    text: 'sample',
  },
  'send-batch': [{ to: 'sample@example.com', replyTo: 'sample@example.com', subject: 'sample', text: 'sample' }],
  'request-project-upload': { filename: 'sample.txt', contentType: 'text/plain', size: 6, visibility: 'public' },
  'confirm-project-upload': { filePath: `${'f'.repeat(24)}/sample`, size: 6 },
  'change-project-visibility': { path: `${'f'.repeat(24)}/sample`, visibility: 'private' },
  'sign-project-links': linksSample,
  'delete-files': { paths: ['sample'] },
  'end-reservation': { path: `${'f'.repeat(24)}/sample` },
  'connect-database': { uri: 'mongodb://sample:sample@127.0.0.1/sample' },
  'connect-storage': {
    endpoint: 'https://127.0.0.1',
    region: 'eu-central-1',
    bucket: 'sample',
    accessKeyId: 'sample',
    secretAccessKey: 'sample',
    publicHost: 'https://files.example.com',
  },
  'try-rules': {
    operation: 'update',
    userId: 'a'.repeat(24),
    documentId: 'b'.repeat(24),
    document: { n: 1 },
    changes: { n: 2 },
  },
  'try-effects': {
    operation: 'update',
    userId: 'a'.repeat(24),
    documentId: 'b'.repeat(24),
    document: { n: 1 },
    changes: { n: 2 },
    effects: [],
  },
  'create-user': { email: 'sample@example.com', password: 'sample-password', name: 'sample' },
  'update-user': { email: 'sample@example.com', password: 'sample-password', disabled: false, name: 'sample' },
} satisfies Readonly<Partial<Record<WithBody<Row>, unknown>>>;

const examples = Object.fromEntries(
  [...publicCases, ...dashboardCases].map(({ id, route }) => [id, route.example?.body]),
);

/**
 * A valid body for each route that has one, with every field that the route knows, so that a test can change one of
 * them: the route's example, unless this file has a more complete one. `complete` in contract/strings checks the fields.
 */
export const sampleBodies: Readonly<Record<string, unknown>> = { ...examples, ...bodies };
