import { once } from 'node:events';

/** A message of AppSync Events. */
export interface SocketMessage {
  readonly type: string;
  readonly id?: string;
  readonly event?: string;
  readonly errors?: readonly { readonly errorType: string; readonly message?: string }[];
}

export interface Nudge {
  readonly collection: string;
  readonly _id: string;
  readonly rev: number;
  readonly deleted?: true;
  readonly document?: Readonly<Record<string, unknown>>;
}

const encoded = (header: object): string => `header-${Buffer.from(JSON.stringify(header)).toString('base64url')}`;

/** A plain connection to the Event API, without the client's own logic. */
export class EventSocket {
  readonly received: SocketMessage[] = [];
  readonly #socket: WebSocket;
  readonly #ticket: string;
  readonly #arrived = new EventTarget();
  #published = 0;

  private constructor(socket: WebSocket, ticket: string) {
    this.#socket = socket;
    this.#ticket = ticket;
    socket.addEventListener('message', ({ data }) => {
      this.received.push(JSON.parse(String(data)) as SocketMessage);
      this.#arrived.dispatchEvent(new Event('message'));
    });
  }

  /** Rejects if the connection is not authorized. */
  static async open(url: string, ticket: string): Promise<EventSocket> {
    const socket = new WebSocket(url, ['aws-appsync-event-ws', encoded({ Authorization: ticket, host: 'local' })]);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', () => reject(new Error('not let in')));
    });
    const connection = new EventSocket(socket, ticket);
    connection.send({ type: 'connection_init' });
    await connection.next(({ type }) => type === 'connection_ack');
    return connection;
  }

  send(message: object): void {
    this.#socket.send(JSON.stringify(message));
  }

  /** The first matching message, received or future. */
  async next(fits: (message: SocketMessage) => boolean): Promise<SocketMessage> {
    for (;;) {
      const found = this.received.find(fits);
      if (found) return found;
      await once(this.#arrived, 'message');
    }
  }

  /** The response to a subscription. */
  async subscribe(channel: string, id: string = channel, ticket: string = this.#ticket): Promise<SocketMessage> {
    this.send({ type: 'subscribe', id, channel, authorization: { Authorization: ticket, host: 'local' } });
    return this.next((message) => message.id === id && message.type.startsWith('subscribe_'));
  }

  /** The response to a publication of JSON texts. */
  async publish(channel: string, events: unknown, ticket: string = this.#ticket): Promise<SocketMessage> {
    this.#published += 1;
    const id = `p${this.#published}`;
    this.send({ type: 'publish', id, channel, events, authorization: { Authorization: ticket, host: 'local' } });
    return this.next((message) => message.id === id);
  }

  /** The events of rooms that have arrived. */
  get events(): readonly Readonly<Record<string, unknown>>[] {
    return this.received.flatMap(({ type, event }) => (type === 'data' ? [JSON.parse(event ?? '')] : []));
  }

  get nudges(): readonly Nudge[] {
    return this.received.flatMap(({ type, event }) => (type === 'data' ? [JSON.parse(event ?? '') as Nudge] : []));
  }

  /** The notification about a document's revision. */
  async nudgeOf(_id: string, rev: number): Promise<Nudge> {
    const found = () => this.nudges.find((nudge) => nudge._id === _id && nudge.rev === rev);
    await this.next(() => found() !== undefined);
    return found() as Nudge;
  }

  close(): void {
    this.#socket.close();
  }
}
