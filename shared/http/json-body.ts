import { isUtf8 } from 'node:buffer';
import { AppError } from '../core/errors.ts';
import { parseJsonValue } from '../core/json-value.ts';

const mebibyte = 1024 * 1024;

const notUtf8 = (): AppError => new AppError('INVALID_JSON', 'The body is not valid JSON: it is not UTF-8.');

/** Bytes that are no UTF-8 would each become another character. */
const textOf = (bytes: Buffer): string => {
  if (isUtf8(bytes)) return bytes.toString();
  throw notUtf8();
};

/** With a textual Content-Type the gateway has decoded the body: what is no UTF-8 became U+FFFD, of three bytes. */
const requireAsSent = (text: string, sentBytes: string | undefined): void => {
  if (sentBytes === undefined || !text.includes('\u{FFFD}')) return;
  if (Buffer.byteLength(text) !== Number(sentBytes)) throw notUtf8();
};

/**
 * The JSON value of a request body. Over `maxBytes` → 413; empty, not JSON, too deep, a forbidden key, a number or
 * string that would change → 400. The Content-Type is not policed. `sentBytes` is the request's `content-length`.
 */
export const parseJsonBody = (
  body = '',
  isBase64Encoded: boolean,
  maxBytes = mebibyte,
  sentBytes?: string | undefined,
): unknown => {
  const text = isBase64Encoded ? textOf(Buffer.from(body, 'base64')) : body;
  if (!isBase64Encoded) requireAsSent(text, sentBytes);
  if (text.length > maxBytes || (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes)) {
    throw new AppError(
      'BODY_TOO_LARGE',
      `The body is larger than ${maxBytes === mebibyte ? '1 MiB' : `${maxBytes / 1024} KiB`}.`,
    );
  }
  if (text.trim() === '') throw new AppError('INVALID_BODY', 'A JSON body is required.');
  return parseJsonValue(text);
};
