import { connectionsPerInstance, deploymentConcurrency } from '../../stacks/concurrency.ts';
import { type Check, ok, warning } from './check.ts';
import { deployedSettings } from './deployed-settings.ts';

/** Whether a storm of requests could open more connections than the cluster allows. */
export const connectionsCheck: Check = {
  name: 'connections of MongoDB',
  deployedOnly: true,
  run: async (target) => {
    const settings = deployedSettings(target);
    const { accountConcurrency, mongoConnections } = settings;
    if (mongoConnections === 0) {
      return warning(
        `are unbounded: ${accountConcurrency} functions at once may open ${accountConcurrency * connectionsPerInstance}`,
        'Deploy with -c mongoConnections=<what the cluster allows>: 1500 for an M10.',
      );
    }
    const { most } = deploymentConcurrency(settings);
    return ok(`${most} functions at once open at most ${most * connectionsPerInstance} of ${mongoConnections}`);
  },
};
