import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { showHelp } from '../../../scripts/read-arguments.ts';
import { bundleFunctions } from '../../build/bundle.ts';
import { buildConsole } from '../../build/console.ts';
import { buildDocs } from '../../build/docs.ts';
import { bundleFolder, root } from '../../build/function-files.ts';
import { DeployProblem } from '../../settings/deploy-problem.ts';
import { deploymentsFile, loadDeployments, writeDeployment } from '../../settings/deployments-file.ts';
import { type Choice, type DeploymentSettings, settingNames, settingsOf, writtenFor } from '../../settings/settings.ts';
import { filledSecrets } from '../../stacks/secrets.ts';
import { cdk, requireCdkOptions } from '../cdk.ts';
import { awsIn, contextIn, deploymentIn, deployOptionsIn, type SettingOptions } from './arguments.ts';
import { unverifiedCloudFront } from './cloudformation.ts';
import { deploy } from './deploy.ts';
import { type DeployedBefore, deployedBefore } from './deployed-before.ts';
import type { Outputs } from './next-steps.ts';
import { preflight } from './preflight.ts';
import { requireSameCloudFront, resolveSettings } from './resolve-settings.ts';
import { tryUri } from './try-uri.ts';
import { uploadConsole } from './upload-console.ts';

const secretNames = Object.values(filledSecrets).map(({ variable }) => variable);

const usage = `Usage: npm run deploy -- [-c <setting>=<value>…] [--keep] [--forget <setting>…] [--untried] [options of cdk deploy]
Bundles the functions, deploys every stack and uploads the console. Stores the given settings in deployments.json.
Secrets come from the environment: ${secretNames.join(', ')}.
  -c           a setting, such as -c alarmEmail=ops@example.com; -c deployment=<name> for another deployment
  --keep       keeps deployed settings that are not given
  --forget     resets a deployed setting to its default
  --untried    stores a MongoDB URI even if this machine cannot test it
Options of the CDK include:
  --profile                 the AWS profile whose credentials are used
  --require-approval never  deploys without asking for confirmation
All options of the CDK: npx cdk deploy --help
The guide: docs/operate/deploy.md`;

/** The context in `cdk.json`. */
const configured = async (): Promise<Choice> => {
  const { context = {} } = JSON.parse(await readFile(join(root, 'cdk.json'), 'utf8')) as { readonly context?: Choice };
  return context;
};

const settingsAmong = (context: Choice): Choice =>
  Object.fromEntries(Object.entries(context).filter(([name]) => settingNames.includes(name)));

/** Settings have names of letters only; other context belongs to the CDK itself. */
const chosenIn = (args: readonly string[]): Choice =>
  Object.fromEntries(Object.entries(contextIn(args)).filter(([name]) => /^[A-Za-z]+$/.test(name)));

/** Resolves the settings, stores those that changed in `deployments.json` and returns all of them. */
const storeSettings = (
  deployment: string,
  args: readonly string[],
  options: SettingOptions,
  context: Choice,
  { settings: deployed, cloudFront }: DeployedBefore,
): DeploymentSettings => {
  const file = join(root, deploymentsFile);
  const sources = {
    deployed,
    repository: { ...writtenFor(context.deployments, deployment, 'cdk.json'), ...settingsAmong(context) },
    file: writtenFor(loadDeployments(file), deployment, deploymentsFile),
    commandLine: chosenIn(args),
  };
  const stored = resolveSettings(sources, options);
  const settings = settingsOf({ ...sources.repository, ...stored, ...sources.commandLine });
  requireSameCloudFront(cloudFront, settings.cloudFront);
  if (!isDeepStrictEqual(stored, sources.file)) {
    writeDeployment(file, deployment, stored);
    console.log(`Stored the settings of ${deployment} in ${deploymentsFile}.`);
  }
  return settings;
};

const given = process.argv.slice(2);
showHelp(usage, given);
requireCdkOptions(usage, 'deploy', given, ['keep', 'forget', 'untried']);
const folder = await mkdtemp(join(tmpdir(), 'basalt-deploy-'));
const outputsFile = join(folder, 'outputs.json');
try {
  const { options, untried, rest: args } = deployOptionsIn(given);
  const context = await configured();
  const deployment = deploymentIn(args, context);
  const deployed = await deployedBefore(deployment, awsIn(args, process.env));
  const settings = storeSettings(deployment, args, options, context, deployed);
  await preflight(settings, awsIn(args, process.env), console.log);
  console.log(`Bundled ${(await bundleFunctions(bundleFolder, { codeCaches: true })).length} functions.`);
  const docs = await buildDocs();
  await deploy(args, {
    deployment,
    running: deployed.running,
    rateLimit: Number(settings.rateLimit),
    untried,
    tryUri,
    cdk,
    explain: () => unverifiedCloudFront(deployment, awsIn(args, process.env)),
    outputsFile,
    readOutputs: async () => JSON.parse(await readFile(outputsFile, 'utf8')) as Outputs,
    environment: process.env,
    putConsole: async (bucket, publicApi) => {
      const pages = await buildConsole(publicApi, settings.aiBaseUrl !== undefined);
      await uploadConsole(bucket, [...docs, ...pages], awsIn(args, process.env));
    },
    say: console.log,
  });
} catch (error) {
  console.error(error instanceof DeployProblem ? error.message : error);
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
