import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { Match } from './router.ts';

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Such as `21/Nov/2026:01:26:00 +0000`; formatted once per second. */
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

/** API Gateway passes bodies of these types as text, and all others in base64. */
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

/** Names in lower case; the values of a repeated header are joined with commas. */
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

/** A dual-stack socket reports IPv4 addresses as `::ffff:127.0.0.1`. */
const addressOf = (remote: string | undefined): string =>
  remote === undefined ? '127.0.0.1' : remote.startsWith('::ffff:') ? remote.slice(7) : remote;

const safelyDecoded = (path: string): string => (path.includes('%') ? decodeURIComponent(path) : path);

/** An HTTP request as an API Gateway event (payload 2.0). The query is only parsed when it is read. */
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

  /** `path` and `query` are percent-encoded as sent; the router has checked the escapes of the path. */
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

  /** Decoded; the values of a repeated name are joined with commas. */
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
