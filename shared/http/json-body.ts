import { isUtf8 } from 'node:buffer';
import { AppError } from '../core/errors.ts';
import { parseJsonValue } from '../core/json-value.ts';

const mebibyte = 1024 * 1024;

/** Bytes that are no UTF-8 would each become another character. */
const textOf = (bytes: Buffer): string => {
  if (isUtf8(bytes)) return bytes.toString();
  throw new AppError('INVALID_JSON', 'The body is not valid JSON: it is not UTF-8.');
};

/**
 * The JSON value of a request body. Over `maxBytes` → 413; empty, not JSON, too deep, a forbidden key, a number or string
 * that would change → 400. The Content-Type is not policed.
 */
export const parseJsonBody = (body = '', isBase64Encoded: boolean, maxBytes = mebibyte): unknown => {
  const text = isBase64Encoded ? textOf(Buffer.from(body, 'base64')) : body;
  if (text.length > maxBytes || (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes)) {
    throw new AppError(
      'BODY_TOO_LARGE',
      `The body is larger than ${maxBytes === mebibyte ? '1 MiB' : `${maxBytes / 1024} KiB`}.`,
    );
  }
  if (text.trim() === '') throw new AppError('INVALID_BODY', 'A JSON body is required.');
  return parseJsonValue(text);
};
