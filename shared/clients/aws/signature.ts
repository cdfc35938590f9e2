import { createHmac, hash } from 'node:crypto';

/** What requests to AWS are signed with; a `sessionToken` where it is for a while only. */
interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** Where a request goes: `host` with its port where that is not the usual one. */
interface Destination {
  readonly service: string;
  readonly region: string;
  /** POST where nothing is said. */
  readonly method?: 'GET' | 'PUT';
  readonly host: string;
  /** As it is sent, of characters that need no encoding; `/` where nothing is said. */
  readonly path?: string;
  readonly contentType?: string;
  /** Value of `x-amz-target`, of services that have one address for every operation. */
  readonly target?: string;
}

export type Headers = Readonly<Record<string, string>>;

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** The key of one day, region and service; a process has those of one or two services. */
const keys = new Map<string, { readonly secret: string; readonly key: Buffer }>();

/** The key that a day, region and service are signed with. */
const keyFor = (secret: string, day: string, region: string, service: string): Buffer => {
  const known = keys.get(service);
  const name = `${secret} ${day} ${region}`;
  if (known?.secret === name) return known.key;
  const key = hmac(hmac(hmac(hmac(`AWS4${secret}`, day), region), service), 'aws4_request');
  keys.set(service, { secret: name, key });
  return key;
};

/** The headers of a request, signed by Signature Version 4 over all of its body; `now` in ms since 1970. */
export const signedHeaders = (
  { service, region, method, host, path = '/', contentType, target }: Destination,
  { accessKeyId, secretAccessKey, sessionToken }: AwsCredentials,
  body: string,
  now: number,
): Headers => {
  const date = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '');
  const day = date.slice(0, 8);
  const scope = `${day}/${region}/${service}/aws4_request`;
  const bodyHash = hash('sha256', body);
  // In the order of their names, as they are signed.
  const headers = {
    ...(contentType && { 'content-type': contentType }),
    host,
    ...(service === 's3' && { 'x-amz-content-sha256': bodyHash }),
    'x-amz-date': date,
    ...(sessionToken && { 'x-amz-security-token': sessionToken }),
    ...(target && { 'x-amz-target': target }),
  };
  const names = Object.keys(headers).join(';');
  let lines = '';
  for (const [name, value] of Object.entries(headers)) lines += `${name}:${value}\n`;
  const request = `${method ?? 'POST'}\n${path}\n\n${lines}\n${names}\n${bodyHash}`;
  const signature = createHmac('sha256', keyFor(secretAccessKey, day, region, service))
    .update(`AWS4-HMAC-SHA256\n${date}\n${scope}\n${hash('sha256', request)}`)
    .digest('hex');
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...headers, authorization };
};

/** The same without the host, which `fetch` names itself. */
export const signedForFetch = (...request: Parameters<typeof signedHeaders>): Headers => {
  const { host: _host, ...headers } = signedHeaders(...request);
  return headers;
};
