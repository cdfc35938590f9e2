import type { Duplex } from 'node:stream';
import { type MongoClient, MongoParseError } from 'mongodb';
import { Connection } from 'mongodb/lib/cmap/connection.js';
import { MessageGuard, maxReplyBytes, maxUnaskedBytes } from './message-guard.ts';

const limitOf = ({ id, established }: Connection): number =>
  established && id !== '<monitor>' ? maxReplyBytes : maxUnaskedBytes;

/** Has a connection end at the first byte that no honest server would send: the driver itself keeps whatever comes. */
const guard = (connection: Connection): void => {
  const messages = connection.messageStream;
  const transform = messages._transform.bind(messages);
  const received = new MessageGuard();
  messages._transform = (chunk: Buffer, encoding, done) => {
    if (received.refuses(chunk, limitOf(connection), connection.dataEvents !== null)) {
      done(new MongoParseError('The server sent a message that it may not send'));
    } else transform(chunk, encoding, done);
  };
};

/** The connections of one client: none takes more into memory than a reply may be, and all can be ended at once. */
export class GuardedConnections {
  readonly #open = new Set<Connection>();
  #ended = false;

  /** The class of connections that the driver is to make, its option `connectionType`. */
  readonly connectionType = ((connections: GuardedConnections) =>
    class extends Connection {
      constructor(stream: Duplex, options: object) {
        super(stream, options);
        guard(this);
        connections.#take(this);
      }
    })(this);

  /** Ends them, whatever they are at, and every later one as soon as it is made. */
  end(): void {
    this.#ended = true;
    for (const connection of this.#open) connection.destroy();
  }

  #take(connection: Connection): void {
    this.#open.add(connection);
    connection.once('close', () => this.#open.delete(connection));
    if (this.#ended) connection.destroy();
  }
}

const ofClients = new WeakMap<MongoClient, GuardedConnections>();

export const keepConnections = (client: MongoClient, connections: GuardedConnections): MongoClient => {
  ofClients.set(client, connections);
  return client;
};

/** Closes a client at once: a server that answers no farewell could keep it, and what it sends, in memory for ever. */
export const endClient = async (client: MongoClient): Promise<void> => {
  ofClients.get(client)?.end();
  await client.close();
};
