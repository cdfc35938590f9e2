import { request } from 'node:http';
import { closeGateway, createGateway, type GatewayOptions } from '../../../infra/local/gateway.ts';
import { listen } from '../../../infra/local/ports.ts';
import { corsOf, type FunctionResult } from '../../../infra/local/response.ts';
import { compileRoutes } from '../../../infra/local/router.ts';

const routes = [
  { name: 'item', method: 'GET', path: '/items/{id}' },
  { name: 'write', method: 'POST', path: '/items' },
];

export interface Gateway {
  readonly port: number;
  readonly failures: unknown[];
  close(): Promise<void>;
}

/** A gateway in front of one function that handles all requests. */
export const startGateway = async (
  answer: (event: unknown, name: string) => Promise<FunctionResult>,
  options: { readonly origins?: readonly string[] } & Pick<GatewayOptions, 'timeoutMs'> = {},
): Promise<Gateway> => {
  const failures: unknown[] = [];
  const server = createGateway({
    findRoute: compileRoutes(routes, 'unknown'),
    invoke: (name, event) => answer(event, name),
    cors: corsOf({
      origins: options.origins ?? ['https://*', 'http://*'],
      methods: ['GET', 'POST'],
      requestHeaders: ['content-type', 'x-api-key'],
      exposedHeaders: ['etag', 'x-request-id'],
      maxAgeSeconds: 60,
    }),
    onFailure: (_name, error) => failures.push(error),
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
  });
  const port = await listen(server, 0);
  return { port, failures, close: () => closeGateway(server, 1000) };
};

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface RawRequest {
  readonly method?: string;
  readonly path?: string;
  /** Names and values in turn, sent unchanged. */
  readonly headers?: readonly string[];
  readonly body?: string | Buffer;
}

/** Sends a raw request; `fetch` would normalize headers and paths. */
export const send = (port: number, { method = 'GET', path = '/items/1', headers = [], body }: RawRequest) =>
  new Promise<RawAnswer>((resolve, reject) => {
    const length = body === undefined ? [] : ['content-length', String(Buffer.byteLength(body))];
    const sent = request(
      { host: '127.0.0.1', port, method, path, headers: ['host', 'localhost', ...length, ...headers] },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
