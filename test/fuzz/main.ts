import { requireNode } from '../../infra/local/processes.ts';
import { exitWithUsage, readArguments } from '../../scripts/read-arguments.ts';
import { measureCoverage } from './coverage.ts';

requireNode();
// Before the parsers are loaded.
const coverage = await measureCoverage();
const { parsers, prepareParsers } = await import('./parsers.ts');
const usage = `Usage: npm run test:fuzz -- [--seed=<number>] [--runs=10000] [--parser=<name>] [--path=<path>]
Gives texts and values of each parser's grammar to it, half of them changed at random. Prints for each parser how many it
accepted, and the longest CPU time of one; then how much of each parser's file ran.
  --runs  inputs of each parser
  --path  of a failure, with its seed and parser: repeats the smallest input that fails`;
const { values } = readArguments(usage, {
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    runs: { type: 'string', default: '10000' },
    parser: { type: 'string' },
    path: { type: 'string' },
  },
});
const chosen = parsers.filter(({ name }) => values.parser === undefined || name === values.parser);
const [seed, runs] = [Number(values.seed), Number(values.runs)];
if (chosen.length === 0 || !Number.isInteger(seed) || !(runs > 0)) {
  exitWithUsage(`${usage}\nParsers: ${parsers.map(({ name }) => name).join(', ')}`);
}
prepareParsers();
const total = { inputs: 0, failed: 0 };
for (const { name, check } of chosen) {
  const { inputs, accepted, slowestMs, failure } = await check({ seed, runs, path: values.path });
  total.inputs += inputs;
  if (failure !== undefined) total.failed++;
  const result = failure === undefined ? 'ok    ' : 'FAILED';
  console.log(`${result} ${name}: ${inputs} inputs, ${accepted} accepted, ${Math.ceil(slowestMs)} ms of CPU at most`);
  if (failure !== undefined)
    console.log(`${failure}\nRepeat it: --parser='${name}' --seed=${seed} --path=<path above>`);
}
const shares = [...(await coverage())].sort(([, a], [, b]) => a - b);
for (const [file, share] of shares) console.log(`${Math.round(100 * share)} % of ${file} ran`);
const mean = shares.reduce((sum, [, share]) => sum + share, 0) / shares.length;
console.log(`${Math.round(100 * mean)} % of ${shares.length} files ran on average`);
console.log(`seed ${seed}: ${total.inputs} inputs, ${total.failed} parsers failed`);
process.exit(total.failed === 0 ? 0 : 1);
