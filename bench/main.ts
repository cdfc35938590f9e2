/**
 * `npm run bench`: Basalt beside a bare `node:http` + driver server on the same engines, in one run, interleaved. Every
 * figure is a ratio to the bare server of the same round, because the machine's own speed drifts.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startStack } from '../infra/local/stack.ts';
import { compareAccounts } from './accounts.ts';
import { drawChart, type Group } from './chart.ts';
import { compareOperations, type Outcome, writesOf } from './compare.ts';
import { startContenders } from './contenders.ts';
import { type LimitedDelivery, measureDelivery } from './delivery.ts';
import { measureDepth } from './depth.ts';
import { compareFiles } from './files.ts';
import { compareMail } from './mail.ts';
import { measureOwnDatabase } from './own-database.ts';
import type { Pair } from './pairs.ts';
import { endProgress, progress } from './progress.ts';
import { measurePurge } from './purge.ts';
import { renderDepth, renderLimited, renderOutcomes, renderPairs } from './report.ts';
import { type Bed, connect, fill, makeBed } from './seed.ts';

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    large: { type: 'string', default: '1000000' },
    only: { type: 'string', default: '' },
  },
});
const { only } = flags;
const rounds = Number(flags.rounds);
const seconds = Number(flags.seconds);
const large = Number(flags.large);
const plan = { rounds, seconds, only };
const small = 10_000;
const chartFile = path.join(import.meta.dirname, '../docs/bench.svg');
const contenderNames = ['bare', 'basalt', 'counted', 'blocks'];
const trash = { basalt: 'trash', bare: 'bare-trash' };

const groupsOf = (outcomes: readonly Outcome[], pairs: readonly Pair[]): Group[] => {
  const groups: Group[] = [
    ...outcomes.map(({ operation: { area, name }, ratio, countedRatio, blocksRatio }) => ({
      area,
      label: name,
      bars: [
        { name: 'rate counting off', ratio },
        { name: 'each request counted', ratio: countedRatio },
        { name: 'counted in blocks', ratio: blocksRatio },
      ],
    })),
    ...pairs.map(({ area, name, ratio }) => ({ area, label: name, bars: [{ name: 'rate counting off', ratio }] })),
  ];
  return [...Map.groupBy(groups, ({ area }) => area).values()].flat();
};

const directory = await mkdtemp(path.join(tmpdir(), 'basalt-bench-'));
const stack = await startStack({
  directory,
  port: 0,
  mongoUri: process.env.MONGODB_URI,
  dynamoEndpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB,
  dashboardOrigins: [],
  files: undefined,
  functions: { RATE_LIMIT: '0', PASSWORD_COST: '4', LOG: 'silent', USAGE_SECONDS: '0', MAIL_PER_SECOND: '0' },
  report: progress,
  onFailure: (detail) => {
    console.error(detail);
    process.exit(1);
  },
});
const client = await connect(stack.mongoUri);

const compareAll = async (bed: Bed): Promise<readonly Outcome[]> => {
  const database = client.db(bed.database);
  const contenders = await startContenders(stack.env, bed);
  try {
    const outcomes = [
      ...(await compareOperations(contenders, database, plan)),
      ...(await compareAccounts(contenders, database, bed.publishableKey, plan)),
      ...(await compareFiles(contenders, plan)),
      ...(await compareMail(contenders, stack.env.TABLE_NAME ?? '', bed.projectId, plan)),
    ];
    endProgress();
    if (outcomes.length > 0) console.log(`${renderOutcomes(outcomes)}\n`);
    if (large > 0) {
      await fill(database.collection('large'), large, (done) => progress(`filling ${done} of ${large} documents`));
      const depth = await measureDepth(contenders.basalt, { rounds, seconds, small, large });
      endProgress();
      console.log(`${renderDepth(depth, small, large)}\n`);
    }
    return outcomes;
  } finally {
    for (const contender of Object.values(contenders)) contender.stop();
  }
};

/** What is no request of a contender's. */
const measurePairs = async (bed: Bed): Promise<readonly Pair[]> => {
  const { env, dashboardUrl, mongoUri } = stack;
  const database = client.db(bed.database);
  const pairs: Pair[] = [];
  let limited: LimitedDelivery | undefined;
  if ('get, own database'.includes(only)) {
    pairs.push(await measureOwnDatabase({ env, dashboardUrl, mongoUri }, plan));
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

try {
  const collections = [...contenderNames, ...contenderNames.map(writesOf), ...Object.values(trash), 'large'];
  const bed = await makeBed(stack.dashboardUrl, collections);
  for (const name of contenderNames) await fill(client.db(bed.database).collection(name), small, () => undefined);
  const outcomes = await compareAll(bed);
  const pairs = await measurePairs(bed);
  if (only === '') {
    await writeFile(
      chartFile,
      drawChart('Speed as a share of a bare node:http + driver server', groupsOf(outcomes, pairs)),
    );
    console.log('The chart is in docs/bench.svg.');
  }
} finally {
  await client.close();
  await stack.stop();
  await rm(directory, { recursive: true, force: true });
}
