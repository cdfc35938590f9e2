import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { listen } from '../../infra/local/ports.ts';

/**
 * What happens to one request: an answer of this status instead of the provider's, a cut connection before the provider sees
 * it (`cut`) or after it did its work (`lose`).
 */
export type Fault = number | 'cut' | 'lose';

/** A proxy in front of the emulated mail provider that can misbehave, and remembers what it was asked. */
export class FaultyProvider {
  /** The `Idempotency-Key` of every request so far. */
  readonly keys: string[] = [];
  readonly url: string;
  readonly #server: Server;
  readonly #faults: Fault[] = [];
  #always: Fault | undefined;

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

  /** The next requests meet these faults, one each; later ones none. */
  next(...faults: readonly Fault[]): void {
    this.#faults.push(...faults);
  }

  /** Every request meets this fault, until it is called without one. */
  always(fault?: Fault): void {
    this.#always = fault;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse, provider: string): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const key = String(request.headers['idempotency-key'] ?? '');
    this.keys.push(key);
    const fault = this.#faults.shift() ?? this.#always;
    if (fault === 'cut') {
      response.destroy();
      return;
    }
    if (typeof fault === 'number') {
      const body = { statusCode: fault, name: 'application_error', message: 'Said by the test' };
      response.writeHead(fault, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      return;
    }
    const answer = await fetch(`${provider}${request.url}`, {
      method: request.method ?? 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: Buffer.concat(chunks),
    });
    const text = await answer.text();
    if (fault === 'lose') response.destroy();
    else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
  }
}
