import { readArguments } from '../../../scripts/read-arguments.ts';
import { runningEnvironment } from '../../local/environment-file.ts';
import { StartProblem } from '../../local/problem.ts';
import type { Target } from './check.ts';
import { environmentOf, functionsOf } from './functions.ts';

const usage = `npm run doctor -- --local
npm run doctor -- [--deployment Basalt] [--region eu-central-1] [--profile name]`;

const help = `Usage:
${usage}
Checks the service that runs here, or what is deployed, and prints a line for each check.
  --local       the service that npm start runs
  --deployment  the prefix of its stacks
  --region      where it is; otherwise AWS_REGION
  --profile     whose credentials are used`;

const options = {
  local: { type: 'boolean' },
  deployment: { type: 'string', default: 'Basalt' },
  region: { type: 'string' },
  profile: { type: 'string' },
} as const;

const localTarget = async (directory: string): Promise<Target> => {
  const environment = await runningEnvironment(directory);
  // The clients find the local stores by what functions are told, as functions do.
  Object.assign(process.env, environment);
  return { local: true, deployment: '', environment, functions: [], aws: {} };
};

/** What keeps AWS from being asked at all: no region, no credentials, refused ones. */
const notAsked = (error: unknown): StartProblem =>
  new StartProblem(
    `AWS could not be asked which functions there are: ${error instanceof Error ? error.message : String(error)}\n` +
      `Name a region and a profile that may look at them, or look at the service that runs here:\n${usage}`,
  );

/** Whom the command line asks to be looked at; nothing there to look at, or AWS not to be asked → `StartProblem`. */
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
    throw notAsked(error);
  });
  if (functions.length === 0) {
    throw new StartProblem(
      `There is no deployment ${deployment} in ${region ?? 'the region of the profile'}.\n${usage}`,
    );
  }
  return { local: false, deployment, environment: environmentOf(functions), functions, aws };
};
