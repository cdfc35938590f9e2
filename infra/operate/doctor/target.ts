import { readArguments } from '../../../scripts/read-arguments.ts';
import { StartProblem } from '../../local/problem.ts';
import { runningEnvironment } from '../../local/state-files.ts';
import type { Target } from './check.ts';
import { environmentOf, functionsOf } from './functions.ts';

const usage = `  npm run doctor -- --local
  npm run doctor -- [--deployment Basalt] [--region eu-central-1] [--profile name]`;

const help = `Usage:
${usage}
Checks the local service or a deployment, prints one line per check, and says how to fix what is wrong.
  --local       checks the service that npm start runs on this machine
  --deployment  the deployment's name, which its stacks begin with (default: Basalt)
  --region      the AWS region (default: AWS_REGION)
  --profile     the AWS profile whose credentials are used`;

const options = {
  local: { type: 'boolean' },
  deployment: { type: 'string', default: 'Basalt' },
  region: { type: 'string' },
  profile: { type: 'string' },
} as const;

const localTarget = async (directory: string): Promise<Target> => {
  const environment = await runningEnvironment(directory);
  // AWS clients find the local services by the same variables as functions do.
  Object.assign(process.env, environment);
  return { local: true, deployment: '', environment, functions: [], aws: {} };
};

/** No region, no credentials, or no permission. */
const awsProblem = (error: unknown): StartProblem =>
  new StartProblem(
    `The functions of the deployment could not be listed: ${error instanceof Error ? error.message : String(error)}\n` +
      `Give a region and a profile with access to them, or check the service on this machine with --local:\n${usage}`,
  );

/** Returns what the command line asks to check. Throws `StartProblem` if it is not running, not deployed or not accessible. */
export const targetOf = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<Target> => {
  const {
    local,
    deployment,
    region = env.AWS_REGION ?? env.AWS_DEFAULT_REGION,
    profile,
  } = readArguments(help, { args: [...args], options }).values;
  if (local) return localTarget(env.BASALT_DIR || '.basalt');
  const aws = { ...(region !== undefined && { region }), ...(profile !== undefined && { profile }) };
  const functions = await functionsOf(deployment, aws).catch((error: unknown) => {
    throw awsProblem(error);
  });
  if (functions.length === 0) {
    throw new StartProblem(
      `There is no deployment named ${deployment} in ${region ?? 'the region of the profile'}.\n` +
        `Give another name or region, or check the service on this machine with --local:\n${usage}`,
    );
  }
  return { local: false, deployment, environment: environmentOf(functions), functions, aws };
};
