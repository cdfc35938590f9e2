import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from '../../../infra/local/ports.ts';
import { Faults, type HttpFault, type Reply, type Which } from './fault.ts';

/** A request that the proxy received. */
export interface HttpRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** Its parsed JSON, or its text, or `undefined`. */
  readonly body: unknown;
}

const json = { 'content-type': 'application/json' };

const parse = (text: string): unknown => {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
};

const requestOf = async (message: IncomingMessage): Promise<HttpRequest> => {
  const { method = 'GET', url: path = '/', headers } = message;
  const bytes = await buffer(message);
  return { method, path, headers, bytes, body: parse(bytes.toString()) };
};

/** Writes until the reader disconnects. */
const goOn = (response: ServerResponse, text: string, how: 'fast' | 'slow'): void => {
  if (how === 'slow') {
    const timer = setInterval(() => response.write(' '), 200);
    response.on('close', () => clearInterval(timer));
    return;
  }
  const chunk = text.repeat(Math.ceil(65_536 / text.length));
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', more);
  more();
};

const say = (response: ServerResponse, { status = 200, headers, body = '', endless }: Reply): void => {
  response.writeHead(status, { ...json, ...headers });
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  if (endless) goOn(response, text || ' ', endless);
  else response.end(text);
};

/** Headers that belong to one connection. */
const ownHeaders = new Set(['connection', 'content-length', 'expect', 'host', 'keep-alive', 'transfer-encoding']);

/** An HTTP proxy in front of a faulty service, or a fake service. It records requests. */
export class HttpProxy {
  /** All requests so far. */
  readonly asked: HttpRequest[] = [];
  readonly url: string;
  readonly #server: Server;
  readonly #faults = new Faults<HttpRequest, HttpFault>();

  private constructor(server: Server, port: number, upstream: string | undefined) {
    this.#server = server;
    this.url = `http://127.0.0.1:${port}`;
    server.on('request', (message: IncomingMessage, response: ServerResponse) => {
      this.#answer(message, response, upstream).catch(() => response.destroy());
    });
  }

  /** Without a service behind it, requests without a fault are cut. */
  static async start(upstream?: string): Promise<HttpProxy> {
    const server = createServer();
    return new HttpProxy(server, await listen(server, 0), upstream);
  }

  /**
   * Plans a fault or a function that decides for each request. Returns a function that counts the affected requests.
   */
  meet(fault: HttpFault | ((request: HttpRequest) => HttpFault | undefined), which?: Which<HttpRequest>): () => number {
    return this.#faults.add(fault, which);
  }

  /** The next requests get these faults, one each. */
  next(...faults: readonly HttpFault[]): void {
    for (const fault of faults) this.meet(fault, { times: 1 });
  }

  /** Ends all current and planned faults. */
  heal(): void {
    this.#faults.clear();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(message: IncomingMessage, response: ServerResponse, upstream: string | undefined): Promise<void> {
    const request = await requestOf(message);
    this.asked.push(request);
    const fault = this.#faults.of(request) ?? (upstream === undefined ? 'cut' : undefined);
    if (typeof fault === 'object') return say(response, fault);
    if (typeof fault === 'number') {
      const body = { statusCode: fault, name: 'application_error', message: 'Said by the test' };
      return say(response, { status: fault, body });
    }
    if (fault === 'cut') {
      response.destroy();
      return;
    }
    if (fault === 'hang' || upstream === undefined) return;
    const { method, path, headers, bytes } = request;
    const sent = Object.entries(headers).filter(([name]) => !ownHeaders.has(name)) as [string, string][];
    const answer = await fetch(upstream + path, { method, headers: sent, ...(bytes.length > 0 && { body: bytes }) });
    const text = await answer.text();
    if (fault === 'lose the answer') response.destroy();
    else if (fault !== 'never answer') say(response, { status: answer.status, body: text });
  }
}
