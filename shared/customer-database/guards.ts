import type { Duplex } from 'node:stream';
import { Long, type MongoClient, MongoParseError, ObjectId, Timestamp } from 'mongodb';
import { Connection } from 'mongodb/lib/cmap/connection.js';
import { parseSeed, seedText } from './uri.ts';

const headerBytes = 16;
const sizeBytes = 4;

/** The operation of a compressed message, which nobody may send to whom no compression was offered. */
const compressed = 2012;

/** The largest message of MongoDB's wire protocol, and the most that a reply may be. */
const maxReplyBytes = 48_000_000;

/** The most that a server says of itself, and that may come unasked: 50 members with long names. */
export const maxUnaskedBytes = 128 * 1024;

/** Follows what one connection brings, message by message, and tells what no honest server would send. */
export class MessageGuard {
  readonly #header = Buffer.alloc(headerBytes);
  #known = 0;
  #left = 0;
  #unasked = 0;

  /**
   * True where a chunk begins a message of more than `limit` bytes, of no size that a message can have, or a compressed
   * one; or where, with those before it, more has come than may while no reply is waited for.
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

  /** Looks at each part of a header as soon as it is there: the driver acts on the size before it has the rest. */
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

type Reply = Record<string, unknown>;

/** The most members that a replica set can have. */
const maxMembers = 50;

const isObject = (value: unknown): value is Reply => typeof value === 'object' && value !== null;
const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);
const isCounter = (value: unknown): boolean => isNumber(value) || value instanceof Long;

const isTopologyVersion = (value: unknown): boolean =>
  isObject(value) && value.processId instanceof ObjectId && isCounter(value.counter);

/** What the driver computes with, without looking, of the description that a server gives of itself. */
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

/** The members of a replica set that may be connected to, each written as the driver writes it, with its port. */
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

/** Leaves in a `hello` reply only what may be there, in place. */
export const guardHello = (reply: Reply, onRefused: () => void): void => {
  for (const [field, isGood] of Object.entries(expected)) {
    if (Object.hasOwn(reply, field) && !isGood(reply[field])) delete reply[field];
  }
  for (const field of ['hosts', 'passives', 'arbiters']) {
    if (Object.hasOwn(reply, field)) reply[field] = allowedMembers(reply[field], onRefused);
  }
};

/**
 * Keeps a client from members that a server names and that are restricted by their spelling: Node asks no look-up for
 * addresses, and a name that ends in `.sock` would be a socket of this machine. The driver hands each `hello` reply to
 * its listeners before it reads the reply itself. A listener may not throw, or the process would end.
 */
export const guardMembers = (client: MongoClient, onRefused: () => void = () => undefined): MongoClient =>
  client.on('serverHeartbeatSucceeded', ({ reply }) => {
    if (isObject(reply)) guardHello(reply, onRefused);
  });
