import { createServer, type ServerResponse } from 'node:http';
import { functionName } from '../build/function-files.ts';
import { closeGateway, type Invoke, receiveBody } from './gateway.ts';
import { listen, originAt } from './ports.ts';

export interface Invocations {
  /** The environment variables by which functions invoke each other and the database verifiers. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

const path = /^\/2015-03-31\/functions\/([^/?]+)\/invocations(?:\?|$)/;

const respond = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void => {
  if (!response.destroyed) response.writeHead(status, headers).end(JSON.stringify(body));
};

/** Serves Lambda's `Invoke` API, so that functions can call each other as they do when deployed. */
export const startInvocations = async (invoke: Invoke): Promise<Invocations> => {
  const server = createServer((request, response) => {
    const name = path.exec(request.url ?? '')?.[1];
    receiveBody(request, (body) => {
      if (request.method !== 'POST' || name === undefined || !Buffer.isBuffer(body)) {
        respond(response, 404, { Message: 'Not found' });
        return;
      }
      Promise.resolve()
        .then(() => invoke(decodeURIComponent(name), JSON.parse(body.toString())))
        .then((result) => respond(response, 200, result ?? null))
        .catch((error: unknown) => {
          const failure = { errorType: 'Error', errorMessage: String(error) };
          respond(response, 200, failure, { 'x-amz-function-error': 'Unhandled' });
        });
    });
  });
  const port = await listen(server, 0);
  return {
    environment: {
      AWS_ENDPOINT_URL_LAMBDA: originAt(port),
      VERIFIER_A: functionName('jobs', 'verify-database-a'),
      VERIFIER_B: functionName('jobs', 'verify-database-b'),
      // On one machine, both verifiers have the same address.
      VERIFIER_IP_A: '127.0.0.1',
      VERIFIER_IP_B: '127.0.0.1',
    },
    stop: () => closeGateway(server, 0),
  };
};
