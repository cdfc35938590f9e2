import type { GenericSchema, InferInput } from 'valibot';
import type { Resource, Scope } from '../accounts/developers/scopes.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { Role } from '../projects/project.ts';
import type { SignInMethod } from '../projects/user-settings.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Endpoint builders turn it into middleware, OpenAPI into security. */
export type Access = 'public' | 'anyKey' | 'publishableKey' | 'secretKey' | 'user' | 'developer';

/** Headers and cookies that some routes read in addition to key and token; described in `openapi/parameters.ts`. */
export type SentHeader =
  | 'x-refresh-token'
  | 'x-refresh-token-mode'
  | 'idempotency-key'
  | 'if-match'
  | 'if-none-match'
  | 'svix-id'
  | 'svix-timestamp'
  | 'svix-signature'
  | 'dashboard_refresh';

/** A successful request, for the API description. */
interface Example {
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Partial<Record<SentHeader, string>>>;
  readonly body?: unknown;
}

export interface Route {
  readonly method: Method | readonly Method[];
  /** HEAD is accepted too, because monitors use it. */
  readonly head?: true;
  /** In API Gateway's form: `/api/data/{collectionName}`. */
  readonly path: `/${string}`;
  readonly access: Access;
  readonly summary: string;
  /**
   * False: the function uses no database, so the API description lists no database error. A test compares it with the
   * bundle.
   */
  readonly database?: false;
  /** Accepts credentials: also counted in the stricter window, and rejected if counting fails. */
  readonly credential?: true;
  /** Writes documents: a publishable key needs row security and the owner's token. */
  readonly writes?: true;
  /**
   * Accepts an `Idempotency-Key`. If the first run ended without a response, a repeat finds what it stored `by id`, or
   * the outcome is `unknown`. `reissued`: as `by id`, but a successful response contains secrets, so it is not stored,
   * and each repeat issues new ones.
   */
  readonly repeats?: 'by id' | 'unknown' | 'reissued';
  /** Also has a function URL that bypasses the gateway, for callers that are not browsers. */
  readonly ownUrl?: true;
  /** A session is optional and changes the response. */
  readonly session?: 'optional';
  /** User accounts: the sign-in method that must be on. */
  readonly way?: SignInMethod;
  /** Dashboard: what scopes of personal access tokens refer to. Without it they are rejected. */
  readonly resource?: Resource;
  /**
   * Dashboard: more scopes that a personal access token needs, because the response contains what they protect. If the
   * body decides it, the handler calls `requireScopes`.
   */
  readonly handsOut?: readonly Scope[];
  /** Dashboard, below a project: the lowest role. Default: `viewer` for GET, otherwise `admin`. */
  readonly role?: Role;
  /** Dashboard, below a project: `false` for a POST that changes nothing. */
  readonly audit?: false;
  /** Dashboard: a POST whose body is a query. Its scope and role are those of a GET. */
  readonly reads?: true;
  readonly query?: GenericSchema;
  readonly body?: GenericSchema;
  /** Default: 1 MiB. */
  readonly maxBodyBytes?: number;
  /** `text`: plain text instead of JSON. */
  readonly response: {
    readonly status: number;
    readonly body: GenericSchema;
    readonly text?: true;
    /** Returns 201 if it created something; `'PUT'`: only with `PUT` and `If-None-Match: *`. */
    readonly orCreated?: true | 'PUT';
    /** The body of the 200 if the query `onConflict` is sent. */
    readonly orUpdated?: GenericSchema;
  };
  /** Required with `body`. */
  readonly example?: Example;
  /** The response has the document's revision as `ETag`. */
  readonly isRevised?: true;
  /** Error codes beyond those that access and options imply. */
  readonly errors?: readonly ErrorCode[];
}

/** `id` is the operation id and the name of the handler's file. */
export interface NamedRoute extends Route {
  readonly id: string;
}

export type RouteTable = Readonly<Record<string, NamedRoute>>;

type Named<T, Shared = unknown> = { readonly [K in keyof T]: T[K] & Shared & { readonly id: K & string } };

type RowFor<P extends Route['path']> = Omit<Route, 'access'> & { readonly path: P };

type ProjectPath = `/api/projects${string}`;
type WithResources<T> = {
  readonly [K in keyof T]: T[K] extends { readonly path: ProjectPath } ? { readonly resource: Resource } : unknown;
};

type Immutable<T> = T extends object ? { readonly [K in keyof T]: Immutable<T[K]> } : T;
/** A route with a body has an example that fits the schema. */
type WithExamples<T> = {
  readonly [K in keyof T]: T[K] extends { readonly body: infer S extends GenericSchema }
    ? { readonly example: { readonly body: Immutable<InferInput<S>> } }
    : unknown;
};

const named = <T extends object, Shared>(routes: T, shared: Shared): Named<T, Shared> =>
  Object.fromEntries(Object.entries(routes).map(([id, route]) => [id, { ...shared, ...route, id }])) as Named<
    T,
    Shared
  >;

export const defineRoutes = <const T extends Readonly<Record<string, Route>>>(
  routes: T & WithResources<T> & WithExamples<T>,
): Named<T> => named<T, unknown>(routes, {});

export const defineRoutesFor = <const A extends Access, const T extends Readonly<Record<string, RowFor<`/${string}`>>>>(
  access: A,
  routes: T & WithResources<T> & WithExamples<T>,
): Named<T, { readonly access: A }> => named<T, { readonly access: A }>(routes, { access });

/** Declares dashboard routes below a project; `resource` is their default. */
export const defineProjectRoutes = <const T extends Readonly<Record<string, RowFor<ProjectPath>>>>(
  resource: Resource,
  routes: T & WithExamples<T>,
): Named<T, { readonly access: 'developer' }> => named(routes, { resource, access: 'developer' as const });

export const defineRoutesLike =
  <const Shared extends Partial<Route>>(shared: Shared) =>
  <const R extends Partial<Route>>(row: R): Omit<Shared, keyof R> & R => ({ ...shared, ...row });

export type PathParams<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: string } & PathParams<Rest>
  : unknown;

export const methodsOf = (route: Pick<Route, 'method'>): readonly Method[] =>
  typeof route.method === 'string' ? [route.method] : route.method;

export const routedMethodsOf = (route: Pick<Route, 'method' | 'head'>): readonly (Method | 'HEAD')[] => [
  ...methodsOf(route),
  ...(route.head ? (['HEAD'] as const) : []),
];

export const isRead = (route: Pick<Route, 'method' | 'reads'>): boolean =>
  route.reads === true || methodsOf(route).every((method) => method === 'GET');

/** True if anyone who knows the `Idempotency-Key` gets a session. */
export const opensSession = ({ repeats, credential }: Pick<Route, 'repeats' | 'credential'>): boolean =>
  repeats === 'reissued' && credential === true;

/** Minimum length of an `Idempotency-Key`; 22 characters of base64 have 128 bits. */
export const minKeyLength = (route: Pick<Route, 'repeats' | 'credential'>): number => (opensSession(route) ? 22 : 1);

/** `undefined` if no personal access token may call the route. */
export const scopeOf = (route: Route): Scope | undefined =>
  route.resource && `${route.resource}:${isRead(route) ? 'read' : 'write'}`;

/** All scopes that a personal access token needs; empty if none may call the route. */
export const scopesOf = (route: Route): readonly Scope[] => {
  const own = scopeOf(route);
  return own ? [own, ...(route.handsOut ?? [])] : [];
};
