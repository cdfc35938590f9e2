import { requireNode } from '../../infra/local/processes.ts';
import { exitWithUsage, readArguments } from '../../scripts/read-arguments.ts';
import { models } from './models.ts';
import { installWorlds } from './world.ts';

requireNode();
const usage = `Usage: npm run test:schedules -- [--seed=<number>] [--runs=100000] [--model=<name>] [--path=<path>]
Runs functions of shared/ over stores in memory. A scheduler decides the order of all calls, which may crash, conflict, or
lose their requests and responses. Prints schedules and calls per property.
  --runs   schedules of all properties together, or of the one with --model
  --path   of a failure, with its seed and model: repeats the smallest schedule that fails`;
const { values } = readArguments(usage, {
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    runs: { type: 'string', default: '100000' },
    model: { type: 'string' },
    path: { type: 'string' },
  },
});
const chosen = models.filter(({ name }) => values.model === undefined || name === values.model);
const [seed, runs] = [Number(values.seed), Math.ceil(Number(values.runs) / chosen.length)];
if (chosen.length === 0 || !Number.isInteger(seed) || !(runs > 0)) {
  exitWithUsage(`${usage}\nModels: ${models.map(({ name }) => name).join(', ')}`);
}
installWorlds();
const begin = performance.now();
const total = { schedules: 0, operations: 0, failed: 0 };
for (const { name, check } of chosen) {
  const { schedules, operations, failure, path } = await check({ seed, runs, path: values.path });
  total.schedules += schedules;
  total.operations += operations;
  if (failure !== undefined) total.failed++;
  console.log(`${failure === undefined ? 'ok    ' : 'FAILED'} ${name}: ${schedules} schedules, ${operations} calls`);
  if (failure !== undefined) console.log(`${failure}\nRepeat it: --model='${name}' --seed=${seed} --path=${path}`);
}
const seconds = (performance.now() - begin) / 1000;
const rate = Math.round(total.schedules / seconds);
console.log(
  `seed ${seed}: ${total.schedules} schedules, ${total.operations} calls, ${total.failed} properties failed, ${rate} schedules a second`,
);
process.exit(total.failed === 0 ? 0 : 1);
