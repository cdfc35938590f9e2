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

const documentAt = (request: Buffer, start: number): Buffer =>
  request.subarray(start, start + request.readInt32LE(start));

/** The command in a request: after flags and section kind, or in the old form after a name. */
const commandIn = (request: Buffer): Reply => {
  const isMessage = request.readInt32LE(12) === message;
  const start = isMessage ? headerBytes + 5 : request.indexOf(0, headerBytes + 4) + 9;
  const body = documentAt(request, start);
  const command = BSON.deserialize(body);
  // Document sequences follow: kind, size, name, documents.
  for (let at = start + body.length; isMessage && at < request.length; at += 1 + request.readInt32LE(at + 1)) {
    const nameEnd = request.indexOf(0, at + 5);
    const documents: Reply[] = [];
    for (let next = nameEnd + 1; next < at + 1 + request.readInt32LE(at + 1); ) {
      const document = documentAt(request, next);
      documents.push(BSON.deserialize(document));
      next += document.length;
    }
    command[request.toString('utf8', at + 5, nameEnd)] = documents;
  }
  return command;
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

type Answer = Reply | undefined;

/** Starts one on loopback. `reply` gets each command and returns the reply, or `undefined` for none. */
export const startFakeMongod = async (
  reply: (command: Reply, port: number, socket: Socket) => Answer | Promise<Answer>,
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
        const send = (answer: Answer): void => {
          if (answer && !socket.destroyed) socket.write(answerTo(request, answer));
        };
        const answer = reply(commandIn(request), port, socket);
        if (answer instanceof Promise) void answer.then(send);
        else send(answer);
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
