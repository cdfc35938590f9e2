/**
 * `npm run bench`: Basalt beside a bare `node:http` + driver server on the same engine, in one run, interleaved. Every
 * figure is a ratio to the bare server of the same round, because the machine's own speed drifts.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startStack } from '../infra/local/stack.ts';
import { compareAccounts, passwordCost } from './accounts.ts';
import { drawChart } from './chart.ts';
import { compareOperations, type Outcome, writesOf } from './compare.ts';
import { startContender } from './contender.ts';
import { measureDepth } from './depth.ts';
import { endProgress, progress } from './progress.ts';
import { renderDepth, renderOutcomes } from './report.ts';
import { connect, fill, makeBed } from './seed.ts';

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    large: { type: 'string', default: '1000000' },
    only: { type: 'string', default: '' },
  },
});
const rounds = Number(flags.rounds);
const seconds = Number(flags.seconds);
const large = Number(flags.large);
const small = 10_000;
const most = '999999999';
/** Counts every request and never refuses one. */
const unlimited = { RATE_LIMIT: most, AUTH_RATE_LIMIT: most, CREDENTIAL_RATE_LIMIT: most };
const chartFile = path.join(import.meta.dirname, '../docs/bench.svg');

const chartOf = (outcomes: readonly Outcome[]): string =>
  drawChart(
    'Requests per second as a share of a bare node:http + driver server',
    outcomes.map(({ operation, ratio, countedRatio }) => ({
      label: operation.name,
      bars: [
        { name: 'rate counting off', ratio },
        { name: 'rate counting on', ratio: countedRatio },
      ],
    })),
  );

const directory = await mkdtemp(path.join(tmpdir(), 'basalt-bench-'));
const stack = await startStack({
  directory,
  port: 0,
  mongoUri: process.env.MONGODB_URI,
  dynamoEndpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB,
  dashboardOrigins: [],
  functions: { RATE_LIMIT: '0', PASSWORD_COST: '4', LOG: 'silent' },
  report: progress,
  onFailure: (detail) => {
    console.error(detail);
    process.exit(1);
  },
});
const client = await connect(stack.mongoUri);
try {
  const names = ['basalt', 'counted', 'bare'];
  const bed = await makeBed(stack.dashboardUrl, [...names, ...names.map(writesOf), 'large']);
  const database = client.db(bed.database);
  for (const name of names) await fill(database.collection(name), small, () => undefined);
  const key = { 'x-api-key': bed.secretKey };
  const env = { ...stack.env, PASSWORD_COST: String(passwordCost) };
  const contenders = {
    bare: await startContender('bare', 'bare-server.ts', { ...stack.env, BENCH_DATABASE: bed.database }, {}),
    basalt: await startContender('basalt', 'basalt-server.ts', { ...env, RATE_LIMIT: '0' }, key),
    counted: await startContender('counted', 'basalt-server.ts', { ...env, ...unlimited }, key),
  };
  const plan = { rounds, seconds, only: flags.only };
  const outcomes = [
    ...(await compareOperations(contenders, database, plan)),
    ...(await compareAccounts(contenders, database, bed.publishableKey, plan)),
  ];
  endProgress();
  console.log(renderOutcomes(outcomes));
  if (large > 0) {
    await fill(database.collection('large'), large, (done) => progress(`filling ${done} of ${large} documents`));
    const depth = await measureDepth(contenders.basalt, { rounds, seconds, small, large });
    endProgress();
    console.log(`\n${renderDepth(depth, small, large)}`);
  }
  if (flags.only === '') {
    await writeFile(chartFile, chartOf(outcomes));
    console.log('\nThe chart is in docs/bench.svg.');
  }
  for (const contender of Object.values(contenders)) contender.stop();
} finally {
  await client.close();
  await stack.stop();
  await rm(directory, { recursive: true, force: true });
}
