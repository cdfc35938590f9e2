import { StartProblem } from '../local/problem.ts';
import { addressChecks } from './addresses.ts';
import { type Check, examine, type Finding } from './check.ts';
import { functionChecks } from './functions.ts';
import { mongoChecks } from './mongodb.ts';
import { patientOf } from './patient.ts';
import { lineOf, summaryOf } from './report.ts';
import { secretChecks } from './secrets.ts';
import { settingChecks } from './settings.ts';
import { storeChecks } from './stores.ts';

const checks: readonly Check[] = [
  ...functionChecks,
  ...secretChecks,
  ...storeChecks,
  ...mongoChecks,
  ...settingChecks,
  ...addressChecks,
];

/** Checks a deployment, or the local stack, and prints a line a check; true where nothing has failed. */
const run = async (): Promise<boolean> => {
  const patient = await patientOf(process.argv.slice(2), process.env);
  const findings: Finding[] = [];
  for await (const finding of examine(patient, checks)) {
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
