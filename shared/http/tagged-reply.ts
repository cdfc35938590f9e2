import { hash } from 'node:crypto';
import type { Event } from './middleware/middleware-types.ts';
import { type Reply, requireFitting } from './reply.ts';
import type { Route } from './route.ts';

/** The strong entity tag of a text: equal texts have equal ones. */
const entityTag = (text: string): string => `"${hash('sha256', text, 'base64url').slice(0, 27)}"`;

/** Whether a tag is among those of `If-None-Match`, where a weak one stands for the strong (RFC 9110, 13.1.2). */
export const namesTag = (ifNoneMatch: string | undefined, tag: string): boolean =>
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
