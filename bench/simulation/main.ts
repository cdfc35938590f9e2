import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startDynamo } from '../../infra/local/dynamo.ts';
import { localAccount } from '../../infra/local/keys.ts';
import { endWithNpm, requireNode } from '../../infra/local/processes.ts';
import { readArguments } from '../../scripts/read-arguments.ts';
import { closeDynamo } from '../../shared/persistence/dynamo.ts';
import { endProgress, progress } from '../progress.ts';
import { simulateCache } from './cache.ts';
import { countWrites } from './commands.ts';
import { type Finding, isRight } from './instances.ts';
import { simulateMail, simulateStorage } from './quotas.ts';
import { simulateRate } from './rate.ts';

requireNode();
const usage = `Usage: npm run simulate -- [--instances=1000]
Tests rate limits, quotas and caches with many simulated function instances on one table.
  --instances  the number of instances`;
const { values } = readArguments(usage, {
  options: { instances: { type: 'string', default: '1000' } },
});
const instances = Number(values.instances);
endWithNpm();
const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
const newId = (): string => randomBytes(12).toString('hex');

const directory = await mkdtemp(path.join(tmpdir(), 'basalt-simulation-'));
const dynamo = await startDynamo({
  directory,
  endpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB,
  table: 'basalt',
  ...localAccount,
  report: progress,
  onExit: (detail) => {
    console.error(detail);
    process.exit(1);
  },
});
Object.assign(process.env, {
  AWS_ENDPOINT_URL_DYNAMODB: dynamo.address,
  AWS_REGION: localAccount.region,
  AWS_ACCESS_KEY_ID: localAccount.credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: localAccount.credentials.secretAccessKey,
  TABLE_NAME: 'basalt',
});

const findings: Finding[] = [];
const run = async (what: string, simulate: () => Promise<Finding>): Promise<void> => {
  progress(`${what} …`);
  findings.push(await simulate());
};

try {
  for (const limit of [100, 1000, 10_000, 100_000]) {
    await run(`rate limit ${whole(limit)}`, () =>
      simulateRate(instances, limit, `203.0.113.${findings.length}`, countWrites),
    );
  }
  await run('mail quota', () => simulateMail(instances, newId(), countWrites));
  await run('storage quota', () => simulateStorage(instances, newId(), countWrites));
  progress('project cache …');
  const cache = await simulateCache(instances);
  endProgress();
  console.log(`${whole(instances)} simulated function instances on one table\n`);
  console.log('| what | asked | let through | right | commands |');
  console.log('|---|--:|--:|--:|--:|');
  for (const finding of findings) {
    const { what, asked, let: through, least, most, writes } = finding;
    const right = least === most ? whole(most) : `${whole(least)} to ${whole(most)}`;
    const verdict = isRight(finding) ? '' : '  WRONG';
    console.log(`| ${what} | ${whole(asked)} | ${whole(through)} | ${right}${verdict} | ${whole(writes)} |`);
  }
  const { requests, loads, oldestMs } = cache;
  console.log(
    `\nProject record: ${whole(requests)} requests in a minute, ${whole(loads)} of them read it (${((100 * loads) / requests).toFixed(1)} %); ` +
      `the oldest that was used had changed ${(oldestMs / 1000).toFixed(1)} s before (right: up to 5 s).`,
  );
  if (!findings.every(isRight) || oldestMs > 5000) process.exitCode = 1;
} finally {
  closeDynamo();
  await dynamo.stop();
  await rm(directory, { recursive: true, force: true });
}
