import { createHmac, hash } from 'node:crypto';
import { type AwsCredentials, type Headers, keyFor } from './signature.ts';

/** A request for one object of S3: `path` as it is sent, of characters that need no encoding. */
export interface ObjectRequest {
  readonly method: 'GET' | 'PUT';
  readonly region: string;
  /** With its port where that is not the usual one. */
  readonly host: string;
  readonly path: string;
  readonly body: string;
}

/** The headers of a request for an object, signed by Signature Version 4 over all of its body; `now` in ms since 1970. */
export const signedObjectHeaders = (
  { method, region, host, path, body }: ObjectRequest,
  { accessKeyId, secretAccessKey, sessionToken }: AwsCredentials,
  now: number,
): Headers => {
  const date = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '');
  const day = date.slice(0, 8);
  const scope = `${day}/${region}/s3/aws4_request`;
  const signed = {
    'x-amz-content-sha256': hash('sha256', body),
    'x-amz-date': date,
    ...(sessionToken && { 'x-amz-security-token': sessionToken }),
  };
  const lines = Object.entries({ host, ...signed }).map(([name, value]) => `${name}:${value}\n`);
  const names = ['host', ...Object.keys(signed)].join(';');
  const request = `${method}\n${path}\n\n${lines.join('')}\n${names}\n${signed['x-amz-content-sha256']}`;
  const signature = createHmac('sha256', keyFor(secretAccessKey, day, region, 's3'))
    .update(`AWS4-HMAC-SHA256\n${date}\n${scope}\n${hash('sha256', request)}`)
    .digest('hex');
  return {
    ...signed,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  };
};
