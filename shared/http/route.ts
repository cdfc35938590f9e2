import type { GenericSchema } from 'valibot';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Who may call a route. The endpoint builders turn it into middleware, OpenAPI into security. */
export type Access = 'public' | 'anyKey' | 'publishableKey' | 'secretKey' | 'user' | 'developer';

/**
 * What a function needs besides the rate counts that all share; the deployment grants exactly this.
 * `mongodb`: the database secret. `sessions`: refresh sessions in the table, of whom the API is for. `user-sessions`: those of
 * end users, whichever API it is. `email-tokens`: what mails to end users carry.
 * `encryption`: the master key. `purge`: removing everything of a project from the table.
 * `mail-queue`: accepting mails. `mail-delivery`: taking them off the queue. `mail-provider`: the key of the provider.
 */
export type Use =
  | 'mongodb'
  | 'sessions'
  | 'user-sessions'
  | 'email-tokens'
  | 'lockouts'
  | 'encryption'
  | 'purge'
  | 'mail-queue'
  | 'mail-delivery'
  | 'mail-provider';

export interface Route {
  readonly method: Method | readonly Method[];
  /** Path as API Gateway writes it: `/api/data/{collectionName}`. */
  readonly path: `/${string}`;
  readonly access: Access;
  readonly uses: readonly Use[];
  readonly summary: string;
  /** Takes an e-mail address and a password or code: counted in the narrow window, refused when counting fails. */
  readonly credential?: true;
  /** Changes documents: a publishable key then needs row security and the owner's token. */
  readonly writes?: true;
  readonly query?: GenericSchema;
  readonly body?: GenericSchema;
  readonly response: { readonly status: number; readonly body: GenericSchema };
}

/** A row that knows its own name, which is the operation id and the name of its handler's file. */
export interface NamedRoute extends Route {
  readonly id: string;
}

export type RouteTable = Readonly<Record<string, NamedRoute>>;

type Named<T extends Readonly<Record<string, Route>>> = { readonly [K in keyof T]: T[K] & { readonly id: K & string } };

/** Declares one area's table: operation id → row. */
export const defineRoutes = <const T extends Readonly<Record<string, Route>>>(routes: T): Named<T> =>
  Object.fromEntries(Object.entries(routes).map(([id, route]) => [id, { ...route, id }])) as Named<T>;

/** `/a/{b}/{c}` → `{ b: string; c: string }` */
export type PathParams<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: string } & PathParams<Rest>
  : unknown;

export const methodsOf = (route: Route): readonly Method[] =>
  typeof route.method === 'string' ? [route.method] : route.method;
