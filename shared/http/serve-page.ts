import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { pageSettings } from '../core/config.ts';
import { failureResponse } from '../core/error-body.ts';
import { AppError } from '../core/errors.ts';
import { cutText } from '../core/text.ts';
import { loadConsoleFile } from '../persistence/s3.ts';
import { consoleFileAt, docsPolicy, isDocs, pageHeaders } from './console-headers.ts';

interface PageRequest {
  readonly rawPath: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly requestContext: { readonly requestId: string };
}

const compress = promisify(gzip);

/** Fonts and images are already compressed. */
const isText = (type: string): boolean => /^text\/|javascript|json|svg/.test(type);

const notFound = (path: string): AppError => new AppError('NOT_FOUND', `There is no page ${cutText(path, 100)}.`);

const serve = async ({ rawPath, headers: { accept = '', ...sent } }: PageRequest) => {
  const place = /^\/api(?:\/|$)/.test(rawPath) ? undefined : consoleFileAt(rawPath, accept);
  const file = place && (await loadConsoleFile(place));
  if (!file) throw notFound(rawPath);
  const { bytes, type, cacheControl } = file;
  // Weak, because it also stands for the compressed bytes.
  const etag = `W/${file.etag}`;
  const headers = {
    ...pageHeaders(isDocs(rawPath) ? docsPolicy : pageSettings().CONSOLE_POLICY),
    'strict-transport-security': 'max-age=31536000',
    'cache-control': cacheControl,
    etag,
    vary: 'accept-encoding',
  };
  if (sent['if-none-match'] === etag) return { statusCode: 304, headers, body: '' };
  const isCompressed = isText(type) && /\bgzip\b/.test(sent['accept-encoding'] ?? '');
  const body = isCompressed ? await compress(bytes) : Buffer.from(bytes);
  return {
    statusCode: 200,
    headers: { ...headers, 'content-type': type, ...(isCompressed && { 'content-encoding': 'gzip' }) },
    body: body.toString('base64'),
    isBase64Encoded: true,
  };
};

/**
 * Serves the console from its bucket with the same headers and paths as CloudFront. 404 `NOT_FOUND` for unknown paths.
 */
export const answerPage = async (request: PageRequest) => {
  try {
    return await serve(request);
  } catch (error) {
    return failureResponse(error, request.requestContext.requestId);
  }
};
