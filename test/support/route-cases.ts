import { dashboardRoutes, publicRoutes } from '../../functions/routes.ts';
import { methodsOf, type NamedRoute, type RouteTable } from '../../shared/http/route.ts';

/** One method of one row of the route table. */
export interface RouteCase {
  readonly id: string;
  readonly method: string;
  readonly route: NamedRoute;
  /** Which gateway serves it. */
  readonly api: 'public' | 'dashboard';
  /** The row's path with its parameters filled in, each percent-encoded. */
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

/** Every method of every row of the public API, then of the dashboard API. */
export const publicCases = casesOf(publicRoutes, 'public');
export const dashboardCases = casesOf(dashboardRoutes, 'dashboard');

/** Rows of user accounts: most take the publishable key only, some the token of an end user besides. */
export const accountCases = publicCases.filter(({ route }) => route.path.startsWith('/api/userAuth/'));

/** Something well-formed for each parameter of a path; a test says itself which of them are to exist. */
export const sampleParameters = {
  projectId: 'f'.repeat(24),
  collectionName: 'notes',
  indexName: 'none',
  id: 'f'.repeat(24),
  sessionId: 'f'.repeat(24),
  username: 'ann',
  provider: 'github',
} as const;

/**
 * A good body for every row that takes one, with every field that the row knows, so that a test can change one thing in it.
 * `complete` in the tests of contract/strings holds it to the table.
 */
export const sampleBodies: Readonly<Record<string, unknown>> = {
  'create-document': { text: 'a', nested: { text: 'b' }, list: ['c'] },
  'insert-documents': [{ text: 'a' }, { text: 'b' }],
  'update-document': { text: 'c', 'nested.text': 'd' },
  'aggregate-documents': { pipeline: [{ $match: { text: 'a' } }, { $limit: 1 }] },
  'exchange-refresh-token': { token: 'sample', rtCode: 'sample' },
  'register-developer': { email: 'sample@example.com', password: 'sample-password' },
  'log-in-developer': { email: 'sample@example.com', password: 'sample-password' },
  'create-project': {
    name: 'sample',
    siteUrl: 'https://example.com',
    allowedDomains: ['https://example.com'],
    allowPublicSignup: true,
    authEnabled: true,
  },
  'update-project': {
    name: 'sample',
    siteUrl: 'https://example.com',
    allowedDomains: ['*'],
    allowPublicSignup: true,
    authEnabled: true,
    socialProviders: {
      github: { enabled: true, clientId: 'sample', clientSecret: 'sample' },
      google: { enabled: true, clientId: 'sample', clientSecret: 'sample' },
    },
  },
  'rotate-key': { type: 'secret', graceHours: 1 },
  'create-collection': {
    name: 'sample',
    schema: [
      { key: 'text', type: 'String', default: 'a' },
      { key: 'ref', type: 'Ref', ref: 'notes' },
      { key: 'list', type: 'Array', items: { type: 'Ref', ref: 'notes' } },
      { key: 'object', type: 'Object', fields: [{ key: 'text', type: 'String' }] },
    ],
    rls: { enabled: true, mode: 'private', ownerField: 'owner' },
  },
  'update-collection': {
    name: 'sample',
    schema: [{ key: 'text', type: 'String' }],
    rls: { enabled: true, mode: 'private', ownerField: 'owner' },
    force: true,
  },
  'create-index': { keys: { text: 1, place: '2dsphere' }, name: 'sample' },
  'sign-up': { email: 'sample@example.com', password: 'sample-password', name: 'sample' },
  'log-in': { email: 'sample@example.com', password: 'sample-password' },
  'update-profile': { name: 'sample' },
  'change-password': { currentPassword: 'sample-password', newPassword: 'sample-password' },
  'verify-email': { token: 'sample', email: 'sample@example.com', otp: 'AAAA-AAAA' },
  'resend-verification-otp': { email: 'sample@example.com' },
  'request-password-reset': { email: 'sample@example.com' },
  'reset-password': {
    token: 'sample',
    email: 'sample@example.com',
    otp: 'AAAA-AAAA',
    newPassword: 'sample-password',
  },
  'create-user': { email: 'sample@example.com', password: 'sample-password', name: 'sample' },
  'update-user': { email: 'sample@example.com', password: 'sample-password', disabled: false, name: 'sample' },
};
