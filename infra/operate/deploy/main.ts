/**
 * `npm run deploy [-- [--keep] [--forget <setting>] [--untried] <arguments of cdk deploy>]`: writes the settings that
 * are given (`-c name=value`) into `deployments.json`, bundles the functions and deploys every stack. Secrets are taken
 * from the environment: MONGODB_URI (needed the first time), MAIL_PROVIDER_KEY, MAIL_WEBHOOK_SECRET,
 * DASHBOARD_GITHUB_SECRET, AI_API_KEY.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { bundleFunctions } from '../../build/bundle.ts';
import { buildConsole } from '../../build/console.ts';
import { bundleFolder, root } from '../../build/function-files.ts';
import { DeployProblem } from '../../settings/deploy-problem.ts';
import { deploymentsFile, loadDeployments, writeDeployment } from '../../settings/deployments-file.ts';
import { type Choice, type DeploymentSettings, settingNames, settingsOf, writtenFor } from '../../settings/settings.ts';
import { filledSecrets } from '../../stacks/secrets.ts';
import { agreeSettings } from './agree-settings.ts';
import { deploy } from './deploy.ts';
import { deployedBefore } from './deployed-before.ts';
import { awsIn, contextIn, deploymentIn } from './deployment-name.ts';
import type { Outputs } from './farewell.ts';
import { preflight } from './preflight.ts';
import { type SettingOptions, settingOptionsIn } from './setting-options.ts';
import { tryUri } from './try-uri.ts';
import { uploadConsole } from './upload-console.ts';

/** The CDK needs to know none of the secrets. */
const withoutSecrets = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv => {
  const secret = new Set<string>(Object.values(filledSecrets).map(({ variable }) => variable));
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !secret.has(name)));
};

const cdk = (args: readonly string[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const command = join(root, 'node_modules/aws-cdk/bin/cdk');
    const options = { cwd: root, stdio: 'inherit', env: withoutSecrets(process.env) } as const;
    spawn(process.execPath, [command, ...args], options)
      .on('error', reject)
      .on('close', (code) =>
        code === 0 ? resolve() : reject(new DeployProblem(`cdk ${args[0]} ended with ${code}; see above.`)),
      );
  });

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
  deployed: Choice,
): DeploymentSettings => {
  const file = join(root, deploymentsFile);
  const sources = {
    deployed,
    repository: { ...writtenFor(context.deployments, deployment, 'cdk.json'), ...settingsAmong(context) },
    file: writtenFor(loadDeployments(file), deployment, deploymentsFile),
    commandLine: chosenIn(args),
  };
  const agreed = agreeSettings(sources, options);
  if (!isDeepStrictEqual(agreed, sources.file)) {
    writeDeployment(file, deployment, agreed);
    console.log(`The settings of ${deployment} are in ${deploymentsFile} now.`);
  }
  return settingsOf({ ...sources.repository, ...agreed, ...sources.commandLine });
};

const folder = await mkdtemp(join(tmpdir(), 'basalt-deploy-'));
const outputsFile = join(folder, 'outputs.json');
try {
  const { options, untried, rest: args } = settingOptionsIn(process.argv.slice(2));
  const context = await configured();
  const deployment = deploymentIn(args, context);
  const deployed = await deployedBefore(deployment, awsIn(args, process.env));
  const settings = settle(deployment, args, options, context, deployed.settings);
  await preflight(settings, awsIn(args, process.env), console.log);
  console.log(`${(await bundleFunctions(bundleFolder, { codeCaches: true })).length} functions bundled`);
  await deploy(args, {
    deployment,
    running: deployed.running,
    untried,
    tryUri,
    cdk,
    outputsFile,
    readOutputs: async () => JSON.parse(await readFile(outputsFile, 'utf8')) as Outputs,
    environment: process.env,
    putConsole: async (bucket, publicApi) =>
      uploadConsole(bucket, await buildConsole(publicApi), awsIn(args, process.env)),
    say: console.log,
  });
} catch (error) {
  console.error(error instanceof DeployProblem ? error.message : error);
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
