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
import { agreeSettings, refuseCloudFrontChange } from './agree-settings.ts';
import { deploy } from './deploy.ts';
import { type DeployedBefore, deployedBefore } from './deployed-before.ts';
import { awsIn, contextIn, deploymentIn } from './deployment-name.ts';
import { unverifiedCloudFront } from './failed-stacks.ts';
import type { Outputs } from './farewell.ts';
import { preflight } from './preflight.ts';
import { type SettingOptions, settingOptionsIn } from './setting-options.ts';
import { tryUri } from './try-uri.ts';
import { uploadConsole } from './upload-console.ts';

const secretNames = Object.values(filledSecrets).map(({ variable }) => variable);

const usage = `Usage: npm run deploy -- [-c <setting>=<value>…] [--keep] [--forget <setting>…] [--untried] [options of cdk deploy]
Writes the settings that are given into deployments.json, bundles the functions, deploys every stack and puts the pages of
the console in their place: docs/operate/deploy.md. Secrets come from the environment: ${secretNames.join(', ')}.
  -c           a setting, such as -c alarmEmail=ops@example.com; deployment=<name> names another deployment
  --keep       settings that are deployed and were not given stay
  --forget     a setting that is deployed goes back to its default
  --untried    a URI of MongoDB that cannot be tried from here is written all the same
Of the CDK, among others:
  --profile    whose credentials are used
  --require-approval never  asks nothing
The whole list: npx cdk deploy --help`;

/** What `cdk.json` says. */
const configured = async (): Promise<Choice> => {
  const { context = {} } = JSON.parse(await readFile(join(root, 'cdk.json'), 'utf8')) as { readonly context?: Choice };
  return context;
};

const settingsAmong = (context: Choice): Choice =>
  Object.fromEntries(Object.entries(context).filter(([name]) => settingNames.includes(name)));

/** The CDK has context of its own, whose names have other signs than letters. */
const chosenIn = (args: readonly string[]): Choice =>
  Object.fromEntries(Object.entries(contextIn(args)).filter(([name]) => /^[A-Za-z]+$/.test(name)));

/** Sees that no setting gets lost, and writes down those that are given; returns all of them. */
const settle = (
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
  const agreed = agreeSettings(sources, options);
  const settings = settingsOf({ ...sources.repository, ...agreed, ...sources.commandLine });
  refuseCloudFrontChange(cloudFront, settings.cloudFront);
  if (!isDeepStrictEqual(agreed, sources.file)) {
    writeDeployment(file, deployment, agreed);
    console.log(`The settings of ${deployment} are in ${deploymentsFile} now.`);
  }
  return settings;
};

const given = process.argv.slice(2);
showHelp(usage, given);
requireCdkOptions(usage, 'deploy', given, ['keep', 'forget', 'untried']);
const folder = await mkdtemp(join(tmpdir(), 'basalt-deploy-'));
const outputsFile = join(folder, 'outputs.json');
try {
  const { options, untried, rest: args } = settingOptionsIn(given);
  const context = await configured();
  const deployment = deploymentIn(args, context);
  const deployed = await deployedBefore(deployment, awsIn(args, process.env));
  const settings = settle(deployment, args, options, context, deployed);
  await preflight(settings, awsIn(args, process.env), console.log);
  console.log(`${(await bundleFunctions(bundleFolder, { codeCaches: true })).length} functions bundled`);
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
