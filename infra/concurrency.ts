import { DeployProblem } from './deploy/deploy-problem.ts';

/** What one function instance opens towards MongoDB at most: for its operations, side by side at times, and to watch the server. */
export const connectionsPerInstance = 3;

/** Share of a cluster's connections that functions may take; the rest is for people, backups and instances that have just ended. */
const shareOfFunctions = 0.8;

/** Lambda refuses reservations that would leave the other functions of an account less than this. */
const leastUnreserved = 100;

/** The most runs at once of a function whose URL anybody may call, so that a flood there leaves the others their share. */
const ownUrl = 20;

/** How many instances a cluster with so many connections bears. */
export const instancesFor = (mongoConnections: number): number =>
  Math.floor((mongoConnections * shareOfFunctions) / connectionsPerInstance);

/** How the account's instances are shared out. `undefined`: nothing is reserved. */
export interface Concurrency {
  /** Of each function with a URL of its own. */
  readonly ownUrl: number | undefined;
  /** Of a function that a queue starts, which runs in `runs` instances at most. */
  readonly ofQueue: (runs: number) => number | undefined;
  /** Taken out of the account's pool, so that what is left opens no more connections than the cluster allows. */
  readonly heldBack: number;
  /** Instances that can be at work at once. */
  readonly most: number;
}

/**
 * Shares an account's concurrent instances out: some are kept for the webhook and the queues, and where the connections of the
 * cluster are known, so many are held back that all functions together cannot exhaust them. Nothing is reserved in an
 * account whose quota is too small for it. Throws where the cluster allows too few connections for any bound that Lambda takes.
 */
export const concurrencyOf = (
  accountConcurrency: number,
  mongoConnections: number,
  runsOfQueues: readonly number[],
): Concurrency => {
  const kept = ownUrl + runsOfQueues.reduce((sum, runs) => sum + runs, 0);
  if (accountConcurrency < kept + leastUnreserved) {
    return { ownUrl: undefined, ofQueue: () => undefined, heldBack: 0, most: accountConcurrency };
  }
  const bound = mongoConnections === 0 ? accountConcurrency : instancesFor(mongoConnections);
  if (bound < kept + leastUnreserved) {
    const least = Math.ceil(((kept + leastUnreserved) * connectionsPerInstance) / shareOfFunctions);
    throw new DeployProblem(`Deployment setting mongoConnections must be 0 (unbounded) or at least ${least}`);
  }
  const most = Math.min(bound, accountConcurrency);
  return { ownUrl, ofQueue: (runs) => runs, heldBack: accountConcurrency - most, most };
};
