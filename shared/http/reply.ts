import { hash } from 'node:crypto';
import { type GenericSchema, type InferInput, parse } from 'valibot';
import { fitsResponse, type JsonText, jsonOf, responseTooLarge } from '../core/json.ts';
import { etagOf } from '../core/text.ts';
import type { Route } from './route.ts';
import type { Event } from './stack.ts';

/** A response in API Gateway's payload format 2.0. */
export interface Reply {
  statusCode: number;
  headers: Record<string, string>;
  cookies?: string[];
  body: string;
}

/** Responses contain the caller's own data, so caches must not store them. */
export const jsonHeaders = (): Record<string, string> => ({
  'content-type': 'application/json',
  'cache-control': 'no-store',
});

/** A readonly copy of the type; nested objects may already be JSON. */
type Frozen<T> = T extends readonly (infer E)[]
  ? readonly Frozen<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> } | JsonText
    : T;

/** Throws 400 `RESULT_TOO_LARGE` if Lambda would reject the body. */
const requireFitting = (text: string): string => {
  if (fitsResponse(text)) return text;
  throw responseTooLarge();
};

/**
 * Returns a response with the route's status. `maxAgeSeconds` lets caches store content that is equal for everyone. A
 * document's `revision` becomes its `ETag`. Throws 400 `RESULT_TOO_LARGE`.
 */
export const respond = <const R extends Route>(
  route: R,
  body: Frozen<InferInput<R['response']['body']>>,
  extra: {
    readonly cookies?: readonly string[];
    readonly maxAgeSeconds?: number;
    readonly revision?: number | undefined;
  } = {},
): Reply => ({
  statusCode: route.response.status,
  headers: {
    ...jsonHeaders(),
    ...(extra.revision !== undefined && { etag: etagOf(extra.revision) }),
    ...(extra.maxAgeSeconds !== undefined && { 'cache-control': `public, max-age=${extra.maxAgeSeconds}` }),
  },
  ...(extra.cookies ? { cookies: [...extra.cookies] } : {}),
  body: requireFitting(jsonOf(body)),
});

export const created = (reply: Reply): Reply => ({ ...reply, statusCode: 201 });

/** Returns the 200 of a route with `orUpdated`. */
export const respondUpdated = <const R extends Route & { readonly response: { readonly orUpdated: GenericSchema } }>(
  route: R,
  body: Frozen<InferInput<R['response']['orUpdated']>>,
  extra: { readonly revision?: number | undefined } = {},
): Reply => {
  const { orUpdated } = route.response;
  return respond<Route>({ ...route, response: { status: 200, body: orUpdated } }, body, extra);
};

/** Returns only the fields that the route's schema declares; for personal data. */
export const respondExactly = <const R extends Route>(
  route: R,
  body: Frozen<InferInput<R['response']['body']>>,
  extra: { readonly cookies?: readonly string[]; readonly maxAgeSeconds?: number } = {},
): Reply => respond(route, parse(route.response.body, body) as typeof body, extra);

/** Redirects with the route's status and without a `Referer`. */
export const redirect = (
  route: Route,
  location: string,
  { cookies = [] }: { readonly cookies?: readonly string[] } = {},
): Reply => ({
  statusCode: route.response.status,
  headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
  cookies: [...cookies],
  body: '',
});

const entityTag = (text: string): string => `"${hash('sha256', text, 'base64url').slice(0, 27)}"`;

/** True if `If-None-Match` contains the tag; weak tags count (RFC 9110, 13.1.2). */
export const namesTag = (ifNoneMatch: string | undefined, tag: string): boolean =>
  ifNoneMatch?.trim() === '*' || [...(ifNoneMatch?.matchAll(/"[^"]*"/g) ?? [])].some(([named]) => named === tag);

/**
 * Returns a text that depends on the caller's key, with an `ETag`; 304 if `If-None-Match` contains it. Throws 400
 * `RESULT_TOO_LARGE`.
 */
export const respondTagged = ({ response }: Route, { headers }: Event, text: string): Reply => {
  const tag = entityTag(text);
  const isKnown = namesTag(headers['if-none-match'], tag);
  return {
    statusCode: isKnown ? 304 : response.status,
    headers: {
      ...(isKnown ? {} : { 'content-type': response.text ? 'text/plain; charset=utf-8' : 'application/json' }),
      'cache-control': 'private, no-cache',
      vary: 'x-api-key',
      etag: tag,
    },
    body: isKnown ? '' : requireFitting(text),
  };
};
