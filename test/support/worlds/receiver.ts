import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { inject } from 'vitest';
import { receiversAmong } from '../clients/receiver-addresses.ts';

/** A delivery as it came in. */
export interface Received {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly body: { readonly type: string; readonly timestamp: string; readonly data: Record<string, unknown> };
}

/** How it is answered; whoever does not answer hangs. */
export type Behaviour = (received: Received, response: ServerResponse, before: readonly Received[]) => void;

const well: Behaviour = (_received, response) => response.writeHead(204).end();

const headersOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

/** A developer's server that webhooks are delivered to, where the stack may reach it. */
export class Receiver {
  readonly received: Received[] = [];
  behaviour: Behaviour = well;
  readonly url: string;
  /** Nobody else's, as what another test left may still be delivered to an address that it gave back. */
  readonly #path: string;
  readonly #server: Server;

  private constructor(server: Server, address: string) {
    this.#server = server;
    this.#path = `/hooks/${randomUUID()}`;
    this.url = `http://${address}${this.#path}`;
  }

  /** On the first address that nobody has. */
  static async start(permitted = inject('stack').env.PERMITTED_ADDRESSES): Promise<Receiver> {
    for (const address of receiversAmong(permitted)) {
      const server = createServer((request, response) => void receiver.take(request, response));
      const [host = '', port = ''] = address.split(':');
      const isListening = await new Promise<boolean>((resolve) => {
        server.once('error', () => resolve(false)).listen(Number(port), host, () => resolve(true));
      });
      const receiver = new Receiver(server, address);
      if (isListening) return receiver;
    }
    throw new Error('No address is left for a receiver');
  }

  async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url !== this.#path) {
      response.writeHead(404).end();
      return;
    }
    const text = (await buffer(request)).toString();
    const headers = headersOf(request);
    const received = { id: headers['webhook-id'] ?? '', headers, text, body: JSON.parse(text) };
    const before = [...this.received];
    this.received.push(received);
    this.behaviour(received, response, before);
  }

  /** What came in of one type. */
  of(type: string): readonly Received[] {
    return this.received.filter(({ body }) => body.type === type);
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
    });
  }
}

/** The published verifier's word on a delivery: throws where it is not signed with the secret. */
export const verify = (secret: string, { text, headers }: Received): unknown =>
  new Webhook(secret).verify(text, headers);
