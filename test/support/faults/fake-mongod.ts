import { createServer, type Socket } from 'node:net';
import { BSON } from 'mongodb';
import { listenOn } from '../clients/listen-on.ts';

type Reply = Readonly<Record<string, unknown>>;

/** A server with MongoDB's wire protocol and scripted replies. */
export interface FakeMongod {
  readonly port: number;
  /** The number of connections so far. */
  readonly connections: () => number;
  /** The number of open connections. */
  readonly open: () => number;
  stop(): Promise<void>;
}

const headerBytes = 16;
/** Wire protocol operations: the current one, and the one for old `hello` requests. */
const message = 2013;
const legacyReply = 1;

/**
 * The command in a request, without document sequences: after flags and section kind, or in the old form after a name.
 */
const commandIn = (request: Buffer): Reply => {
  const start = request.readInt32LE(12) === message ? headerBytes + 5 : request.indexOf(0, headerBytes + 4) + 9;
  return BSON.deserialize(request.subarray(start, start + request.readInt32LE(start)));
};

const answerTo = (request: Buffer, reply: Reply): Buffer => {
  const isMessage = request.readInt32LE(12) === message;
  const before = Buffer.alloc(isMessage ? 5 : 20);
  if (!isMessage) before.writeInt32LE(1, 16);
  const body = Buffer.concat([before, BSON.serialize(reply)]);
  const header = Buffer.alloc(headerBytes);
  header.writeInt32LE(headerBytes + body.length, 0);
  header.writeInt32LE(request.readInt32LE(4), 8);
  header.writeInt32LE(isMessage ? message : legacyReply, 12);
  return Buffer.concat([header, body]);
};

/** The reply of a primary without a replica set to `hello`. */
export const helloReply: Reply = {
  ok: 1,
  helloOk: true,
  isWritablePrimary: true,
  ismaster: true,
  minWireVersion: 0,
  maxWireVersion: 21,
};

/** Starts one on loopback. `reply` gets each command and returns the reply, or `undefined` for none. */
export const startFakeMongod = async (
  reply: (command: Reply, port: number, socket: Socket) => Reply | undefined,
  host = '127.0.0.1',
): Promise<FakeMongod> => {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    let waiting = Buffer.alloc(0);
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      waiting = Buffer.concat([waiting, chunk]);
      while (waiting.length >= 4 && waiting.length >= waiting.readInt32LE(0)) {
        const request = waiting.subarray(0, waiting.readInt32LE(0));
        waiting = waiting.subarray(request.length);
        const answer = reply(commandIn(request), port, socket);
        if (answer) socket.write(answerTo(request, answer));
      }
    });
  });
  const port = await listenOn(server, host);
  return {
    port,
    connections: () => connections,
    open: () => sockets.size,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
