import { type Job, jobs, queueStartOf } from '../../functions/jobs/jobs.ts';
import { DeployProblem } from '../settings/deploy-problem.ts';
import type { DeploymentSettings } from '../settings/settings.ts';

/** Most connections that one function instance opens to MongoDB: for parallel operations, and for monitoring. */
export const connectionsPerInstance = 3;

/**
 * Share of a cluster's connections for functions; the rest is for people, backups and instances that have just ended.
 */
const shareOfFunctions = 0.8;

/** Lambda refuses reservations that would leave the other functions of an account less than this. */
const minUnreserved = 100;

/**
 * The most runs at once of a function whose URL anybody may call, or the origin of files for anybody, so that a flood
 * there leaves the others their share.
 */
const ownUrl = 20;

/** The webhook of the mail provider, and what makes sizes of pictures or, without CloudFront, serves files. */
const usualWithUrl = 2;

const runsOfQueues = Object.values<Job>(jobs).flatMap((job) => queueStartOf(job)?.concurrency ?? []);

/** SQS starts no fewer at once. */
const leastFromQueue = 2;

/** A fifth of a small account a queue, so that three of them leave some of it to requests. */
const shareOfQueue = (accountConcurrency: number, runs: number): number =>
  Math.min(runs, Math.max(leastFromQueue, Math.floor(accountConcurrency / 5)));

/** How many function instances a cluster with this many connections supports. */
export const instancesFor = (mongoConnections: number): number =>
  Math.floor((mongoConnections * shareOfFunctions) / connectionsPerInstance);

/** How the account's concurrency is divided. `undefined`: nothing is reserved. */
export interface Concurrency {
  /** Of each function with a URL of its own. */
  readonly ownUrl: number | undefined;
  /** Of a function that a queue starts, which runs in `runs` instances at most. */
  readonly forQueue: (runs: number) => number | undefined;
  /** The most runs at once that a queue starts of a function which would have `runs` of them in a larger account. */
  readonly fromQueue: (runs: number) => number;
  /** Removed from the account's pool, so that the rest opens no more connections than the cluster allows. */
  readonly withheld: number;
  /** Instances that can be at work at once. */
  readonly most: number;
}

/**
 * Divides the account's concurrency: some is reserved for the webhook and the queues and, if the cluster's connections
 * are known, enough is withheld that all functions together cannot exhaust them. Nothing is reserved in an account
 * whose quota is too small. Throws if the cluster allows too few connections for any limit that Lambda accepts.
 */
export const concurrencyOf = (
  accountConcurrency: number,
  mongoConnections: number,
  runs: readonly number[] = runsOfQueues,
  withUrl = usualWithUrl,
): Concurrency => {
  const kept = withUrl * ownUrl + runs.reduce((sum, count) => sum + count, 0);
  if (accountConcurrency < kept + minUnreserved) {
    const fromQueue = (count: number): number => shareOfQueue(accountConcurrency, count);
    return { ownUrl: undefined, forQueue: () => undefined, fromQueue, withheld: 0, most: accountConcurrency };
  }
  const bound = mongoConnections === 0 ? accountConcurrency : instancesFor(mongoConnections);
  if (bound < kept + minUnreserved) {
    const least = Math.ceil(((kept + minUnreserved) * connectionsPerInstance) / shareOfFunctions);
    throw new DeployProblem(`Deployment setting mongoConnections must be 0 (unbounded) or at least ${least}`);
  }
  const most = Math.min(bound, accountConcurrency);
  return { ownUrl, forQueue: (count) => count, fromQueue: (count) => count, withheld: accountConcurrency - most, most };
};

/** How a deployment divides it; once CloudFront is added, both make-size and serve-file have an address of their own. */
export const deploymentConcurrency = ({
  accountConcurrency,
  mongoConnections,
  cloudFront,
}: Pick<DeploymentSettings, 'accountConcurrency' | 'mongoConnections' | 'cloudFront'>): Concurrency =>
  concurrencyOf(accountConcurrency, mongoConnections, runsOfQueues, cloudFront === 'added' ? 3 : usualWithUrl);
