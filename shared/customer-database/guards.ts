import type { Duplex } from 'node:stream';
import { Long, type MongoClient, MongoParseError, ObjectId, Timestamp } from 'mongodb';
import { Connection } from 'mongodb/lib/cmap/connection.js';
import { parseSeed, seedText } from './uri.ts';

const headerBytes = 16;
const sizeBytes = 4;

/** Opcode of compressed messages; we offer no compression. */
const compressed = 2012;

/** Largest message of MongoDB's wire protocol. */
const maxReplyBytes = 48_000_000;

/** Limit for `hello` replies and unsolicited data: 50 members with long names. */
export const maxUnaskedBytes = 128 * 1024;

/** Detects messages that no honest server sends. */
export class MessageGuard {
  readonly #header = Buffer.alloc(headerBytes);
  #known = 0;
  #left = 0;
  #unasked = 0;

  /**
   * True if a chunk starts a message that is compressed, has an impossible size or more than `limit` bytes; or if too
   * much has come without a pending request.
   */
  refuses(chunk: Buffer, limit: number, waiting: boolean): boolean {
    this.#unasked = waiting ? 0 : this.#unasked + chunk.length;
    if (this.#unasked > maxUnaskedBytes) return true;
    for (let at = 0; at < chunk.length; ) {
      if (this.#left > 0) {
        const skipped = Math.min(this.#left, chunk.length - at);
        this.#left -= skipped;
        at += skipped;
      } else {
        at += this.#readHeader(chunk, at);
        if (!this.#isGood(limit)) return true;
      }
    }
    return false;
  }

  #readHeader(chunk: Buffer, at: number): number {
    const read = chunk.copy(this.#header, this.#known, at);
    this.#known += read;
    return read;
  }

  /** Checks each part of a header as it arrives, because the driver acts on the size before it has the rest. */
  #isGood(limit: number): boolean {
    if (this.#known < sizeBytes) return true;
    const size = this.#header.readInt32LE(0);
    if (size < headerBytes || size > limit) return false;
    if (this.#known < headerBytes) return true;
    this.#known = 0;
    this.#left = size - headerBytes;
    return this.#header.readInt32LE(12) !== compressed;
  }
}

const limitOf = ({ id, established }: Connection): number =>
  established && id !== '<monitor>' ? maxReplyBytes : maxUnaskedBytes;

/** Ends a connection at the first invalid byte; the driver itself would keep any amount. */
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

/** All connections of one client. Limits their memory and can end them together. */
export class GuardedConnections {
  readonly #open = new Set<Connection>();
  #ended = false;

  readonly connectionType = ((connections: GuardedConnections) =>
    class extends Connection {
      constructor(stream: Duplex, options: object) {
        super(stream, options);
        guard(this);
        connections.#take(this);
      }
    })(this);

  /** Ends all connections, and future ones when they are created. */
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

/** Closes a client without a goodbye, which a hanging server could delay for ever. */
export const endClient = async (client: MongoClient): Promise<void> => {
  ofClients.get(client)?.end();
  await client.close();
};

type Reply = Record<string, unknown>;

const maxMembers = 50;

const isObject = (value: unknown): value is Reply => typeof value === 'object' && value !== null;
const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);
const isCounter = (value: unknown): boolean => isNumber(value) || value instanceof Long;

const isTopologyVersion = (value: unknown): boolean =>
  isObject(value) && value.processId instanceof ObjectId && isCounter(value.counter);

/** Fields that the driver uses without checking. */
const expected: Readonly<Record<string, (value: unknown) => boolean>> = {
  msg: isText,
  setName: isText,
  me: isText,
  primary: isText,
  minWireVersion: isNumber,
  maxWireVersion: isNumber,
  setVersion: isNumber,
  logicalSessionTimeoutMinutes: isNumber,
  maxMessageSizeBytes: isNumber,
  maxWriteBatchSize: isNumber,
  maxBsonObjectSize: isNumber,
  electionId: (value) => value instanceof ObjectId,
  tags: (value) => isObject(value) && Object.values(value).every(isText),
  lastWrite: (value) => isObject(value) && value.lastWriteDate instanceof Date,
  $clusterTime: (value) => isObject(value) && value.clusterTime instanceof Timestamp,
  topologyVersion: isTopologyVersion,
};

/** The allowed members of a replica set, in the driver's notation with port. */
const allowedMembers = (value: unknown, onRefused: () => void): string[] => {
  const members = Array.isArray(value) ? value.slice(0, maxMembers) : [];
  return members.flatMap((member: unknown) => {
    try {
      return [seedText(parseSeed(typeof member === 'string' ? member : ''))];
    } catch {
      onRefused();
      return [];
    }
  });
};

/** Removes everything invalid from a `hello` reply, in place. */
export const guardHello = (reply: Reply, onRefused: () => void): void => {
  for (const [field, isGood] of Object.entries(expected)) {
    if (Object.hasOwn(reply, field) && !isGood(reply[field])) delete reply[field];
  }
  for (const field of ['hosts', 'passives', 'arbiters']) {
    if (Object.hasOwn(reply, field)) reply[field] = allowedMembers(reply[field], onRefused);
  }
};

/**
 * Prevents connections to restricted members. Node does not look up IP addresses, and a name ending in `.sock` would be
 * a local socket. The driver passes `hello` replies to listeners before it reads them. A listener must not throw, or
 * the process would end.
 */
export const guardMembers = (client: MongoClient, onRefused: () => void = () => undefined): MongoClient =>
  client.on('serverHeartbeatSucceeded', ({ reply }) => {
    if (isObject(reply)) guardHello(reply, onRefused);
  });
