import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { listen } from '../../../infra/local/ports.ts';

/**
 * What the stand-in does with one request: says this text, answers this status or exactly this body, cuts, or never
 * answers.
 */
export type Say =
  | string
  | { readonly status: number; readonly body?: string }
  | { readonly raw: string }
  | 'cut'
  | 'hang'
  | { readonly endless: true };

/** A request as the stand-in got it. */
export interface Asked {
  readonly path: string | undefined;
  readonly authorization: string | undefined;
  readonly body: {
    readonly model: string;
    readonly messages: readonly { readonly role: string; readonly content: string }[];
  } & Readonly<Record<string, unknown>>;
}

const chat = (content: string): string =>
  JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] });

/** An endpoint that speaks OpenAI's `chat/completions` and says what a test tells it to, the last thing ever after. */
export class LanguageModel {
  readonly asked: Asked[] = [];
  readonly url: string;
  readonly #server: Server;
  #says: Say[] = [];

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.url = `http://127.0.0.1:${port}/v1`;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  static async start(): Promise<LanguageModel> {
    const server = createServer();
    return new LanguageModel(server, await listen(server, 0));
  }

  /** From now on says these, one a request. */
  says(...says: readonly Say[]): void {
    this.#says = [...says];
    this.asked.length = 0;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    this.asked.push({
      path: request.url,
      authorization: request.headers.authorization,
      body: JSON.parse(Buffer.concat(chunks).toString()) as Asked['body'],
    });
    const say = this.#says.length > 1 ? this.#says.shift() : this.#says[0];
    if (say === undefined || say === 'cut') response.destroy();
    else if (say === 'hang') return;
    else if (typeof say === 'string') response.end(chat(say));
    else if ('raw' in say) response.end(say.raw);
    else if ('endless' in say) this.#goOn(response);
    else response.writeHead(say.status, { location: 'http://127.0.0.1:1/' }).end(say.body ?? '{}');
  }

  /** Writes until nobody listens any more. */
  #goOn(response: ServerResponse): void {
    const chunk = 'x'.repeat(16_384);
    const write = (): void => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', write);
    write();
  }
}
