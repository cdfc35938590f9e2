import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { answerItself, answerWith, type FunctionResult, gatewayBody } from './answer.ts';
import type { ServeSite } from './console-site.ts';
import type { Cors, RawHeaders } from './cors.ts';
import { GatewayEvent } from './event.ts';
import { receiveBody } from './request-body.ts';
import { type FindRoute, type Match, malformed } from './router.ts';

/** Runs the function of a name, `<area>-<name>`, with an event; rejects where the function failed. */
export type Invoke = (name: string, event: unknown) => Promise<FunctionResult>;

export interface GatewayOptions {
  readonly findRoute: FindRoute;
  readonly invoke: Invoke;
  readonly cors: Cors | undefined;
  /** The pages that stand beside the API, outside `/api`. */
  readonly site?: ServeSite;
  /** Told why a function failed; the caller only learns that it did. */
  readonly onFailure: (name: string, error: unknown) => void;
  /** How long a function may take; 30 s on AWS. */
  readonly timeoutMs?: number;
}

/** Request line and headers together, as API Gateway limits them. */
const maxHeaderBytes = 10_240;

/** Browsers and load generators keep connections; Node's own 5 s would close them under the next request. */
const keepAliveMs = 60_000;

const none: RawHeaders = [];

/** Requests that never became one: too long a head, or no HTTP. */
const refuseRaw = (error: NodeJS.ErrnoException, socket: Socket): void => {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
  const body = gatewayBody(status);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  );
};

/**
 * An HTTP server that turns requests into API Gateway events (payload 2.0) and functions' results into answers, with
 * the gateway's own CORS, limits and failures.
 */
export const createGateway = (options: GatewayOptions): Server => {
  const { findRoute, invoke, cors, site, onFailure, timeoutMs = 30_000 } = options;

  const run = (match: Match, event: GatewayEvent, response: ServerResponse, more: RawHeaders): void => {
    let late = false;
    const limit = setTimeout(() => {
      late = true;
      onFailure(match.name, new Error(`No answer within ${timeoutMs} ms`));
      answerItself(response, 503, more);
    }, timeoutMs);
    const fail = (error: unknown): void => {
      clearTimeout(limit);
      if (late) return;
      onFailure(match.name, error);
      answerItself(response, 500, more);
    };
    invoke(match.name, event)
      .then((result) => {
        clearTimeout(limit);
        if (!late && !response.destroyed) answerWith(response, result, more);
      })
      .catch(fail);
  };

  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const { method = 'GET', url = '/' } = request;
    const origin = request.headers.origin;
    if (cors && method === 'OPTIONS') {
      response.writeHead(204, origin === undefined ? [] : [...cors.onPreflight(origin)]).end();
      return;
    }
    const more = cors && origin !== undefined ? cors.onAnswer(origin) : none;
    const question = url.indexOf('?');
    const path = question < 0 ? url : url.slice(0, question);
    if (site && method === 'GET' && site(path, request.headers.accept ?? '', response)) return;
    const match = findRoute(method, path);
    if (match === malformed) {
      answerItself(response, 400, more);
      return;
    }
    receiveBody(request, (body) => {
      if (body === 'too large') {
        answerItself(response, 413, more);
        return;
      }
      const query = question < 0 ? '' : url.slice(question + 1);
      run(match, new GatewayEvent(request, match, path, query, body), response, more);
    });
  };

  return createServer({ maxHeaderSize: maxHeaderBytes, keepAliveTimeout: keepAliveMs }, serve).on(
    'clientError',
    refuseRaw,
  );
};

/** Stops accepting, lets running requests finish for at most `patienceMs`, and closes every connection. */
export const closeGateway = async (server: Server, patienceMs: number): Promise<void> => {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const sweep = setInterval(() => server.closeIdleConnections(), 20);
  const force = setTimeout(() => server.closeAllConnections(), patienceMs);
  server.closeIdleConnections();
  await closed;
  clearInterval(sweep);
  clearTimeout(force);
};
