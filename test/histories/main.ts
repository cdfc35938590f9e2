import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { endProgress, progress } from '../../bench/progress.ts';
import { endWithNpm, requireNode } from '../../infra/local/processes.ts';
import { exitWithUsage, readArguments } from '../../scripts/read-arguments.ts';
import { requireGo } from './check.ts';
import { runHistory } from './run.ts';

requireNode();
const usage = `Usage: npm run test:histories -- [--seed=<text>] [--seconds=300] [--clients=16] [--directory=<folder>]
Sends requests of many clients to a local stack whose databases and processes fail, and checks with Porcupine (a Go
module) that the responses are those of some order of the requests. Needs Go.
  --seed       chooses requests and faults; printed, and random by default
  --directory  receives history.jsonl, and a picture of each object with a wrong response (default: .histories)`;
const { values } = readArguments(usage, {
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    seconds: { type: 'string', default: '300' },
    clients: { type: 'string', default: '16' },
    directory: { type: 'string', default: path.resolve(import.meta.dirname, '../../.histories') },
  },
});
const [seconds, clients] = [Number(values.seconds), Number(values.clients)];
if (!(seconds > 0) || !(clients > 0)) exitWithUsage(`--seconds and --clients must be numbers above 0\n${usage}`);
endWithNpm();
await requireGo().catch((error: Error) => {
  console.error(error.message);
  process.exit(1);
});
mkdirSync(values.directory, { recursive: true });
const problems = await runHistory({
  seed: values.seed,
  seconds,
  clients,
  directory: values.directory,
  report: progress,
});
endProgress();
for (const problem of problems) console.error(problem);
process.exit(problems.length === 0 ? 0 : 1);
