import type { GenericSchema } from 'valibot';
import type { Resource, Scope } from '../accounts/developers/scopes.ts';
import type { Role } from '../projects/project.ts';
import type { SignInMethod } from '../projects/sign-in-methods.ts';

/** An HTTP method of the API. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Who may call a route. The endpoint builders turn it into middleware, OpenAPI into security. */
export type Access = 'public' | 'anyKey' | 'publishableKey' | 'secretKey' | 'user' | 'developer';

/** A row of a route table: everything about one endpoint but its handler. */
export interface Route {
  readonly method: Method | readonly Method[];
  /** Also answers HEAD, by which monitors ask: as GET, without the body. */
  readonly head?: true;
  /** Path as API Gateway writes it: `/api/data/{collectionName}`. */
  readonly path: `/${string}`;
  readonly access: Access;
  readonly summary: string;
  /** Its function uses no database, so the API description lists no error of one; compared with its bundle by a test. */
  readonly database?: false;
  /** Takes credentials: also counted in the stricter window, and refused if counting fails. */
  readonly credential?: true;
  /** Changes documents: a publishable key then needs row security and the owner's token. */
  readonly writes?: true;
  /**
   * Takes an `Idempotency-Key`: what a repeat does whose first run ended without an answer. `by id` it finds what that
   * has stored by the ids, which are the same; otherwise what came of it is `unknown`.
   */
  readonly repeats?: 'by id' | 'unknown';
  /** Also has a function URL, which bypasses the gateway, for callers that are not browsers. */
  readonly ownUrl?: true;
  /** Does more for a caller who is signed in, which nobody needs to be. */
  readonly session?: 'optional';
  /** User accounts: the way to sign in without which the row is refused. */
  readonly way?: SignInMethod;
  /** Dashboard: what the row deals with, for which personal access tokens have scopes; without one they are refused. */
  readonly resource?: Resource;
  /**
   * Dashboard: scopes that a personal access token needs beyond the one of its resource, because the row hands out what
   * these protect. A row whose body decides it calls `requireScopes` instead.
   */
  readonly handsOut?: readonly Scope[];
  /** Dashboard, below a project: the least role that may; otherwise viewers may read (GET) and admins do the rest. */
  readonly role?: Role;
  /** Dashboard, below a project: `false` for a write that changes nothing, so without an audit entry. */
  readonly audit?: false;
  readonly query?: GenericSchema;
  readonly body?: GenericSchema;
  /** What the body may have; 1 MiB where nothing is said. */
  readonly maxBodyBytes?: number;
  /** `text`: the answer is plain text, not JSON. */
  readonly response: {
    readonly status: number;
    readonly body: GenericSchema;
    readonly text?: true;
    /** 201 with the same body where it made something; `PUT`: by that method with `If-None-Match: *`. */
    readonly orCreated?: true | 'PUT';
  };
}

/** A row that knows its own name, which is the operation id and the name of its handler's file. */
export interface NamedRoute extends Route {
  readonly id: string;
}

/** The routes of one area, by operation id. */
export type RouteTable = Readonly<Record<string, NamedRoute>>;

type Named<T, Shared = unknown> = { readonly [K in keyof T]: T[K] & Shared & { readonly id: K & string } };

/** A row of a table that says for all of its rows who may call them. */
type RowFor<P extends Route['path']> = Omit<Route, 'access'> & { readonly path: P };

/** Rows of projects, which say what they deal with. */
type ProjectPath = `/api/projects${string}`;
type WithResources<T> = {
  readonly [K in keyof T]: T[K] extends { readonly path: ProjectPath } ? { readonly resource: Resource } : unknown;
};

const named = <T extends object, Shared>(routes: T, shared: Shared): Named<T, Shared> =>
  Object.fromEntries(Object.entries(routes).map(([id, route]) => [id, { ...shared, ...route, id }])) as Named<
    T,
    Shared
  >;

/** Declares one area's table: operation id → row. */
export const defineRoutes = <const T extends Readonly<Record<string, Route>>>(routes: T & WithResources<T>): Named<T> =>
  named<T, unknown>(routes, {});

/** The table of an area whose rows all have the same way in. */
export const defineRoutesFor = <const A extends Access, const T extends Readonly<Record<string, RowFor<`/${string}`>>>>(
  access: A,
  routes: T & WithResources<T>,
): Named<T, { readonly access: A }> => named<T, { readonly access: A }>(routes, { access });

/** The table of an area of projects, for their developers; its rows deal with `resource` unless they say another. */
export const defineProjectRoutes = <const T extends Readonly<Record<string, RowFor<ProjectPath>>>>(
  resource: Resource,
  routes: T,
): Named<T, { readonly access: 'developer' }> => named(routes, { resource, access: 'developer' as const });

/** Makes rows that have these fields unless they say something else. */
export const defineRoutesLike =
  <const Shared extends Partial<Route>>(shared: Shared) =>
  <const R extends Partial<Route>>(row: R): Omit<Shared, keyof R> & R => ({ ...shared, ...row });

/** `/a/{b}/{c}` → `{ b: string; c: string }` */
export type PathParams<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: string } & PathParams<Rest>
  : unknown;

/** The methods of a route, as a list. */
export const methodsOf = (route: Pick<Route, 'method'>): readonly Method[] =>
  typeof route.method === 'string' ? [route.method] : route.method;

/** The methods that the gateway brings to a row. */
export const routedMethodsOf = (route: Pick<Route, 'method' | 'head'>): readonly (Method | 'HEAD')[] => [
  ...methodsOf(route),
  ...(route.head ? (['HEAD'] as const) : []),
];

/** True where a row changes nothing. */
export const isRead = (route: Pick<Route, 'method'>): boolean => methodsOf(route).every((method) => method === 'GET');

/** The scope of a dashboard route's resource; `undefined` if no personal access token may call the route. */
export const scopeOf = (route: Route): Scope | undefined =>
  route.resource && `${route.resource}:${isRead(route) ? 'read' : 'write'}`;

/** Every scope that a personal access token needs for a dashboard route; empty if no token may call it. */
export const scopesOf = (route: Route): readonly Scope[] => {
  const own = scopeOf(route);
  return own ? [own, ...(route.handsOut ?? [])] : [];
};
