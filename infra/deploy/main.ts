/**
 * `npm run deploy [-- <arguments of cdk deploy>]`: bundles the functions and deploys every stack. Secrets are taken
 * from the environment: MONGODB_URI (needed the first time), MAIL_PROVIDER_KEY, MAIL_WEBHOOK_SECRET,
 * DASHBOARD_GITHUB_SECRET, AI_API_KEY.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleFunctions } from '../bundle.ts';
import { bundleFolder, root } from '../function-files.ts';
import { filledSecrets } from '../secrets.ts';
import { deploy } from './deploy.ts';
import { DeployProblem } from './deploy-problem.ts';
import { deploymentIn } from './deployment-name.ts';

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

const folder = await mkdtemp(join(tmpdir(), 'basalt-deploy-'));
const outputsFile = join(folder, 'outputs.json');
try {
  const args = process.argv.slice(2);
  const configuration = JSON.parse(await readFile(join(root, 'cdk.json'), 'utf8')) as {
    readonly context?: Readonly<Record<string, unknown>>;
  };
  console.log(`${(await bundleFunctions(bundleFolder)).length} functions bundled`);
  await deploy(args, {
    deployment: deploymentIn(args, configuration.context ?? {}),
    cdk,
    outputsFile,
    readOutputs: async () => JSON.parse(await readFile(outputsFile, 'utf8')) as Record<string, Record<string, string>>,
    environment: process.env,
    say: console.log,
  });
} catch (error) {
  console.error(error instanceof DeployProblem ? error.message : error);
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
