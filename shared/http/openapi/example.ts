import type { GenericSchema, InferInput } from 'valibot';
import type { ErrorCode } from '../../core/errors.ts';
import type { PathParams, Route, RouteTable } from '../route.ts';

/** Headers and cookies that some routes read besides key and token; described in `parameters.ts`. */
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

/** A successful request, and the errors that the route table does not imply. */
export interface Example {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Partial<Record<SentHeader, string>>>;
  readonly body?: unknown;
  /** The response has the document's revision as `ETag`. */
  readonly isRevised?: true;
  /** Errors specific to this route. */
  readonly failures?: readonly ErrorCode[];
}

type Has<R extends Route, K extends 'query' | 'body'> = R extends { readonly [P in K]: infer S extends GenericSchema }
  ? InferInput<S>
  : undefined;

type BodyOf<R extends Route> = Has<R, 'body'> extends undefined ? unknown : { readonly body: Has<R, 'body'> };

type ParamsOf<R extends Route> = keyof PathParams<R['path']> extends never
  ? unknown
  : { readonly params: PathParams<R['path']> };

type ExampleOf<R extends Route> = Example & BodyOf<R> & ParamsOf<R>;

export type Examples = Readonly<Record<string, Example>>;

export const defineExamples = <T extends RouteTable>(
  _table: T,
  examples: { readonly [K in keyof T]: ExampleOf<T[K]> },
): Examples => examples;
