import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ServeSite } from './console-site.ts';
import { GatewayEvent } from './event.ts';
import { keepAliveMs } from './ports.ts';
import {
  type Cors,
  type FunctionResult,
  gatewayBody,
  type RawHeaders,
  sendGatewayError,
  sendResult,
} from './response.ts';
import { type FindRoute, type Match, malformed } from './router.ts';

/** API Gateway's limit. */
const maxBytes = 10 * 1024 * 1024;

/**
 * Reads a request's body and calls `done` one time: with `undefined` if there is no body, with `'too large'` as soon as
 * it exceeds 10 MB. Does not call it if the client disconnects.
 */
export const receiveBody = (request: IncomingMessage, done: (body: Buffer | undefined | 'too large') => void): void => {
  const { 'content-length': declared, 'transfer-encoding': encoding } = request.headers;
  if (encoding === undefined && (declared === undefined || declared === '0')) {
    done(undefined);
    return;
  }
  if (Number(declared) > maxBytes) {
    done('too large');
    return;
  }
  let first: Buffer | undefined;
  let rest: Buffer[] | undefined;
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      request.removeAllListeners('data').removeAllListeners('end').resume();
      done('too large');
      return;
    }
    if (first === undefined) first = chunk;
    else if (rest === undefined) rest = [first, chunk];
    else rest.push(chunk);
  });
  request.on('end', () => done(rest ? Buffer.concat(rest) : first));
};

/** Runs a function (`<area>-<name>`) with an event; rejects if the function fails. */
export type Invoke = (name: string, event: unknown) => Promise<FunctionResult>;

export interface GatewayOptions {
  readonly findRoute: FindRoute;
  readonly invoke: Invoke;
  readonly cors: Cors | undefined;
  /** Pages outside `/api`. */
  readonly site?: ServeSite;
  /** Receives a function's error, which the caller does not see. */
  readonly onFailure: (name: string, error: unknown) => void;
  /** Default: 30 s, as on AWS. */
  readonly timeoutMs?: number;
}

/** API Gateway's limit for request line and headers together. */
const maxHeaderBytes = 10_240;

const none: RawHeaders = [];

/** Headers that are too long, or bytes that are not HTTP. */
const sendParseError = (error: NodeJS.ErrnoException, socket: Socket): void => {
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

/** An HTTP server that behaves like an HTTP API of API Gateway, including CORS, limits and errors. */
export const createGateway = (options: GatewayOptions): Server => {
  const { findRoute, invoke, cors, site, onFailure, timeoutMs = 30_000 } = options;

  const run = (match: Match, event: GatewayEvent, response: ServerResponse, more: RawHeaders): void => {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      onFailure(match.name, new Error(`No response within ${timeoutMs} ms`));
      sendGatewayError(response, 503, more);
    }, timeoutMs);
    const fail = (error: unknown): void => {
      clearTimeout(timer);
      if (late) return;
      onFailure(match.name, error);
      sendGatewayError(response, 500, more);
    };
    invoke(match.name, event)
      .then((result) => {
        clearTimeout(timer);
        if (!late && !response.destroyed) sendResult(response, result, more);
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
    const more = cors && origin !== undefined ? cors.onResponse(origin) : none;
    const queryStart = url.indexOf('?');
    const path = queryStart < 0 ? url : url.slice(0, queryStart);
    if (site && method === 'GET' && site(path, request.headers.accept ?? '', response)) return;
    const match = findRoute(method, path);
    if (match === malformed) {
      sendGatewayError(response, 400, more);
      return;
    }
    receiveBody(request, (body) => {
      if (body === 'too large') {
        sendGatewayError(response, 413, more);
        return;
      }
      const query = queryStart < 0 ? '' : url.slice(queryStart + 1);
      run(match, new GatewayEvent(request, match, path, query, body), response, more);
    });
  };

  return createServer({ maxHeaderSize: maxHeaderBytes, keepAliveTimeout: keepAliveMs }, serve).on(
    'clientError',
    sendParseError,
  );
};

/** Accepts no more connections, lets running requests finish for at most `maxMs`, and closes every connection. */
export const closeGateway = async (server: Server, maxMs: number): Promise<void> => {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const sweep = setInterval(() => server.closeIdleConnections(), 20);
  const force = setTimeout(() => server.closeAllConnections(), maxMs);
  server.closeIdleConnections();
  await closed;
  clearInterval(sweep);
  clearTimeout(force);
};
