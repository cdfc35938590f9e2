import { StartProblem } from '../../local/problem.ts';
import { addressChecks } from './addresses.ts';
import { alarmEmailCheck } from './alarm-email.ts';
import { concurrencyCheck, connectionsCheck } from './capacity.ts';
import { type Check, examine, type Finding, lineOf, summaryOf } from './check.ts';
import { functionChecks } from './functions.ts';
import { mongoChecks } from './mongodb.ts';
import { secretChecks } from './secrets.ts';
import { settingChecks } from './settings.ts';
import { storeChecks } from './stores.ts';
import { targetOf } from './target.ts';
import { queueTriggersCheck, schedulesCheck } from './triggers.ts';

const checks: readonly Check[] = [
  ...functionChecks,
  concurrencyCheck,
  connectionsCheck,
  ...secretChecks,
  ...storeChecks,
  queueTriggersCheck,
  schedulesCheck,
  alarmEmailCheck,
  ...mongoChecks,
  ...settingChecks,
  ...addressChecks,
];

/** Runs all checks and prints a line for each, without the skipped ones. True if none failed. */
const run = async (): Promise<boolean> => {
  const target = await targetOf(process.argv.slice(2), process.env);
  const findings: Finding[] = [];
  for await (const finding of examine(target, checks)) {
    findings.push(finding);
    if (finding.level !== 'skipped') console.log(lineOf(finding));
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
