import { Long, type MongoClient, ObjectId, Timestamp } from 'mongodb';
import { parseSeed, seedText } from './database-uri.ts';

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
