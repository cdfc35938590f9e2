import { type InferInput, parse } from 'valibot';
import { answerTooLarge, fitsAnswer } from '../core/answer-size.ts';
import { type JsonText, jsonOf } from '../core/json-text.ts';
import { etagOf } from '../documents/revision.ts';
import type { Route } from './route.ts';

/** An answer in the form API Gateway takes (payload 2.0). */
export interface Reply {
  statusCode: number;
  headers: Record<string, string>;
  cookies?: string[];
  body: string;
}

/** What every JSON answer carries; answers hold a caller's own data, so no cache may keep them. */
export const jsonHeaders = (): Record<string, string> => ({
  'content-type': 'application/json',
  'cache-control': 'no-store',
});

/** The same shape, with nothing in it that the answer could change; objects in it may be JSON already. */
type Frozen<T> = T extends readonly (infer E)[]
  ? readonly Frozen<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> } | JsonText
    : T;

/** A body that Lambda would not take → 400 `RESULT_TOO_LARGE`. */
export const requireFitting = (text: string): string => {
  if (fitsAnswer(text)) return text;
  throw answerTooLarge();
};

/**
 * A response with the route's status and a body that fits its schema. `maxAgeSeconds` is for content that is the same
 * for everyone: caches may keep it that long; `revision` of a document becomes its `ETag`. Larger than a response can
 * be → 400 `RESULT_TOO_LARGE`.
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

/** Says that a document is still at the revision that the caller has. */
export const notModified = (revision: number): Reply => ({
  statusCode: 304,
  headers: { 'cache-control': 'no-store', etag: etagOf(revision) },
  body: '',
});

/** A response with the fields that the route's schema declares and no others, for data about people. */
export const respondExactly = <const R extends Route>(
  route: R,
  body: Frozen<InferInput<R['response']['body']>>,
  extra: { readonly cookies?: readonly string[]; readonly maxAgeSeconds?: number } = {},
): Reply => respond(route, parse(route.response.body, body) as typeof body, extra);

/** Redirects a browser with the route's status, without a `Referer`. */
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
