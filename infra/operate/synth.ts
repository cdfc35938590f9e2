import { showHelp } from '../../scripts/read-arguments.ts';
import { bundleFunctions } from '../build/bundle.ts';
import { bundleFolder } from '../build/function-files.ts';
import { DeployProblem } from '../settings/deploy-problem.ts';
import { cdk, requireCdkOptions } from './cdk.ts';

const usage = `Usage: npm run synth -- [-c <setting>=<value>…] [options of cdk synth]
Bundles the functions and makes the CloudFormation of a deployment, in cdk.out; needs no account.
  -c  a setting, such as -c deployment=Staging
The whole list: npx cdk synth --help`;

const args = process.argv.slice(2);
showHelp(usage, args);
requireCdkOptions(usage, 'synth', args);
try {
  console.log(`${(await bundleFunctions(bundleFolder, { codeCaches: true })).length} functions bundled`);
  await cdk(['synth', '--quiet', ...args]);
} catch (error) {
  console.error(error instanceof DeployProblem ? error.message : error);
  process.exitCode = 1;
}
