import type { GenericSchema, InferInput } from 'valibot';
import type { ErrorCode } from '../../core/errors.ts';
import type { PathParams, Route, RouteTable } from '../route.ts';

/** Headers and cookies that some rows read besides their key or token; `parameters.ts` says what they are. */
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

/** What a row's table does not say: a request that succeeds, and what else may come of it. */
export interface Example {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Partial<Record<SentHeader, string>>>;
  readonly body?: unknown;
  /** Its answer has the revision of a document as `ETag`. */
  readonly isRevised?: true;
  /** Refusals of this row's own; those of its kind of access are known. */
  readonly failures?: readonly ErrorCode[];
}

type Has<R extends Route, K extends 'query' | 'body'> = R extends { readonly [P in K]: infer S extends GenericSchema }
  ? InferInput<S>
  : undefined;

type BodyOf<R extends Route> = Has<R, 'body'> extends undefined ? unknown : { readonly body: Has<R, 'body'> };

type ParamsOf<R extends Route> = keyof PathParams<R['path']> extends never
  ? unknown
  : { readonly params: PathParams<R['path']> };

/** An example that has whatever its row asks for. */
type ExampleOf<R extends Route> = Example & BodyOf<R> & ParamsOf<R>;

/** Row → example, for every row of an area. */
export type Examples = Readonly<Record<string, Example>>;

/** Declares the examples of one area's table: one a row, with the row's own parameters and body. */
export const defineExamples = <T extends RouteTable>(
  _table: T,
  examples: { readonly [K in keyof T]: ExampleOf<T[K]> },
): Examples => examples;
