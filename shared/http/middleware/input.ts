import type { GenericSchema, InferOutput } from 'valibot';
import { parseJsonBody } from '../json-body.ts';
import type { PathParams, Route } from '../route.ts';
import { parseInput } from '../validation.ts';
import type { Event, Middleware } from './middleware-types.ts';

type Output<S> = S extends GenericSchema ? InferOutput<S> : undefined;

/** What the row declares, parsed: path parameters, query and body. */
export interface Input<R extends Route> {
  readonly params: PathParams<R['path']>;
  readonly query: Output<R['query']>;
  readonly body: Output<R['body']>;
  /** Every query pair as sent, decoded, in order; the same name may come twice. */
  readonly queryPairs: readonly (readonly [string, string])[];
}

/** Added by `input`. */
export interface WithInput<R extends Route> {
  readonly input: Input<R>;
}

/** The same while its parts are of any kind: the row's own schemas have made them what it declares. */
type Unchecked = { readonly [Part in keyof Input<Route>]: unknown };

const pairsOf = (event: Event): [string, string][] =>
  event.rawQueryString ? [...new URLSearchParams(event.rawQueryString)] : [];

/** Parses what the row declares; anything that does not fit → 400 naming the field. */
export const input = <R extends Route>(route: R): Middleware<unknown, WithInput<R>> => ({
  before: ({ event }) => {
    const queryPairs = pairsOf(event);
    const value: Unchecked = {
      params: event.pathParameters ?? {},
      query: route.query && parseInput(route.query, Object.fromEntries(queryPairs), 'INVALID_QUERY'),
      body: route.body && parseInput(route.body, parseJsonBody(event.body, event.isBase64Encoded), 'VALIDATION_FAILED'),
      queryPairs,
    };
    return { input: value as Input<R> };
  },
});
