import { mkdtemp, rm } from 'node:fs/promises';
import { connect as connectSocket, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Db } from 'mongodb';
import { startMongo } from '../infra/local/mongo/engine.ts';
import { permitAddresses } from '../infra/local/permit-addresses.ts';
import { listen } from '../infra/local/ports.ts';
import { startContender } from './contender.ts';
import { type LoadRequest, measure } from './load.ts';
import { comparePair, type Pair } from './pairs.ts';
import { type Bed, connect, fill, idsOf, makeBed } from './seed.ts';

const documents = 10_000;
const collection = 'posts';

interface Door {
  readonly address: string;
  readonly server: Server;
}

/** A TCP port for an engine's Unix socket, because customers' databases are reached by TCP. */
const openDoor = async (uri: string): Promise<Door> => {
  const target = decodeURIComponent(new URL(uri).hostname);
  const server = createServer((client) => {
    const engine = connectSocket(target);
    client.pipe(engine).pipe(client);
    for (const socket of [client, engine]) socket.on('error', () => socket.destroy());
  });
  return { address: `127.0.0.1:${await listen(server, 0)}`, server };
};

const getOne = (ids: readonly string[]): LoadRequest => {
  let at = 0;
  return { method: 'GET', path: () => `/api/data/${collection}/${ids[at++ % ids.length]}` };
};

const seed = async (database: Db): Promise<LoadRequest> => {
  await fill(database.collection(collection), documents, () => undefined);
  return getOne(await idsOf(database.collection(collection), documents));
};

const connectOwn = async ({ projectId, dashboard }: Bed, uri: string): Promise<void> => {
  await dashboard('PUT', `/api/projects/${projectId}/database`, { uri });
};

export interface OwnDatabaseBed {
  readonly env: Readonly<Record<string, string>>;
  readonly dashboardUrl: string;
  readonly mongoUri: string;
}

/** Compares reading a document in a customer's database with one in the hosted database, both by TCP. */
export const measureOwnDatabase = async (
  { env, dashboardUrl, mongoUri }: OwnDatabaseBed,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<Pair> => {
  const directory = await mkdtemp(path.join(tmpdir(), 'basalt-bench-own-'));
  const quiet = { report: () => undefined, onExit: (detail: string) => console.error(detail) };
  const engine = await startMongo(directory, undefined, quiet);
  const [ours, theirs] = [await openDoor(mongoUri), await openDoor(engine.address)];
  permitAddresses(theirs.address);
  const [managed, own] = [await makeBed(dashboardUrl, [collection]), await makeBed(dashboardUrl, [collection])];
  await connectOwn(own, `mongodb://${theirs.address}/own?directConnection=true`);
  const clients = await Promise.all([connect(mongoUri), connect(engine.address)]);
  const requests = {
    managed: await seed(clients[0].db(managed.database)),
    own: await seed(clients[1].db('own')),
  };
  const MONGODB_URI = `mongodb://${ours.address}/?directConnection=true`;
  const permitted = { ...env, MONGODB_URI, RATE_LIMIT: '0', PERMITTED_ADDRESSES: theirs.address };
  const contender = await startContender('both databases', 'basalt-server.ts', permitted, {});
  const speed = async ({ secretKey }: Bed, request: LoadRequest, round: number): Promise<number> => {
    const keyed = { ...contender, headers: { 'x-api-key': secretKey } };
    if (round === 0) await measure(keyed, request, 1);
    return (await measure(keyed, request, seconds)).perSecond;
  };
  try {
    const labels = { name: 'get, own database', besides: 'get, our database' };
    return await comparePair(labels, rounds, async (round) => ({
      beside: await speed(managed, requests.managed, round),
      basalt: await speed(own, requests.own, round),
    }));
  } finally {
    contender.stop();
    await Promise.all(clients.map((client) => client.close()));
    for (const { server } of [ours, theirs]) server.close();
    await engine.stop();
    await rm(directory, { recursive: true, force: true });
  }
};
