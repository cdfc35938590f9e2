/**
 * `npm run bench`: compares Basalt with a bare `node:http` server and with other products, in alternating rounds. Every
 * figure is a ratio to another of the same round, because the machine's own speed drifts.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { endWithNpm } from '../infra/local/processes.ts';
import { startStack } from '../infra/local/stack.ts';
import { accountOperations } from './accounts.ts';
import { drawChart } from './chart.ts';
import { cpuChart, speedChart } from './charts.ts';
import { countCommands, renderCommands } from './commands.ts';
import { type Contenders, compare, type Outcome } from './compare.ts';
import { startContenders } from './contenders.ts';
import { startDynamoMeter } from './costs/dynamo-meter.ts';
import { measureCosts } from './costs/measure-costs.ts';
import { parsePrices } from './costs/quantities.ts';
import { type Rows, renderCosts } from './costs/report.ts';
import { addMailLogs, addProjects, dashboardOperations } from './dashboard.ts';
import { measureDepth } from './depth.ts';
import { documentOperations, many, manyCount, manyRow, writesOf } from './documents.ts';
import { addFed, placesFromNow } from './feed.ts';
import { fileOperations } from './files.ts';
import { type CostFiles, parseFlags } from './flags.ts';
import { startProvider } from './instant-provider.ts';
import { mailOperations } from './mail.ts';
import { chosen, names as everybody, isPeer, type Name, type Operation, type Peer } from './operation.ts';
import { installPeers } from './parse/install.ts';
import { seedPeer } from './parse/seed.ts';
import { peerDatabase } from './parse/start.ts';
import { installPocketBase } from './pocketbase/install.ts';
import { seedPocketBase } from './pocketbase/seed.ts';
import { findBacking } from './processes.ts';
import { endProgress, progress } from './progress.ts';
import {
  renderCpu,
  renderDepth,
  renderNeighbourSummary,
  renderNeighbours,
  renderPeers,
  renderSpeed,
  renderSummary,
} from './report.ts';
import { measureStreet, renderJobs } from './scenes.ts';
import { addJoined, addSearched, type Bed, connect, fill, makeBed, stampsOf } from './seed.ts';
import { writePart, writePicture } from './speed-page.ts';

const flags = parseFlags();
endWithNpm();
const { only, rounds, seconds, large } = flags;
const small = 10_000;
const peerInstalls = {
  parse: ['Parse Server', installPeers],
  pocketbase: ['PocketBase', installPocketBase],
} as const;
const ours = flags.names.filter((name) => !isPeer(name));
const trash = { basalt: 'trash', bare: 'bare-trash' };

const withMany = flags.commands || manyRow.includes(only);

/** False, with a message, for a product that cannot be installed. */
const isAvailable = async (name: Name): Promise<boolean> => {
  if (!isPeer(name)) return true;
  const [called, install] = peerInstalls[name];
  const missing = await install(progress);
  endProgress();
  if (missing !== undefined) console.log(`${called} is skipped, because it could not be installed: ${missing}\n`);
  return missing === undefined;
};

const names: Name[] = [];
for (const name of flags.names) if (await isAvailable(name)) names.push(name);
const withEverybody = everybody.every((name) => names.includes(name));

const directory = await mkdtemp(path.join(tmpdir(), 'basalt-bench-'));
const stack = await startStack({
  directory,
  port: 0,
  mongoUri: process.env.MONGODB_URI,
  dynamoEndpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB,
  dashboardOrigins: [],
  files: undefined,
  liveUpdates: false,
  functions: {
    RATE_LIMIT: '0',
    PASSWORD_COST: '4',
    LOG: 'silent',
    USAGE_SECONDS: '0',
    MAIL_PER_SECOND: '0',
    // Requests are counted as in a deployment, but the limit is never reached.
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
const meter = flags.costs ? await startDynamoMeter(stack.dynamoUrl) : undefined;

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

/** Starts the contenders with the same data, runs `act` and stops them. */
const withContenders = async <T>(bed: Bed, act: (contenders: Contenders) => Promise<T>): Promise<T> => {
  const env = { ...stack.env, ...(flags.commands && { BENCH_COMMANDS: '1' }) };
  const contenders = await startContenders(
    names,
    { env, directory, backing, meterUrl: meter?.url, providerUrl: provider.url },
    bed,
  );
  try {
    await seedPeers(contenders);
    return await act(contenders);
  } finally {
    for (const contender of Object.values(contenders)) contender.stop();
  }
};

const printed: string[] = [];

const show = (...texts: readonly string[]): void => {
  endProgress();
  for (const text of texts) console.log(`${text}\n`);
};

/** Prints a result and stores it for bench/results.md. */
const print = (...texts: readonly string[]): void => {
  printed.push(...texts);
  show(...texts);
};

const printCommands = async (bed: Bed, contenders: Contenders): Promise<void> => {
  const { counted, parse } = contenders;
  if (!counted) throw new Error('Commands are counted where each request is');
  const operations = chosen(await operationsOn(bed, contenders), only);
  print(renderCommands(await countCommands({ counted, parse }, operations)));
  if (only === '' && parse) await writePart('commands', printed.join('\n\n'));
};

const compareAll = async (bed: Bed, contenders: Contenders): Promise<readonly Outcome[]> => {
  const outcomes = await compare(contenders, await operationsOn(bed, contenders), flags);
  if (outcomes.length > 0) {
    print(renderCpu(outcomes), renderSpeed(outcomes));
    show(...renderPeers(outcomes));
  }
  if (large > 0 && 'depth'.includes(only)) {
    const documents = client.db(bed.database).collection('large');
    await fill(documents, large, (done) => progress(`filling ${done} of ${large} documents`), placesFromNow());
    print(renderDepth(await measureDepth(contenders.basalt, { rounds, seconds, small, large }), small, large));
  }
  return outcomes;
};

const rowsIn = async (file: string): Promise<Rows> => JSON.parse(await readFile(file, 'utf8')) as Rows;

const printCosts = async (bed: Bed, contenders: Contenders, { prices, beside, save }: CostFiles): Promise<void> => {
  const { counted, metered } = contenders;
  if (!counted || !metered || !meter) throw new Error('Costs are measured where each request is counted and metered');
  const price = prices === undefined ? undefined : parsePrices(await readFile(prices, 'utf8'));
  const before = beside === undefined ? undefined : await rowsIn(beside);
  const rows = await measureCosts(await operationsOn(bed, contenders), { counted, metered, meter }, seconds);
  if (save !== undefined) await writeFile(save, JSON.stringify(rows, undefined, 2));
  print(...renderCosts(rows, price, before));
};

const measureAll = async (bed: Bed): Promise<void> => {
  const outcomes = await withContenders(bed, (contenders) => compareAll(bed, contenders));
  if (!flags.pairs) return;
  const scenery = { stack, bed, database: client.db(bed.database), provider, trash };
  print(...(await renderJobs(scenery, flags)));
  const neighbours = await measureStreet(scenery, flags);
  if (neighbours.length > 0) print(renderNeighbours(neighbours));
  if (only !== '' || !withEverybody) return;
  await writePicture('bench-cpu.svg', drawChart(cpuChart(outcomes)));
  await writePicture('bench-peers.svg', drawChart(speedChart(outcomes)));
  await writePart('bench', printed.join('\n\n'));
  await writePart('summary', renderSummary(outcomes));
  await writePart('neighbours', renderNeighbourSummary(neighbours));
  console.log('Updated the tables in bench/results.md and the charts in docs/concepts.');
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
  for (const name of ours)
    await fill(
      database.collection(name),
      small,
      () => undefined,
      () => stampsOf(name),
    );
  if (withMany) await fill(database.collection(many), manyCount, () => undefined);
  await addJoined(bed, database, small);
  await addSearched(bed, database, small);
  await addFed(bed, database, small);
  await addProjects(bed);
  await addMailLogs(client.db('control'), bed.projectId);
  if (flags.commands) await withContenders(bed, (contenders) => printCommands(bed, contenders));
  else if (flags.costs) {
    const files = flags.costs;
    await withContenders(bed, (contenders) => printCosts(bed, contenders, files));
  } else await measureAll(bed);
} finally {
  provider.stop();
  meter?.stop();
  await client.close();
  await stack.stop();
  await rm(directory, { recursive: true, force: true });
}
