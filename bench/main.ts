/**
 * `npm run bench`: Basalt beside a bare `node:http` + driver server and beside Parse Server on the same engines, in one
 * run, interleaved. Every figure is a ratio to another of the same round, because the machine's own speed drifts.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startStack } from '../infra/local/stack.ts';
import { accountOperations } from './accounts.ts';
import { drawChart } from './chart.ts';
import { cpuChart, speedChart } from './charts.ts';
import { countCommands, renderCommands } from './commands.ts';
import { type Contenders, compare, type Outcome } from './compare.ts';
import { startContenders } from './contenders.ts';
import { addMailLogs, addProjects, dashboardOperations } from './dashboard.ts';
import { type LimitedDelivery, measureDelivery } from './delivery.ts';
import { measureDepth } from './depth.ts';
import { documentOperations, many, manyCount, manyRow, writesOf } from './documents.ts';
import { fileOperations } from './files.ts';
import { parseFlags } from './flags.ts';
import { startProvider } from './instant-provider.ts';
import { mailOperations } from './mail.ts';
import { measureNeighbours } from './neighbours.ts';
import { noises } from './noise.ts';
import { isPeer, type Name, type Operation, type Peer } from './operation.ts';
import { measureOwnDatabase } from './own-database.ts';
import type { Pair } from './pairs.ts';
import { installPeers } from './parse/install.ts';
import { seedPeer } from './parse/seed.ts';
import { peerDatabase } from './parse/start.ts';
import { installPocketBase } from './pocketbase/install.ts';
import { seedPocketBase } from './pocketbase/seed.ts';
import { findBacking } from './processes.ts';
import { endProgress, progress } from './progress.ts';
import { measurePurge } from './purge.ts';
import {
  renderCpu,
  renderDepth,
  renderLimited,
  renderNeighbours,
  renderPairs,
  renderPeers,
  renderSpeed,
} from './report.ts';
import { addJoined, type Bed, connect, fill, makeBed } from './seed.ts';

const flags = parseFlags();
const { only, rounds, seconds, large } = flags;
const small = 10_000;
const peerInstalls = {
  parse: ['Parse Server', installPeers],
  pocketbase: ['PocketBase', installPocketBase],
} as const;
const pictures = path.join(import.meta.dirname, '../docs');
const ours = flags.names.filter((name) => !isPeer(name));
const trash = { basalt: 'trash', bare: 'bare-trash' };

const withMany = flags.commands || manyRow.includes(only);

/** Leaves out the peers that cannot be had here, and says why. */
const there = async (name: Name): Promise<boolean> => {
  if (!isPeer(name)) return true;
  const [called, install] = peerInstalls[name];
  const missing = await install(progress);
  endProgress();
  if (missing !== undefined) console.log(`${called} is left out, because it could not be installed: ${missing}\n`);
  return missing === undefined;
};

const names: Name[] = [];
for (const name of flags.names) if (await there(name)) names.push(name);

const directory = await mkdtemp(path.join(tmpdir(), 'basalt-bench-'));
const stack = await startStack({
  directory,
  port: 0,
  mongoUri: process.env.MONGODB_URI,
  dynamoEndpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB,
  dashboardOrigins: [],
  files: undefined,
  functions: {
    RATE_LIMIT: '0',
    PASSWORD_COST: '4',
    LOG: 'silent',
    USAGE_SECONDS: '0',
    MAIL_PER_SECOND: '0',
    // Counted, as in a deployment, and never reached.
    MAIL_RECIPIENTS_PER_DAY: '999999999',
  },
  report: progress,
  onFailure: (detail) => {
    console.error(detail);
    process.exit(1);
  },
});
const backing = findBacking();
const client = await connect(stack.mongoUri);
const provider = await startProvider();

const operationsOn = async (bed: Bed, { pocketbase }: Contenders): Promise<Operation[]> => {
  const databases = { database: client.db(bed.database), parse: client.db(peerDatabase), pocketBase: pocketbase };
  return [
    ...documentOperations(databases),
    ...(await accountOperations(databases, bed.publishableKey)),
    ...fileOperations,
    ...mailOperations(stack.env.TABLE_NAME ?? '', bed.projectId),
    ...dashboardOperations(bed),
  ];
};

const seedPeers = async ({ parse, pocketbase }: Contenders): Promise<void> => {
  const sizes = (peer: Peer) => ({ [peer]: small, [writesOf(peer)]: 0, [many]: withMany ? manyCount : 0 });
  progress('filling the peers');
  if (parse) await seedPeer(parse.url, client.db(peerDatabase), sizes('parse'), small);
  if (pocketbase) await seedPocketBase(pocketbase, sizes('pocketbase'));
};

/** Starts who is compared, each with the same data; `act` gets them, and all end with it. */
const withContenders = async <T>(bed: Bed, act: (contenders: Contenders) => Promise<T>): Promise<T> => {
  const env = { ...stack.env, ...(flags.commands && { BENCH_COMMANDS: '1' }) };
  const contenders = await startContenders(names, { env, directory, backing, providerUrl: provider.url }, bed);
  try {
    await seedPeers(contenders);
    return await act(contenders);
  } finally {
    for (const contender of Object.values(contenders)) contender.stop();
  }
};

const printCommands = async (bed: Bed, contenders: Contenders): Promise<void> => {
  const { counted, parse } = contenders;
  if (!counted) throw new Error('Commands are counted where each request is');
  const operations = (await operationsOn(bed, contenders)).filter(({ name }) => name.includes(only));
  const costs = await countCommands({ counted, parse }, operations);
  endProgress();
  console.log(renderCommands(costs));
};

const compareAll = async (bed: Bed, contenders: Contenders): Promise<readonly Outcome[]> => {
  const outcomes = await compare(contenders, await operationsOn(bed, contenders), flags);
  endProgress();
  if (outcomes.length > 0) console.log(`${renderCpu(outcomes)}\n\n${renderSpeed(outcomes)}\n`);
  const besidePeers = renderPeers(outcomes);
  if (besidePeers) console.log(`${besidePeers}\n`);
  if (large > 0 && 'depth'.includes(only)) {
    const documents = client.db(bed.database).collection('large');
    await fill(documents, large, (done) => progress(`filling ${done} of ${large} documents`));
    const depth = await measureDepth(contenders.basalt, { rounds, seconds, small, large });
    endProgress();
    console.log(`${renderDepth(depth, small, large)}\n`);
  }
  return outcomes;
};

/** What is no request of a contender's. */
const measurePairs = async (bed: Bed): Promise<void> => {
  const { env, dashboardUrl, mongoUri } = stack;
  const database = client.db(bed.database);
  const pairs: Pair[] = [];
  let limited: LimitedDelivery | undefined;
  if ('get, own database'.includes(only)) {
    pairs.push(await measureOwnDatabase({ env, dashboardUrl, mongoUri }, flags));
  }
  if ('deliver mail'.includes(only)) {
    const delivery = await measureDelivery({ ...bed, env, database }, rounds);
    pairs.push(delivery.free);
    limited = delivery.limited;
  }
  if ('purge the trash'.includes(only)) pairs.push(await measurePurge(database, bed.projectId, trash, rounds));
  endProgress();
  if (pairs.length > 0) console.log(`${renderPairs(pairs)}\n`);
  if (limited) console.log(`${renderLimited(limited)}\n`);
};

/** What one project's work does to another's requests. */
const measureStreet = async (): Promise<void> => {
  const wanted = noises.filter((noise) => `neighbour's ${noise}`.includes(only));
  if (wanted.length === 0) return;
  const { dashboardUrl, mongoUri } = stack;
  const env = { ...stack.env, MAIL_PROVIDER_URL: provider.url, ACCOUNT_MAILS_PER_DAY: '0' };
  const neighbours = await measureNeighbours({ env, dashboardUrl, mongoUri }, { rounds, seconds, noises: wanted });
  endProgress();
  console.log(`${renderNeighbours(neighbours)}\n`);
};

const measureAll = async (bed: Bed): Promise<void> => {
  const outcomes = await withContenders(bed, (contenders) => compareAll(bed, contenders));
  if (!flags.pairs) return;
  await measurePairs(bed);
  await measureStreet();
  if (only !== '') return;
  await writeFile(path.join(pictures, 'bench-cpu.svg'), drawChart(cpuChart(outcomes)));
  await writeFile(path.join(pictures, 'bench-peers.svg'), drawChart(speedChart(outcomes)));
  console.log('The pictures are docs/bench-cpu.svg and docs/bench-peers.svg.');
};

try {
  const bed = await makeBed(stack.dashboardUrl, [
    ...ours,
    ...ours.map(writesOf),
    ...Object.values(trash),
    'large',
    many,
  ]);
  const database = client.db(bed.database);
  for (const name of ours) await fill(database.collection(name), small, () => undefined);
  if (withMany) await fill(database.collection(many), manyCount, () => undefined);
  await addJoined(bed, database, small);
  await addProjects(bed);
  await addMailLogs(client.db('control'), bed.projectId);
  if (flags.commands) await withContenders(bed, (contenders) => printCommands(bed, contenders));
  else await measureAll(bed);
} finally {
  provider.stop();
  await client.close();
  await stack.stop();
  await rm(directory, { recursive: true, force: true });
}
