import { validationFailed } from '../core/errors.ts';
import { etagOf } from '../documents/revision.ts';
import type { Event } from './middleware/middleware-types.ts';
import { namesTag } from './tagged-reply.ts';

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

/** Whether a read's `If-None-Match` names the revision, among others perhaps. */
export const isKnown = ({ headers }: Headers, revision: number): boolean =>
  namesTag(headers['if-none-match'], etagOf(revision));
