import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { asking } from './asking.ts';
import { type Check, failed, ok, type Target, warning } from './check.ts';
import { deployedSettings } from './deployed-settings.ts';

/** How many functions may run at once in an account. */
export const quotaOf = async (aws: Target['aws']): Promise<number> => {
  const { AccountLimit } = await asking(new LambdaClient(aws), (client) =>
    client.send(new GetAccountSettingsCommand({})),
  );
  const quota = AccountLimit?.ConcurrentExecutions;
  if (quota === undefined) throw new Error('Lambda named no quota');
  return quota;
};

/** What the deployment was told of its account, and what the account says itself. */
export const concurrencyCheck: Check = {
  name: 'concurrency of the account',
  deployedOnly: true,
  run: async (target) => {
    const { accountConcurrency } = deployedSettings(target);
    const quota = await quotaOf(target.aws);
    if (quota < accountConcurrency) {
      return failed(
        `only ${quota} functions may run at once, and accountConcurrency says ${accountConcurrency}`,
        `Have the quota L-B99A9384 raised, and until then deploy with -c accountConcurrency=${quota}.`,
      );
    }
    if (quota === accountConcurrency) return ok(`${quota} functions may run at once`);
    return warning(
      `${quota} functions may run at once, and accountConcurrency says ${accountConcurrency}`,
      `Deploy with -c accountConcurrency=${quota}; mongoConnections holds back by what it says.`,
    );
  },
};
