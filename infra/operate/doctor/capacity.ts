import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { type Choice, type DeploymentSettings, settingsOf } from '../../settings/settings.ts';
import { connectionsPerInstance, deploymentConcurrency } from '../../stacks/concurrency.ts';
import { withClient } from './aws-clients.ts';
import { type Check, failed, ok, type Target, warning } from './check.ts';

/** The settings that a deployment was made with; one of its functions has them in its environment. */
export const deployedSettings = ({ environment }: Target): DeploymentSettings =>
  settingsOf(JSON.parse(environment.DEPLOYED_SETTINGS ?? '{}') as Choice);

/** The account's quota of concurrent function runs. */
export const quotaOf = async (aws: Target['aws']): Promise<number> => {
  const { AccountLimit } = await withClient(new LambdaClient(aws), (client) =>
    client.send(new GetAccountSettingsCommand({})),
  );
  const quota = AccountLimit?.ConcurrentExecutions;
  if (quota === undefined) throw new Error('Lambda returned no quota');
  return quota;
};

/** Compares the account's quota with the setting `accountConcurrency`. */
export const concurrencyCheck: Check = {
  name: 'Lambda concurrency',
  deployedOnly: true,
  run: async (target) => {
    const { accountConcurrency } = deployedSettings(target);
    const quota = await quotaOf(target.aws);
    const difference = `the account allows ${quota} concurrent runs, but accountConcurrency is ${accountConcurrency}`;
    if (quota < accountConcurrency) {
      return failed(
        difference,
        `Ask AWS to raise the quota L-B99A9384. Until then, deploy with -c accountConcurrency=${quota}.`,
      );
    }
    if (quota === accountConcurrency) return ok(`the account allows ${quota} concurrent runs`);
    return warning(
      difference,
      `Deploy with -c accountConcurrency=${quota}; the limit on MongoDB connections is computed from it.`,
    );
  },
};

/** Checks that many requests at the same time cannot open more connections than the cluster allows. */
export const connectionsCheck: Check = {
  name: 'MongoDB connections',
  deployedOnly: true,
  run: async (target) => {
    const settings = deployedSettings(target);
    const { accountConcurrency, mongoConnections } = settings;
    if (mongoConnections === 0) {
      return warning(
        `unlimited: ${accountConcurrency} concurrent functions may open ${accountConcurrency * connectionsPerInstance}`,
        'Deploy with -c mongoConnections=<what the cluster allows>; an M10 allows 1500.',
      );
    }
    const { most } = deploymentConcurrency(settings);
    return ok(`${most} concurrent functions open at most ${most * connectionsPerInstance} of ${mongoConnections}`);
  },
};
