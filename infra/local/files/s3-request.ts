import { randomBytes } from 'node:crypto';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** Code → status and message, as in S3's documentation. */
const errors = {
  AccessDenied: [403, 'Access Denied'],
  AccessForbidden: [403, 'CORSResponse: This CORS request is not allowed.'],
  AuthorizationHeaderMalformed: [400, 'The authorization header is malformed.'],
  AuthorizationQueryParametersError: [400, 'Error parsing the X-Amz-Credential parameter.'],
  BadDigest: [400, 'The Content-MD5 you specified did not match what we received.'],
  EntityTooLarge: [400, 'Your proposed upload exceeds the maximum allowed size'],
  InternalError: [500, 'We encountered an internal error. Please try again.'],
  InvalidAccessKeyId: [403, 'The AWS Access Key Id you provided does not exist in our records.'],
  InvalidURI: [400, "Couldn't parse the specified URI."],
  KeyTooLongError: [400, 'Your key is too long'],
  MissingContentLength: [411, 'You must provide the Content-Length HTTP header.'],
  NoSuchUpload: [404, 'The specified multipart upload does not exist.'],
  NotImplemented: [501, 'A header you provided implies functionality that is not implemented.'],
  PreconditionFailed: [412, 'At least one of the pre-conditions you specified did not hold'],
  RequestTimeTooSkewed: [403, 'The difference between the request time and the current time is too large.'],
  SignatureDoesNotMatch: [
    403,
    'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
  ],
  XAmzContentSHA256Mismatch: [400, "The provided 'x-amz-content-sha256' header does not match what was computed."],
} as const;

type S3ErrorCode = keyof typeof errors;

export class S3Error extends Error {
  readonly code: S3ErrorCode;
  readonly status: number;

  constructor(code: S3ErrorCode, message: string = errors[code][1]) {
    super(message);
    this.code = code;
    this.status = errors[code][0];
  }
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Sends an error as XML; without a body for `HEAD`. */
export const sendS3Error = (
  response: ServerResponse,
  { code, status, message }: S3Error,
  more: OutgoingHttpHeaders,
) => {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const requestId = randomBytes(8).toString('hex').toUpperCase();
  const xml =
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    `<Error><Code>${code}</Code><Message>${escaped(message)}</Message><RequestId>${requestId}</RequestId></Error>`;
  const body = response.req.method === 'HEAD' ? '' : xml;
  response
    .writeHead(status, {
      'content-type': 'application/xml',
      'x-amz-request-id': requestId,
      connection: 'close',
      ...more,
    })
    .end(body);
};

/** A parsed request URL: `/<bucket>/<key>` and the query. */
export interface S3Target {
  /** Percent-encoded, as it was signed. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** fauxqs turns each segment of a key into a file name with an ending, and file names have at most 255 bytes. */
const maxSegmentBytes = 240;
const maxKeyBytes = 1024;

/** Parses a request URL. Throws `S3Error` for paths that S3 or the file system do not allow. */
export const parseTarget = (url: string): S3Target => {
  const queryStart = url.indexOf('?');
  const path = queryStart < 0 ? url : url.slice(0, queryStart);
  let parts: string[];
  try {
    parts = path.split('/').map(decodeURIComponent);
  } catch {
    throw new S3Error('InvalidURI');
  }
  if (parts.some((part) => part === '.' || part === '..' || /[\0\\/]/.test(part))) throw new S3Error('InvalidURI');
  const key = parts.slice(2).join('/');
  if (Buffer.byteLength(key) > maxKeyBytes || parts.some((part) => Buffer.byteLength(part) > maxSegmentBytes)) {
    throw new S3Error('KeyTooLongError');
  }
  return { path, query: new URLSearchParams(queryStart < 0 ? '' : url.slice(queryStart + 1)) };
};
