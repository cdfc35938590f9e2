import { type FunctionConfiguration, LambdaClient, paginateListFunctions } from '@aws-sdk/client-lambda';
import { deployedJobs } from '../../../functions/jobs/jobs.ts';
import { routes } from '../../../functions/routes.ts';
import type { DeploymentSettings } from '../../settings/settings.ts';
import { asking } from './asking.ts';
import { type Check, failed, ok, type Target } from './check.ts';
import { deployedSettings } from './deployed-settings.ts';

/** The functions of a deployment: their names begin with its own. */
export const functionsOf = (deployment: string, aws: Target['aws']): Promise<readonly FunctionConfiguration[]> =>
  asking(new LambdaClient(aws), async (client) => {
    const found: FunctionConfiguration[] = [];
    for await (const { Functions = [] } of paginateListFunctions({ client }, {})) {
      found.push(...Functions.filter(({ FunctionName = '' }) => FunctionName.startsWith(`${deployment}-`)));
    }
    return found;
  });

/** Every variable that any function has; where they differ, the value that most have. */
export const environmentOf = (functions: readonly FunctionConfiguration[]): Record<string, string> => {
  const counts = new Map<string, Map<string, number>>();
  for (const { Environment } of functions) {
    for (const [name, value] of Object.entries(Environment?.Variables ?? {})) {
      const values = counts.get(name) ?? new Map<string, number>();
      counts.set(name, values.set(value, (values.get(value) ?? 0) + 1));
    }
  }
  return Object.fromEntries(
    [...counts].map(([name, values]) => [name, [...values].sort(([, a], [, b]) => b - a)[0]?.[0] ?? '']),
  );
};

/** What each function is for, which is its description: names are made up by CloudFormation. */
const expectedIn = ({ cloudFront }: DeploymentSettings): readonly string[] => [
  ...Object.values(routes).flatMap((table) => Object.values(table).map(({ summary }) => summary)),
  ...deployedJobs(cloudFront).map(([, { summary }]) => summary),
];

/** What is left of a list once another one is taken out of it; both may hold the same thing twice. */
const without = (all: readonly string[], taken: readonly string[]): readonly string[] => {
  const left = [...all];
  for (const one of taken) {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
  }
  return left;
};

const few = (names: readonly string[]): string =>
  names.length <= 3 ? names.join('; ') : `${names.slice(0, 3).join('; ')} and ${names.length - 3} more`;

const deployAgain = 'Deploy again with: npm run deploy';

const difference = (functions: readonly FunctionConfiguration[], variable: string): boolean =>
  new Set(functions.flatMap(({ Environment }) => Environment?.Variables?.[variable] ?? [])).size > 1;

const shared = [
  'TABLE_NAME',
  'MONGODB_SECRET_ARN',
  'ENCRYPTION_SECRET_ARN',
  'FILES_BUCKET',
  'RATE_LIMIT',
  'PUBLIC_URL',
];

export const functionChecks: readonly Check[] = [
  {
    name: 'functions',
    deployedOnly: true,
    run: async (target) => {
      const { functions } = target;
      const there = functions.map(({ Description = '' }) => Description);
      const missing = without(expectedIn(deployedSettings(target)), there);
      if (missing.length > 0) return failed(`${missing.length} are missing: ${few(missing)}`, deployAgain);
      const broken = functions.filter(
        ({ State, LastUpdateStatus }) => State === 'Failed' || LastUpdateStatus === 'Failed',
      );
      const names = broken.map(({ FunctionName = '' }) => FunctionName);
      if (names.length > 0) return failed(`${names.length} could not be made: ${few(names)}`, deployAgain);
      return ok(`${functions.length} are there`);
    },
  },
  {
    name: 'settings of functions',
    deployedOnly: true,
    run: async ({ functions }) => {
      const different = shared.filter((variable) => difference(functions, variable));
      return different.length === 0
        ? ok('are the same everywhere')
        : failed(`differ between functions: ${different.join(', ')}`, `${deployAgain}, of all stacks.`);
    },
  },
];
