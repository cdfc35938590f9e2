import { hash } from 'node:crypto';
import { type InferInput, parse } from 'valibot';
import { type ErrorCode, statusOf, validationFailed } from '../core/errors.ts';
import { fitsResponse, type JsonText, jsonOf, responseTooLarge } from '../core/json.ts';
import { currentRequest } from '../core/log.ts';
import { etagOf } from '../documents/document.ts';
import type { Health } from '../usage/health.ts';
import type { Route } from './route.ts';
import type { Event } from './stack.ts';

/** An answer in the form API Gateway takes (payload 2.0). */
export interface Reply {
  statusCode: number;
  headers: Record<string, string>;
  cookies?: string[];
  body: string;
}

/** What every JSON answer carries; answers hold a caller's own data, so no cache may keep them. */
const jsonHeaders = (): Record<string, string> => ({
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
const requireFitting = (text: string): string => {
  if (fitsResponse(text)) return text;
  throw responseTooLarge();
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

/** The same response for what has just been made, of a route that has `orCreated`. */
export const created = (reply: Reply): Reply => ({ ...reply, statusCode: 201 });

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

/** The strong entity tag of a text: equal texts have equal ones. */
const entityTag = (text: string): string => `"${hash('sha256', text, 'base64url').slice(0, 27)}"`;

/** Whether a tag is among those of `If-None-Match`, where a weak one stands for the strong (RFC 9110, 13.1.2). */
const namesTag = (ifNoneMatch: string | undefined, tag: string): boolean =>
  ifNoneMatch?.trim() === '*' || [...(ifNoneMatch?.matchAll(/"[^"]*"/g) ?? [])].some(([named]) => named === tag);

/**
 * A text that depends on the caller's key, for caches of their own that ask each time: 304 without a body where
 * `If-None-Match` names it. Larger than a response can be → 400 `RESULT_TOO_LARGE`.
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

type Headers = Pick<Event, 'headers'>;

/**
 * The revision that a write's `If-Match` asks for; `undefined` for none, and for `*`, since it needs its document
 * anyway. A compressing proxy makes an `ETag` weak, so `W/` before it counts for nothing: a revision is exact. Anything
 * but one revision → 400 `VALIDATION_FAILED`.
 */
export const ifMatchOf = ({ headers: { 'if-match': header } }: Headers): number | undefined => {
  if (header === undefined || header.trim() === '*') return undefined;
  const revision = Number(/^\s*(?:W\/)?"(0|[1-9]\d{0,15})"\s*$/.exec(header)?.[1] ?? Number.NaN);
  if (Number.isSafeInteger(revision)) return revision;
  throw validationFailed({
    field: 'if-match',
    message: 'if-match must be one revision as ETag has it, quotes included, or *',
  });
};

/**
 * Whether a write is to make a document that is not there: `If-None-Match: *`. Another value, or `If-Match` beside it →
 * 400 `VALIDATION_FAILED`.
 */
export const mustNotExist = ({ headers: { 'if-none-match': header, 'if-match': ifMatch } }: Headers): boolean => {
  if (header === undefined) return false;
  if (header.trim() !== '*') {
    const message = 'if-none-match of a PUT must be *, which inserts the document if its id is free';
    throw validationFailed({ field: 'if-none-match', message });
  }
  if (ifMatch === undefined) return true;
  const message = 'if-match cannot be sent with if-none-match: a document that must not exist has no revision';
  throw validationFailed({ field: 'if-match', message });
};

/** Whether a read's `If-None-Match` names the revision, among others perhaps. */
export const isKnown = ({ headers }: Headers, revision: number): boolean =>
  namesTag(headers['if-none-match'], etagOf(revision));

const code: ErrorCode = 'SERVICE_UNAVAILABLE';
const retrySeconds = 5;

/** Answers a health check: with the row's own status where all is well, else 503 in the envelope, `data` with it. */
export const respondHealth = (route: Route, data: Health): Reply => {
  if (data.status === 'ok') {
    const body = { success: true, data, message: 'Every part of the service answers' };
    return { statusCode: route.response.status, headers: jsonHeaders(), body: JSON.stringify(body) };
  }
  const silent = Object.entries(data.parts).flatMap(([name, { ok }]) => (ok ? [] : [name]));
  const message = `Not every part of the service answers: ${silent.join(', ')}. Please try again.`;
  const requestId = currentRequest.getStore()?.requestId ?? '';
  return {
    statusCode: statusOf[code],
    headers: { ...jsonHeaders(), 'retry-after': String(retrySeconds) },
    body: JSON.stringify({ success: false, message, code, requestId, data }),
  };
};
