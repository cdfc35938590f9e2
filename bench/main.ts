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
import { countCommands, renderCommands } from './commands.ts';
import { type Contenders, compare, type Outcome } from './compare.ts';
import { startContenders } from './contenders.ts';
import { addProjects, dashboardOperations } from './dashboard.ts';
import { type LimitedDelivery, measureDelivery } from './delivery.ts';
import { measureDepth } from './depth.ts';
import { documentOperations, writesOf } from './documents.ts';
import { fileOperations } from './files.ts';
import { parseFlags } from './flags.ts';
import { groupsOf } from './groups.ts';
import { startProvider } from './instant-provider.ts';
import { mailOperations } from './mail.ts';
import { measureNeighbours } from './neighbours.ts';
import { noises } from './noise.ts';
import type { Name, Operation } from './operation.ts';
import { measureOwnDatabase } from './own-database.ts';
import type { Pair } from './pairs.ts';
import { installPeers } from './parse/install.ts';
import { seedPeer } from './parse/seed.ts';
import { peerDatabase } from './parse/start.ts';
import { findBacking } from './processes.ts';
import { endProgress, progress } from './progress.ts';
import { measurePurge } from './purge.ts';
import {
  renderCpu,
  renderDepth,
  renderLimited,
  renderNeighbours,
  renderPairs,
  renderPeer,
  renderSpeed,
} from './report.ts';
import { addJoined, type Bed, connect, fill, makeBed } from './seed.ts';

const flags = parseFlags();
const { only, rounds, seconds, large } = flags;
const small = 10_000;
const chartFile = path.join(import.meta.dirname, '../docs/bench.svg');
const ours = flags.names.filter((name) => name !== 'peer');
const trash = { basalt: 'trash', bare: 'bare-trash' };

const missing = flags.names.includes('peer') ? await installPeers(progress) : undefined;
if (missing !== undefined) {
  endProgress();
  console.log(`Parse Server is left out, because its packages could not be installed: ${missing}\n`);
}
const names: readonly Name[] = missing === undefined ? flags.names : ours;

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

const operationsOn = async (bed: Bed): Promise<Operation[]> => {
  const [database, peers] = [client.db(bed.database), client.db(peerDatabase)];
  return [
    ...documentOperations(database, peers),
    ...(await accountOperations(database, peers, bed.publishableKey)),
    ...fileOperations,
    ...mailOperations(stack.env.TABLE_NAME ?? '', bed.projectId),
    ...dashboardOperations(bed),
  ];
};

/** Starts who is compared, each with the same data; `act` gets them, and all end with it. */
const withContenders = async <T>(bed: Bed, act: (contenders: Contenders) => Promise<T>): Promise<T> => {
  const env = { ...stack.env, ...(flags.commands && { BENCH_COMMANDS: '1' }) };
  const contenders = await startContenders(names, { env, directory, backing, providerUrl: provider.url }, bed);
  try {
    const { peer } = contenders;
    if (peer) await seedPeer(peer.url, client.db(peerDatabase), ['peer', writesOf('peer')], small);
    return await act(contenders);
  } finally {
    for (const contender of Object.values(contenders)) contender.stop();
  }
};

const printCommands = async (bed: Bed, { counted, peer }: Contenders): Promise<void> => {
  if (!counted) throw new Error('Commands are counted where each request is');
  const operations = (await operationsOn(bed)).filter(({ name }) => name.includes(only));
  const costs = await countCommands({ counted, peer }, operations);
  endProgress();
  console.log(renderCommands(costs));
};

const compareAll = async (bed: Bed, contenders: Contenders): Promise<readonly Outcome[]> => {
  const outcomes = await compare(contenders, await operationsOn(bed), flags);
  endProgress();
  if (outcomes.length > 0) console.log(`${renderCpu(outcomes)}\n\n${renderSpeed(outcomes)}\n`);
  const besidePeer = renderPeer(outcomes);
  if (besidePeer) console.log(`${besidePeer}\n`);
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
const measurePairs = async (bed: Bed): Promise<readonly Pair[]> => {
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
  return pairs;
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
  const pairs = await measurePairs(bed);
  await measureStreet();
  if (only !== '') return;
  const title = 'Speed as a share of a bare node:http + driver server';
  await writeFile(chartFile, drawChart(title, groupsOf(outcomes, pairs)));
  console.log('The chart is in docs/bench.svg.');
};

try {
  const bed = await makeBed(stack.dashboardUrl, [...ours, ...ours.map(writesOf), ...Object.values(trash), 'large']);
  const database = client.db(bed.database);
  for (const name of ours) await fill(database.collection(name), small, () => undefined);
  await addJoined(bed, database, small);
  await addProjects(bed);
  if (flags.commands) await withContenders(bed, (contenders) => printCommands(bed, contenders));
  else await measureAll(bed);
} finally {
  provider.stop();
  await client.close();
  await stack.stop();
  await rm(directory, { recursive: true, force: true });
}
