import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { handler as verifyA } from '../../../functions/jobs/verify-database-a.ts';
import { handler as verifyB } from '../../../functions/jobs/verify-database-b.ts';
import { permitAddresses } from '../../../infra/local/permit-addresses.ts';
import { type Verdict, verificationId } from '../../../shared/customer-database/verification.ts';
import { seal } from '../../../shared/projects/sealed.ts';
import { freePorts } from '../../support/clients/free-ports.ts';
import { listenOn } from '../../support/clients/listen-on.ts';
import { type FakeMongod, helloReply, startFakeMongod } from '../../support/faults/fake-mongod.ts';
import { scriptDns, type Zone } from '../../support/faults/scripted-dns.ts';
import { type OwnDatabase, startOwnDatabase } from '../../support/fixtures/own-database.ts';

/** A part of loopback on which nothing is permitted. */
const inside = '127.0.0.2';
const projectId = 'a'.repeat(24);

const zone: Zone = { hosts: {}, services: {}, texts: {} };
const permitted: string[] = [];
const servers: FakeMongod[] = [];
const listeners: Server[] = [];
const sockets: Socket[] = [];
let own: OwnDatabase;

const permit = (port: number): number => {
  permitted.push(`127.0.0.1:${port}`);
  permitAddresses(permitted.join(','));
  return port;
};

const verify = async (uri: string, handler = verifyA): Promise<Verdict> =>
  (await handler({ projectId, sealedUri: await seal(uri, verificationId(projectId)) })).verdict;

const fake = async (...options: Parameters<typeof startFakeMongod>): Promise<FakeMongod> => {
  const server = await startFakeMongod(...options);
  servers.push(server);
  return server;
};

const isHello = (command: object): boolean => 'hello' in command || 'ismaster' in command;

/** The first server of a replica set; `more` are further fields of its greeting. */
const member = async (more: (port: number) => object): Promise<string> => {
  const server = await fake((command, port) => {
    if (!isHello(command)) return { ok: 1, n: 1 };
    const me = `127.0.0.1:${port}`;
    return { ...helloReply, setName: 'rs', setVersion: 1, me, hosts: [me], ...more(port) };
  });
  return `127.0.0.1:${permit(server.port)}`;
};

/** A plain TCP server. */
const accepting = async (onData: (socket: Socket) => void): Promise<string> => {
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined).on('data', () => onData(socket)));
  });
  listeners.push(server);
  return `127.0.0.1:${permit(await listenOn(server, '127.0.0.1'))}`;
};

let secret: FakeMongod;

const tlsAlert = Buffer.from([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x50]);

type Case = readonly [title: string, verdict: Verdict, uri: () => string | Promise<string>];

const cases: readonly Case[] = [
  [
    'a name of its own',
    'connected',
    () => {
      zone.hosts['good.example.com'] = [['127.0.0.1']];
      return `mongodb://good.example.com:${own.port}/named`;
    },
  ],
  [
    'SRV and TXT records',
    'connected',
    () => {
      zone.hosts['srv-a.example.com'] = [['127.0.0.1']];
      zone.services['srv.example.com'] = [`srv-a.example.com:${own.port}`];
      zone.texts['srv.example.com'] = ['authSource=other'];
      return 'mongodb+srv://srv.example.com/named?tls=false';
    },
  ],
  [
    'a replica set of which one host is unknown',
    'connected',
    async () => {
      const first = await member((port) => ({ hosts: [`127.0.0.1:${port}`, 'unknown.example.com:1'] }));
      return `mongodb://${first},unknown.example.com:1/x?replicaSet=rs`;
    },
  ],
  [
    'a name that leads inside',
    'restricted',
    () => {
      zone.hosts['in.example.com'] = [[inside]];
      return `mongodb://in.example.com:${secret.port}/x`;
    },
  ],
  [
    'a name of which one address leads inside',
    'restricted',
    () => {
      zone.hosts['both.example.com'] = [['127.0.0.1', '10.0.0.1']];
      return `mongodb://both.example.com:${own.port}/x`;
    },
  ],
  [
    'several hosts of which one leads inside',
    'restricted',
    () => {
      zone.hosts['second.example.com'] = [['10.0.0.1']];
      return `mongodb://good.example.com:${own.port},second.example.com/x`;
    },
  ],
  [
    'a name that leads outside when it is checked, and inside when it is connected to',
    'restricted',
    () => {
      zone.hosts['rebound.example.com'] = [['8.8.8.8'], [inside]];
      return `mongodb://rebound.example.com:${secret.port}/x`;
    },
  ],
  [
    'an SRV record that is an address inside',
    'restricted',
    () => {
      zone.services['srv-in.example.com'] = ['169.254.169.254:80'];
      return 'mongodb+srv://srv-in.example.com/x';
    },
  ],
  [
    'an SRV record whose target leads inside',
    'restricted',
    () => {
      zone.hosts['srv-target.example.com'] = [[inside]];
      zone.services['srv-names-in.example.com'] = [`srv-target.example.com:${secret.port}`];
      return 'mongodb+srv://srv-names-in.example.com/x';
    },
  ],
  [
    'a database that names a member inside by its address',
    'restricted',
    async () => {
      const first = await member((port) => ({ hosts: [`127.0.0.1:${port}`, `${inside}:${secret.port}`] }));
      return `mongodb://${first}/x?replicaSet=rs`;
    },
  ],
  [
    'a database that names a socket of this machine as a member',
    'restricted',
    async () => `mongodb://${await member(() => ({ hosts: ['/tmp/mongodb-27017.sock'] }))}/x?replicaSet=rs`,
  ],
  [
    'a database whose primary has a name that leads inside',
    'restricted',
    async () => {
      zone.hosts['primary.example.com'] = [[inside]];
      const first = await member((port) => ({
        isWritablePrimary: false,
        ismaster: false,
        secondary: true,
        primary: `primary.example.com:${secret.port}`,
        hosts: [`127.0.0.1:${port}`, `primary.example.com:${secret.port}`],
      }));
      return `mongodb://${first}/x?replicaSet=rs`;
    },
  ],
  [
    'options that the driver does not take together',
    'restricted',
    () => 'mongodb://8.8.8.8/x?maxStalenessSeconds=100&readPreference=primary',
  ],
  ['a name that does not resolve', 'unreachable', () => 'mongodb://gone.example.com,gone2.example.com/x'],
  ['a name without an SRV record', 'unreachable', () => 'mongodb+srv://gone.example.com/x'],
  ['a port where nobody listens', 'unreachable', async () => `mongodb://127.0.0.1:${permit(await freePorts())}/x`],
  ['an account that the database does not know', 'unreachable', () => `mongodb://ann:wrong@${own.address}/x`],
  ['another replica set', 'unreachable', () => own.uri('x', 'replicaSet=other')],
  [
    'an account that may not write',
    'unreachable',
    async () => {
      const { port } = await fake((command) =>
        'insert' in command ? { ok: 0, code: 13, errmsg: 'not authorized' } : helloReply,
      );
      return `mongodb://127.0.0.1:${permit(port)}/x`;
    },
  ],
  [
    'a host that accepts connections and never responds',
    'shut out',
    async () => `mongodb://${await accepting(() => undefined)}/x`,
  ],
  [
    'a host that cuts the TLS handshake',
    'shut out',
    async () => `mongodb://${await accepting((socket) => socket.resetAndDestroy())}/x?tls=true`,
  ],
  [
    'a host that ends the TLS handshake with an alert',
    'shut out',
    async () => `mongodb://${await accepting((socket) => socket.end(tlsAlert))}/x?tls=true`,
  ],
];

/** `hello` responses of a hostile database, for which the driver would throw an uncaught error. */
const hostile: readonly (readonly [title: string, more: object])[] = [
  ['hosts that are no list', { hosts: 5 }],
  ['members that are no text', { hosts: [5, null, {}, []] }],
  ['members that cannot be read', { hosts: ['a b:c', ':::', '[', 'x:999999'] }],
  ['a version that is an object', { topologyVersion: {}, electionId: 'x', setVersion: {} }],
  ['a name that is none', { setName: {}, me: 5, primary: [] }],
  ['tags that are null', { tags: null, lastWrite: 5, $clusterTime: { clusterTime: 5 } }],
  ['versions that are text', { minWireVersion: 'x', maxWireVersion: {} }],
];

const verdicts = new Map<string, Verdict>();
let slowestMs = 0;

beforeAll(async () => {
  own = await startOwnDatabase();
  permit(own.port);
  secret = await fake(() => helloReply, inside);
  scriptDns(zone);
  const all = [
    ...cases.map(([title, , uri]) => [title, uri] as const),
    ...hostile.map(([title, more]) => [title, async () => `mongodb://${await member(() => more)}/x`] as const),
  ];
  await Promise.all(
    all.map(async ([title, uri]) => {
      const text = await uri();
      const start = performance.now();
      verdicts.set(title, await verify(text));
      slowestMs = Math.max(slowestMs, performance.now() - start);
    }),
  );
});

afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all([...servers.map((server) => server.stop()), own.stop()]);
  for (const listener of listeners) listener.close();
});

describe('a verifier is', () => {
  test.each(cases.map(([title, verdict]) => [verdict, title] as const))('%s: %s', (verdict, title) => {
    expect(verdicts.get(title)).toBe(verdict);
  });

  test('never connected to private addresses', () => expect(secret.connections()).toBe(0));
  test('done within half a minute', () => expect(slowestMs).toBeLessThan(29_000));
});

describe('a hostile database does not end the process', () => {
  test.each(hostile)('with %s', (title) => expect(verdicts.get(title)).toBeTypeOf('string'));
});

test.each([
  ['a', verifyA],
  ['b', verifyB],
])('verifier %s is connected and leaves nothing behind', async (name, handler) => {
  expect(await verify(own.uri(`verified_${name}`), handler)).toBe('connected');
  expect(await own.client.db(`verified_${name}`).listCollections().toArray()).toEqual([]);
});

test('a verifier that is sent something else fails', async () => {
  await expect(verifyA({ projectId, sealedUri: 'nonsense' })).rejects.toThrow();
  const sealedUri = await seal('mongodb://8.8.8.8/x', verificationId('b'.repeat(24)));
  await expect(verifyA({ projectId, sealedUri })).rejects.toThrow();
});
