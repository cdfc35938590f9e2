import { StartProblem } from '../../local/problem.ts';
import { addressChecks } from './addresses.ts';
import { alarmMailCheck } from './alarm-mail.ts';
import { type Check, examine, type Finding } from './check.ts';
import { concurrencyCheck } from './concurrency.ts';
import { connectionsCheck } from './connections.ts';
import { functionChecks } from './functions.ts';
import { messagesCheck } from './messages.ts';
import { mongoChecks } from './mongodb.ts';
import { registrationCheck } from './registration.ts';
import { lineOf, summaryOf } from './report.ts';
import { schedulesCheck } from './schedules.ts';
import { secretChecks } from './secrets.ts';
import { settingChecks } from './settings.ts';
import { storeChecks } from './stores.ts';
import { targetOf } from './target.ts';

const checks: readonly Check[] = [
  ...functionChecks,
  concurrencyCheck,
  connectionsCheck,
  ...secretChecks,
  ...storeChecks,
  messagesCheck,
  schedulesCheck,
  alarmMailCheck,
  ...mongoChecks,
  ...settingChecks,
  registrationCheck,
  ...addressChecks,
];

/** Checks a deployment, or the local stack, and prints a line a check; true where nothing has failed. */
const run = async (): Promise<boolean> => {
  const target = await targetOf(process.argv.slice(2), process.env);
  const findings: Finding[] = [];
  for await (const finding of examine(target, checks)) {
    findings.push(finding);
    console.log(lineOf(finding));
  }
  console.log(`\n${summaryOf(findings)}`);
  return findings.every(({ level }) => level !== 'failed');
};

try {
  if (!(await run())) process.exitCode = 1;
} catch (error) {
  console.error(error instanceof StartProblem ? error.message : String(error));
  process.exitCode = 2;
}
