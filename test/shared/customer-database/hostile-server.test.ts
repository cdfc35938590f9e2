import type { Socket } from 'node:net';
import { type Db, Long } from 'mongodb';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { permitAddresses } from '../../../infra/local/permit-addresses.ts';
import { closeCustomerDatabases, onCustomerDatabase } from '../../../shared/customer-database/client.ts';
import { eventually } from '../../support/clients/eventually.ts';
import { type FakeMongod, helloReply, startFakeMongod } from '../../support/faults/fake-mongod.ts';

/** Its `hello` supports sessions, so a client that closes sends `endSessions`. */
const hello = { ...helloReply, logicalSessionTimeoutMinutes: 30 };
const found = { ok: 1, cursor: { id: Long.ZERO, ns: 'app.notes', firstBatch: [{ a: 1 }] } };

/** Returns the response to a command, or writes to the socket itself. */
type Conduct = (command: object, socket: Socket) => Readonly<Record<string, unknown>> | undefined;

const isHello = (command: object): boolean => 'hello' in command || 'ismaster' in command;

const honest: Conduct = (command) => {
  if (isHello(command)) return hello;
  return 'find' in command ? found : { ok: 1 };
};

/** Responds correctly to everything except reads of documents. */
const toFind =
  (act: (socket: Socket) => void): Conduct =>
  (command, socket) => {
    if (!('find' in command)) return honest(command, socket);
    act(socket);
    return undefined;
  };

let server: FakeMongod;
let conduct: Conduct;

beforeEach(async () => {
  conduct = honest;
  server = await startFakeMongod((command, _port, socket) => conduct(command, socket));
  permitAddresses(`127.0.0.1:${server.port}`);
});

afterEach(async () => {
  await closeCustomerDatabases();
  await server.stop();
});

const settings = { serverSelectionTimeoutMS: 3000, connectTimeoutMS: 3000, socketTimeoutMS: 60_000 };

const find = (db: Db): Promise<unknown> => db.collection('notes').find().toArray();

const ask = (limitMs = 20_000): Promise<unknown> => {
  const { port } = server;
  const openUri = async () => `mongodb://127.0.0.1:${port}/app`;
  const placement = { kind: 'external' as const, host: '', encryptedUri: `sealed ${port}`, openUri };
  return onCustomerDatabase(placement, 'usual', settings, limitMs, find);
};

const header = (size: number, operation = 2013): Buffer => {
  const bytes = Buffer.alloc(16);
  bytes.writeInt32LE(size, 0);
  bytes.writeInt32LE(operation, 12);
  return bytes;
};

/** Sends as fast as it is taken, up to 64 MiB. */
const flood = (socket: Socket): void => {
  if (socket.destroyed || socket.bytesWritten >= 2 ** 26) return;
  socket.write(Buffer.alloc(2 ** 20), () => flood(socket));
};

/** Sends single bytes with pauses until the client closes. */
const drip = (socket: Socket): void => {
  const timer = setInterval(() => {
    if (socket.destroyed) clearInterval(timer);
    else socket.write(Buffer.alloc(1));
  }, 20);
};

const sendHuge = (socket: Socket): void => {
  socket.write(header(2 ** 31 - 1));
  flood(socket);
};

const unavailable = { code: 'OWN_DATABASE_UNAVAILABLE' };
const allClosed = () => eventually(() => expect(server.open()).toBe(0));

describe('503 when a customer’s database', () => {
  test.each<[string, (socket: Socket) => void]>([
    ['announces two gigabytes and sends them', sendHuge],
    [
      'answers with something compressed',
      (socket) => {
        socket.write(header(40_000_000, 2012));
        flood(socket);
      },
    ],
    ['sends messages without bytes', (socket) => void socket.write(Buffer.alloc(64))],
  ])('%s: little of it is read, and the next request succeeds', async (_what, act) => {
    const sockets: Socket[] = [];
    conduct = toFind((socket) => {
      sockets.push(socket);
      act(socket);
    });
    await expect(ask()).rejects.toMatchObject(unavailable);
    await eventually(() => expect(sockets.every(({ destroyed }) => destroyed)).toBe(true));
    for (const { bytesWritten } of sockets) expect(bytesWritten).toBeLessThan(2 ** 25);
    conduct = honest;
    expect(await ask()).toEqual([{ a: 1 }]);
  });

  test.each([
    ['says two gigabytes of itself', sendHuge],
    ['says by the byte what it is', drip],
  ])('%s: no connection to it stays open', async (_what, act) => {
    conduct = (_command, socket) => {
      act(socket);
      return undefined;
    };
    await expect(ask(1000)).rejects.toMatchObject(unavailable);
    conduct = () => undefined;
    await allClosed();
  });

  test('never ends a response: its client is closed, also for other users, and the next request gets another one', async () => {
    conduct = toFind((socket) => {
      socket.write(header(40_000_000));
      drip(socket);
    });
    const other = ask(60_000);
    const [first] = await Promise.allSettled([ask(1000), other]);
    expect(first).toMatchObject({ status: 'rejected', reason: unavailable });
    await expect(other).rejects.toMatchObject(unavailable);
    await allClosed();
    conduct = honest;
    expect(await ask()).toEqual([{ a: 1 }]);
  });

  test('never responds, also when the client closes: no connection stays open', async () => {
    expect(await ask()).toEqual([{ a: 1 }]);
    conduct = (_command, socket) => {
      drip(socket);
      return undefined;
    };
    await expect(ask(1000)).rejects.toMatchObject(unavailable);
    await allClosed();
  });
});

test('a connection ends when the server sends unsolicited data, and the next request gets another one', async () => {
  const sockets: Socket[] = [];
  conduct = (command, socket) => {
    if ('find' in command) sockets.push(socket);
    return honest(command, socket);
  };
  await ask();
  const [used] = sockets as [Socket];
  flood(used);
  await eventually(() => expect(used.destroyed).toBe(true));
  expect(used.bytesWritten).toBeLessThan(2 ** 25);
  expect(await ask()).toEqual([{ a: 1 }]);
  expect(sockets).toHaveLength(2);
});
