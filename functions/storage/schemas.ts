import * as v from 'valibot';
import { listOf } from '../../shared/core/text.ts';
import { fits, formats, sides } from '../../shared/files/images/variant-url.ts';
import { JsonObject, strictBody, success } from '../schemas.ts';

const text = v.pipe(v.string('must be a String'), v.minLength(1, 'must not be empty'));

/** Other fields are dropped, because existing clients send more. */
const body = <const E extends v.ObjectEntries>(entries: E) => v.pipe(JsonObject, v.object(entries));

/**
 * `type/subtype` with parameters, as browsers name recordings (`codecs=vp8,opus`). After an unquoted comma there is no
 * slash, so that no second type can begin.
 */
const mediaType =
  /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}(?: ?; ?[\w!#$&^.+-]{1,100}=(?:[\w!#$&^.+,-]{1,100}|"[\w !#$&^.+:,/-]{0,100}"))*$/;

const contentType = v.pipe(
  v.string('must be a String'),
  v.maxLength(200, 'must have at most 200 characters'),
  v.regex(mediaType, 'must be a media type such as image/png'),
);

const size = v.pipe(
  v.number('must be a Number'),
  v.safeInteger('must be a whole number of bytes'),
  v.minValue(1, 'must be at least 1'),
);

export const visibility = v.picklist(['public', 'private'], 'must be public or private');

export const requestedUpload = { filename: text, contentType, size, visibility: v.optional(visibility) };
export const uploaded = { filePath: text, size };

/** The document that the file belongs to. */
const fileDocument = strictBody({ collection: text, id: text });

export const UploadRequestBody = strictBody({ ...requestedUpload, of: v.optional(fileDocument) });
export const UploadConfirmBody = body(uploaded);
export const UploadPartsBody = body({ filePath: text, size: v.optional(size) });
export const changedPath = { path: text };
export const FileBody = body(changedPath);

export const changedVisibility = { path: text, visibility };
export const VisibilityBody = body(changedVisibility);

/** Other sizes fail with `INVALID_SIZE`, as in URLs. */
const side = v.optional(v.pipe(v.number('must be a Number'), v.metadata({ enum: sides })));
const oneOf = (list: readonly string[]) => v.optional(v.pipe(v.string('must be a String'), v.metadata({ enum: list })));

const mostLinks = 100;
const linkCount = `must have 1 to ${mostLinks} paths`;
const linkSeconds = 'must be a whole number of seconds from 60 to 604800';

/** Image options apply to all paths. */
export const askedLinks = {
  paths: v.pipe(
    listOf(v.string('must be a String'), mostLinks, linkCount, 'must be an Array'),
    v.minLength(1, linkCount),
  ),
  expiresIn: v.optional(
    v.pipe(
      v.number('must be a Number'),
      v.integer(linkSeconds),
      v.minValue(60, linkSeconds),
      v.maxValue(604_800, linkSeconds),
    ),
    3600,
  ),
  width: side,
  height: side,
  fit: oneOf(fits),
  format: oneOf(formats),
};
export const LinksBody = body(askedLinks);

/** `name` is for display; `filePath` contains an ASCII form of it. */
export const UploadRequestAnswer = v.object({ signedUrl: v.string(), filePath: v.string(), name: v.string() });

/** Bytes in all, per part (except the last), and received; and the next missing parts. */
export const UploadPartsAnswer = success(
  v.object({
    filePath: v.string(),
    size: v.number(),
    partSize: v.number(),
    uploaded: v.number(),
    parts: v.array(v.object({ number: v.number(), size: v.number(), signedUrl: v.string() })),
    expiresAt: v.optional(v.date()),
  }),
);

export const confirmedUpload = {
  path: v.string(),
  name: v.string(),
  provider: v.picklist(['internal', 'external']),
  url: v.nullable(v.string()),
  warning: v.optional(v.string()),
};

export const UploadConfirmAnswer = v.object({ message: v.string(), ...confirmedUpload });

export const atMost = (most: number) => v.pipe(v.string(), v.maxLength(most, `must have at most ${most} characters`));

/** `collection` and `id` name the document whose files are listed. */
export const OwnFilesQuery = v.strictObject({
  prefix: v.optional(atMost(100)),
  cursor: v.optional(atMost(300)),
  collection: v.optional(atMost(100)),
  id: v.optional(atMost(100)),
});

export const StoredFile = v.object({
  path: v.string(),
  name: v.string(),
  size: v.number(),
  contentType: v.string(),
  visibility,
  owner: v.nullable(v.string()),
  url: v.nullable(v.string()),
  createdAt: v.date(),
});

export const OwnFilesAnswer = success(v.object({ items: v.array(StoredFile), nextCursor: v.optional(v.string()) }));

export const VisibilityAnswer = success(v.object({ path: v.string(), visibility, url: v.nullable(v.string()) }));

/** In the order of the request: a link, or why there is none. */
export const LinksAnswer = success(
  v.array(
    v.union([
      v.object({ path: v.string(), url: v.string(), expiresAt: v.date() }),
      v.object({ path: v.string(), error: v.object({ code: v.literal('FILE_NOT_FOUND'), message: v.string() }) }),
    ]),
  ),
);

export const FileDeletedAnswer = v.object({ success: v.literal(true), data: v.object({}), message: v.string() });
