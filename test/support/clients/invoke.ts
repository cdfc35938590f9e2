import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import type { LambdaHandler } from '../../../shared/http/stack.ts';
import type { Answer, RequestOptions } from './client.ts';

export interface InvokeOptions extends RequestOptions {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly sourceIp?: string;
  readonly method?: string;
}

const toEvent = (options: InvokeOptions): APIGatewayProxyEventV2 => ({
  version: '2.0',
  routeKey: '$default',
  rawPath: '/',
  rawQueryString: options.query ?? '',
  headers: {
    ...options.headers,
    ...(options.key ? { 'x-api-key': options.key } : {}),
    ...(options.token ? { authorization: `Bearer ${options.token}` } : {}),
  },
  pathParameters: { ...options.params },
  requestContext: {
    accountId: '000000000000',
    apiId: 'test',
    domainName: 'localhost',
    domainPrefix: 'test',
    http: {
      method: options.method ?? 'GET',
      path: '/',
      protocol: 'HTTP/1.1',
      sourceIp: options.sourceIp ?? '192.0.2.1',
      userAgent: 'test',
    },
    requestId: 'test-request',
    routeKey: '$default',
    stage: '$default',
    time: '',
    timeEpoch: 0,
  },
  ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
  isBase64Encoded: false,
});

/** Runs a handler in this process like Lambda, with the test run's services. */
export const invoke = async (handler: LambdaHandler, options: InvokeOptions = {}): Promise<Omit<Answer, 'cookies'>> => {
  const reply = await handler(toEvent(options), {} as Context);
  return {
    status: reply.statusCode,
    headers: new Headers(reply.headers),
    body: JSON.parse(reply.body || '{}') as Record<string, unknown>,
  };
};
