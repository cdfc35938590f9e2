import { showHelp } from '../../scripts/read-arguments.ts';
import { bundleFunctions } from '../build/bundle.ts';
import { bundleFolder } from '../build/function-files.ts';
import { DeployProblem } from '../settings/deploy-problem.ts';
import { cdk, requireCdkOptions } from './cdk.ts';

const usage = `Usage: npm run synth -- [-c <setting>=<value>…] [options of cdk synth]
Bundles the functions and writes the CloudFormation templates of a deployment into cdk.out. Needs no AWS account.
  -c  a setting, such as -c deployment=Staging
All options of the CDK: npx cdk synth --help`;

const args = process.argv.slice(2);
showHelp(usage, args);
requireCdkOptions(usage, 'synth', args);
try {
  console.log(`Bundled ${(await bundleFunctions(bundleFolder, { codeCaches: true })).length} functions.`);
  await cdk(['synth', '--quiet', ...args]);
} catch (error) {
  console.error(error instanceof DeployProblem ? error.message : error);
  process.exitCode = 1;
}
