import { AppError } from '../core/errors.ts';
import { parseJsonValue } from '../core/json-value.ts';

const mebibyte = 1024 * 1024;

/**
 * The JSON value of a request body. Over `maxBytes` → 413; empty, not JSON, too deep, a forbidden key, a number or string
 * that would change → 400. The Content-Type is not policed.
 */
export const parseJsonBody = (body: string | undefined, isBase64Encoded: boolean, maxBytes = mebibyte): unknown => {
  const text = body === undefined ? '' : isBase64Encoded ? Buffer.from(body, 'base64').toString() : body;
  if (text.length > maxBytes || (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes)) {
    throw new AppError(
      'BODY_TOO_LARGE',
      `The body is larger than ${maxBytes === mebibyte ? '1 MiB' : `${maxBytes / 1024} KiB`}.`,
    );
  }
  if (text.trim() === '') throw new AppError('INVALID_BODY', 'A JSON body is required.');
  return parseJsonValue(text);
};
