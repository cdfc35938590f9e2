import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { listen } from '../../../infra/local/ports.ts';

/**
 * What happens to one request: an answer of this status, or this one, instead of the provider's, a cut connection
 * before the provider sees it (`cut`) or after it did its work (`lose`), or no answer at all although the work is done
 * (`hang`).
 */
export type Fault =
  | number
  | 'cut'
  | 'lose'
  | 'hang'
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body: unknown };

/** What the provider was asked. */
export interface ProviderRequest {
  readonly method: string;
  readonly path: string;
  readonly apiKey: string;
  /** The `Idempotency-Key`; empty without one. */
  readonly key: string;
  readonly body: unknown;
}

const json = { 'content-type': 'application/json' };

const answerOf = (fault: Exclude<Fault, string>) =>
  typeof fault === 'number'
    ? {
        status: fault,
        headers: {},
        body: { statusCode: fault, name: 'application_error', message: 'Said by the test' },
      }
    : { headers: {}, ...fault };

/** A proxy in front of the emulated mail provider that can misbehave, and remembers what it was asked. */
export class FaultyProvider {
  /** Every request so far. */
  readonly requests: ProviderRequest[] = [];
  readonly url: string;
  readonly #server: Server;
  readonly #faults: Fault[] = [];
  #decide: (request: ProviderRequest) => Fault | undefined = () => undefined;

  private constructor(server: Server, port: number, provider: string) {
    this.#server = server;
    this.url = `http://127.0.0.1:${port}`;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#answer(request, response, provider).catch(() => response.destroy());
    });
  }

  static async start(provider: string): Promise<FaultyProvider> {
    const server = createServer();
    return new FaultyProvider(server, await listen(server, 0), provider);
  }

  /** The `Idempotency-Key` of every request so far. */
  get keys(): readonly string[] {
    return this.requests.map(({ key }) => key);
  }

  /** The next requests meet these faults, one each; later ones none. */
  next(...faults: readonly Fault[]): void {
    this.#faults.push(...faults);
  }

  /** Every request meets this fault, until it is called without one. */
  always(fault?: Fault): void {
    this.decide(() => fault);
  }

  /** Asks a function what happens to each request. */
  decide(fault: (request: ProviderRequest) => Fault | undefined): void {
    this.#decide = fault;
  }

  /** Forgets every fault that was to come. */
  calm(): void {
    this.#faults.length = 0;
    this.always();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse, provider: string): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const sent = Buffer.concat(chunks);
    const { method = 'GET', url: path = '/', headers } = request;
    const asked: ProviderRequest = {
      method,
      path,
      apiKey: (headers.authorization ?? '').replace('Bearer ', ''),
      key: String(headers['idempotency-key'] ?? ''),
      body: sent.length === 0 ? undefined : JSON.parse(sent.toString()),
    };
    this.requests.push(asked);
    const fault = this.#faults.shift() ?? this.#decide(asked);
    if (fault === 'cut') {
      response.destroy();
      return;
    }
    if (fault !== undefined && typeof fault !== 'string') {
      const { status, headers: extra, body } = answerOf(fault);
      response.writeHead(status, { ...json, ...extra }).end(JSON.stringify(body));
      return;
    }
    const answer = await fetch(`${provider}${path}`, {
      method,
      headers: { ...json, ...(asked.key && { 'idempotency-key': asked.key }) },
      ...(sent.length > 0 && { body: sent }),
    });
    const text = await answer.text();
    if (fault === 'lose') response.destroy();
    else if (fault !== 'hang') response.writeHead(answer.status, json).end(text);
  }
}
