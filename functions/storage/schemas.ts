import * as v from 'valibot';
import { JsonObject } from '../schemas.ts';

const text = v.pipe(v.string('must be a String'), v.minLength(1, 'must not be empty'));

/** A JSON object with these fields; others are dropped, as clients send more than is asked for. */
const body = <const E extends v.ObjectEntries>(entries: E) => v.pipe(JsonObject, v.object(entries));

/** `type/subtype` with parameters, as HTTP writes it. */
const mediaType =
  /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}(?: ?; ?[\w!#$&^.+-]{1,100}=(?:[\w!#$&^.+-]{1,100}|"[\w !#$&^.+:,/-]{0,100}"))*$/;

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

/** What is told of a file before it is uploaded, and afterwards. */
export const requestedUpload = { filename: text, contentType, size };
export const uploaded = { filePath: text, size };

export const UploadRequestBody = body(requestedUpload);
export const UploadConfirmBody = body(uploaded);
export const FileBody = body({ path: text });

export const UploadRequestAnswer = v.object({ signedUrl: v.string(), filePath: v.string() });

/** A file that is public from now on. */
export const confirmedUpload = {
  path: v.string(),
  provider: v.picklist(['internal', 'external']),
  url: v.nullable(v.string()),
  warning: v.optional(v.string()),
};

export const UploadConfirmAnswer = v.object({ message: v.string(), ...confirmedUpload });

export const FileDeletedAnswer = v.object({ success: v.literal(true), data: v.object({}), message: v.string() });
