import type { GenericSchema } from 'valibot';
import type { Role } from '../projects/roles.ts';

/** An HTTP method of the API. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Who may call a route. The endpoint builders turn it into middleware, OpenAPI into security. */
export type Access = 'public' | 'anyKey' | 'publishableKey' | 'secretKey' | 'user' | 'developer';

/**
 * What a function needs besides the rate counts that all share; the deployment grants exactly this. `mongodb`: the
 * database secret. `sessions`: refresh sessions in the table, of whom the API is for. `user-sessions`: those of end
 * users, whichever API it is. `developer-sessions`: those of developers. `session-check`: asking whether the session
 * of a developer still stands, as every row that changes something for one does. `email-tokens`: what mails to either
 * carry. `dashboard-github`: the secret of the dashboard's app at GitHub. `encryption`: the master key. `purge`:
 * removing everything of a project from the table. `verifiers`: having customers' databases verified. `transfers`: the
 * files of exports and imports in our bucket. `work-queue`: sending tasks to the work queue. `work-delivery`: taking
 * them off it. `files`: the objects of our bucket. `uploads`: what the table knows of uploads, files and their quota.
 * `language-model`: the key of the schema assistant's endpoint. `language-model-quota`: counting its proposals.
 * `mail-queue`: accepting mails. `mail-delivery`: taking them off the queue. `mail-provider`: the key of the provider.
 * `mail-quota`: the slots of the month that a project's mails take, and what their owner and the service have.
 * `mail-webhook`: the secret that its events are signed with. `health`: asking the bucket and the queues whether they
 * are there.
 */
export type Use =
  | 'mongodb'
  | 'sessions'
  | 'user-sessions'
  | 'developer-sessions'
  | 'session-check'
  | 'dashboard-github'
  | 'email-tokens'
  | 'lockouts'
  | 'encryption'
  | 'purge'
  | 'files'
  | 'uploads'
  | 'verifiers'
  | 'transfers'
  | 'work-queue'
  | 'work-delivery'
  | 'mail-queue'
  | 'mail-delivery'
  | 'language-model'
  | 'language-model-quota'
  | 'mail-provider'
  | 'mail-quota'
  | 'mail-webhook'
  | 'usage'
  | 'health';

/** A row of a route table: everything about one endpoint but its handler. */
export interface Route {
  readonly method: Method | readonly Method[];
  /** Path as API Gateway writes it: `/api/data/{collectionName}`. */
  readonly path: `/${string}`;
  readonly access: Access;
  readonly uses: readonly Use[];
  readonly summary: string;
  /** Takes credentials: also counted in the stricter window, and refused if counting fails. */
  readonly credential?: true;
  /** Changes documents: a publishable key then needs row security and the owner's token. */
  readonly writes?: true;
  /** Also has a function URL, which bypasses the gateway, for callers that are not browsers. */
  readonly ownUrl?: true;
  /** Dashboard, below a project: the least role that may; otherwise viewers may read (GET) and admins do the rest. */
  readonly role?: Role;
  /**
   * Dashboard, below a project: `false` for a write that changes nothing, so that the audit trail has no entry of it.
   */
  readonly audit?: false;
  readonly query?: GenericSchema;
  readonly body?: GenericSchema;
  readonly response: { readonly status: number; readonly body: GenericSchema };
}

/** A row that knows its own name, which is the operation id and the name of its handler's file. */
export interface NamedRoute extends Route {
  readonly id: string;
}

/** The routes of one area, by operation id. */
export type RouteTable = Readonly<Record<string, NamedRoute>>;

type Named<T extends Readonly<Record<string, Route>>> = { readonly [K in keyof T]: T[K] & { readonly id: K & string } };

/** Declares one area's table: operation id → row. */
export const defineRoutes = <const T extends Readonly<Record<string, Route>>>(routes: T): Named<T> =>
  Object.fromEntries(Object.entries(routes).map(([id, route]) => [id, { ...route, id }])) as Named<T>;

/** `/a/{b}/{c}` → `{ b: string; c: string }` */
export type PathParams<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: string } & PathParams<Rest>
  : unknown;

/** The methods of a route, as a list. */
export const methodsOf = (route: Route): readonly Method[] =>
  typeof route.method === 'string' ? [route.method] : route.method;
