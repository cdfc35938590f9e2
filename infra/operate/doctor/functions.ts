import { type FunctionConfiguration, LambdaClient, paginateListFunctions } from '@aws-sdk/client-lambda';
import { deployedJobs } from '../../../functions/jobs/jobs.ts';
import { routes } from '../../../functions/routes.ts';
import type { DeploymentSettings } from '../../settings/settings.ts';
import { withClient } from './aws-clients.ts';
import { deployedSettings } from './capacity.ts';
import { type Check, failed, ok, type Target } from './check.ts';

/** The functions of a deployment, whose names begin with the deployment's name. */
export const functionsOf = (deployment: string, aws: Target['aws']): Promise<readonly FunctionConfiguration[]> =>
  withClient(new LambdaClient(aws), async (client) => {
    const found: FunctionConfiguration[] = [];
    for await (const { Functions = [] } of paginateListFunctions({ client }, {})) {
      found.push(...Functions.filter(({ FunctionName = '' }) => FunctionName.startsWith(`${deployment}-`)));
    }
    return found;
  });

/** Every variable that any function has. If the values differ, the most frequent one wins. */
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

/** Functions are recognized by their descriptions, because CloudFormation generates their names. */
const expectedIn = ({ cloudFront }: DeploymentSettings): readonly string[] => [
  ...Object.values(routes).flatMap((table) => Object.values(table).map(({ summary }) => summary)),
  ...deployedJobs(cloudFront).map(([, { summary }]) => summary),
];

/** The items of `all` that are not in `found`. Duplicates count separately. */
const missingFrom = (found: readonly string[], all: readonly string[]): readonly string[] => {
  const missing = [...all];
  for (const item of found) {
    const index = missing.indexOf(item);
    if (index >= 0) missing.splice(index, 1);
  }
  return missing;
};

const few = (names: readonly string[]): string =>
  names.length <= 3 ? names.join('; ') : `${names.slice(0, 3).join('; ')} and ${names.length - 3} more`;

const deployAgain = 'Deploy again: npm run deploy';

const differs = (functions: readonly FunctionConfiguration[], variable: string): boolean =>
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
      const found = functions.map(({ Description = '' }) => Description);
      const missing = missingFrom(found, expectedIn(deployedSettings(target)));
      if (missing.length > 0) return failed(`${missing.length} are missing: ${few(missing)}`, deployAgain);
      const broken = functions.filter(
        ({ State, LastUpdateStatus }) => State === 'Failed' || LastUpdateStatus === 'Failed',
      );
      const names = broken.map(({ FunctionName = '' }) => FunctionName);
      if (names.length > 0) return failed(`${names.length} could not be created: ${few(names)}`, deployAgain);
      return ok(`all ${functions.length} exist`);
    },
  },
  {
    name: 'function settings',
    deployedOnly: true,
    run: async ({ functions }) => {
      const different = shared.filter((variable) => differs(functions, variable));
      return different.length === 0
        ? ok('all functions have the same')
        : failed(`functions have different values of ${different.join(', ')}`, deployAgain);
    },
  },
];
