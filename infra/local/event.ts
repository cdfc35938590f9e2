import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { Match } from './router.ts';

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `21/Nov/2026:01:26:00 +0000`, made once a second. */
let stamp = { second: 0, text: '' };
const timeText = (epoch: number): string => {
  const second = Math.trunc(epoch / 1000);
  if (stamp.second !== second) {
    const [date = '', time = ''] = new Date(second * 1000).toISOString().split('T');
    const [year, month, day] = date.split('-');
    stamp = { second, text: `${day}/${months[Number(month) - 1]}/${year}:${time.slice(0, 8)} +0000` };
  }
  return stamp.text;
};

const textTypes = /^(?:text\/|application\/(?:json|javascript|xml|[^;]*\+(?:json|xml)))/i;

/** True for content types whose bodies arrive as text; all others, forms too, arrive in base64. */
const isText = (contentType: string | undefined): boolean =>
  contentType === 'application/json' || (contentType !== undefined && textTypes.test(contentType));

const notForwarded: ReadonlySet<string> = new Set([
  'connection',
  'cookie',
  'expect',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

/** Header names in lower case; a repeated header's values are joined by commas. */
const headersOf = (raw: readonly string[]): Record<string, string> => {
  const headers: Record<string, string> = {};
  for (let index = 0; index < raw.length; index += 2) {
    const name = (raw[index] as string).toLowerCase();
    if (notForwarded.has(name)) continue;
    const value = raw[index + 1] as string;
    const earlier = headers[name];
    headers[name] = earlier === undefined ? value : `${earlier},${value}`;
  }
  return headers;
};

const cookiesOf = (header: string | undefined): string[] | undefined => header?.split(/; */).filter(Boolean);

/** `::ffff:127.0.0.1` is how a socket for both families writes an IPv4 address. */
const addressOf = (remote: string | undefined): string =>
  remote === undefined ? '127.0.0.1' : remote.startsWith('::ffff:') ? remote.slice(7) : remote;

const safelyDecoded = (path: string): string => (path.includes('%') ? decodeURIComponent(path) : path);

/**
 * An HTTP request in API Gateway's payload 2.0, as every handler takes it. The query's parsed form is made only where
 * somebody asks for it; `JSON.stringify` gives the whole event.
 */
export class GatewayEvent {
  readonly version = '2.0';
  readonly routeKey: string;
  readonly rawPath: string;
  readonly rawQueryString: string;
  readonly cookies: string[] | undefined;
  readonly headers: Record<string, string>;
  readonly requestContext: APIGatewayProxyEventV2['requestContext'];
  readonly pathParameters: Record<string, string> | undefined;
  readonly body: string | undefined;
  readonly isBase64Encoded: boolean;

  /** `path` and `query` are the parts of the request's URL as sent; the path's escapes are known to be valid. */
  constructor(request: IncomingMessage, match: Match, path: string, query: string, body: Buffer | undefined) {
    const { headers } = request;
    const hasBody = body !== undefined && body.length > 0;
    const text = hasBody && isText(headers['content-type']);
    const now = Date.now();
    this.routeKey = match.routeKey;
    this.rawPath = safelyDecoded(path);
    this.rawQueryString = query;
    this.cookies = cookiesOf(headers.cookie);
    this.headers = headersOf(request.rawHeaders);
    this.requestContext = {
      accountId: '000000000000',
      apiId: 'local',
      domainName: headers.host ?? 'localhost',
      domainPrefix: 'local',
      http: {
        method: request.method ?? 'GET',
        path: this.rawPath,
        protocol: 'HTTP/1.1',
        sourceIp: addressOf(request.socket.remoteAddress),
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: randomUUID(),
      routeKey: match.routeKey,
      stage: '$default',
      time: timeText(now),
      timeEpoch: now,
    };
    this.pathParameters = match.pathParameters;
    this.body = hasBody ? body.toString(text ? 'utf8' : 'base64') : undefined;
    this.isBase64Encoded = hasBody && !text;
  }

  /** Decoded; a repeated name's values are joined by commas. */
  get queryStringParameters(): Record<string, string> | undefined {
    if (this.rawQueryString === '') return undefined;
    const parameters = new Map<string, string>();
    for (const [name, value] of new URLSearchParams(this.rawQueryString)) {
      const earlier = parameters.get(name);
      parameters.set(name, earlier === undefined ? value : `${earlier},${value}`);
    }
    return Object.fromEntries(parameters);
  }

  toJSON(): object {
    return { ...this, queryStringParameters: this.queryStringParameters };
  }
}
