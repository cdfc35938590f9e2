import { validationFailed } from '../core/errors.ts';
import { etagOf } from '../core/text.ts';
import { parseSentWhere } from '../documents/query/list-query.ts';
import type { Preconditions } from '../documents/store/preconditions.ts';
import { namesTag, type Reply } from './reply.ts';
import type { Event } from './stack.ts';

type Headers = Pick<Event, 'headers'>;

/**
 * Returns the revision in `If-Match`; `undefined` for none and for `*`. A `W/` prefix is ignored, because compressing
 * proxies add it. Throws 400 `VALIDATION_FAILED` for anything else.
 */
export const ifMatchOf = ({ headers: { 'if-match': header } }: Headers): number | undefined => {
  if (header === undefined || header.trim() === '*') return undefined;
  const revision = Number(/^\s*(?:W\/)?"(0|[1-9]\d{0,15})"\s*$/.exec(header)?.[1] ?? Number.NaN);
  if (Number.isSafeInteger(revision)) return revision;
  throw validationFailed({
    field: 'if-match',
    message: 'if-match must be one revision from an ETag, with its quotes, or *',
  });
};

/** Returns what a write asks of its document: the revision in `If-Match`, and the `where` of the query. */
export const preconditionsOf = (event: Event, where: string | undefined): Preconditions => ({
  ifMatch: ifMatchOf(event),
  ...(where !== undefined && { where: parseSentWhere(where, event.rawQueryString) }),
});

/** True if `If-None-Match` is `*`. Throws 400 `VALIDATION_FAILED` for another value, or together with `If-Match`. */
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

export const isKnown = ({ headers }: Headers, revision: number): boolean =>
  namesTag(headers['if-none-match'], etagOf(revision));

export const notModified = (revision: number): Reply => ({
  statusCode: 304,
  headers: { 'cache-control': 'no-store', etag: etagOf(revision) },
  body: '',
});
