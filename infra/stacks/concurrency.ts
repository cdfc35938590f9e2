import { type Job, jobs, queueStartOf } from '../../functions/jobs/jobs.ts';
import { DeployProblem } from '../settings/deploy-problem.ts';
import type { DeploymentSettings } from '../settings/settings.ts';

/** Maximum connections of one function instance to MongoDB, for parallel operations and for monitoring. */
export const connectionsPerInstance = 3;

/**
 * Share of a cluster's connections for functions. The rest is for people, backups and instances that have just ended.
 */
const shareOfFunctions = 0.8;

/** Lambda requires that reservations leave the other functions at least this much. */
const minUnreserved = 100;

/**
 * Maximum concurrent runs of a public function URL, so that a flood of requests leaves concurrency for other functions.
 */
const ownUrl = 20;

/** The mail webhook, and the function that creates image variants or, without CloudFront, serves files. */
const usualWithUrl = 2;

const runsOfQueues = Object.values<Job>(jobs).flatMap((job) => queueStartOf(job)?.concurrency ?? []);

/** SQS's minimum. */
const leastFromQueue = 2;

/** A fifth of a small account per queue, so that three queues leave concurrency for requests. */
const shareOfQueue = (accountConcurrency: number, runs: number): number =>
  Math.min(runs, Math.max(leastFromQueue, Math.floor(accountConcurrency / 5)));

/** The number of function instances that a cluster with this many connections supports. */
export const instancesFor = (mongoConnections: number): number =>
  Math.floor((mongoConnections * shareOfFunctions) / connectionsPerInstance);

/** Shares of the account's concurrency; `undefined` if nothing is reserved. */
export interface Concurrency {
  /** For each function with a URL. */
  readonly ownUrl: number | undefined;
  /** For a function that a queue starts, with at most `runs` instances. */
  readonly forQueue: (runs: number) => number | undefined;
  /** Maximum concurrent runs that a queue starts, if `runs` are allowed in a larger account. */
  readonly fromQueue: (runs: number) => number;
  /** Removed from the account's pool, so that the rest cannot open more connections than the cluster allows. */
  readonly withheld: number;
  /** Maximum concurrent instances of all functions. */
  readonly most: number;
}

/**
 * Divides the account's concurrency. Reserves some for the webhook and the queues. If the cluster's connections are
 * known, withholds enough that all functions together cannot exceed them. Reserves nothing if the account's quota is
 * too small. Throws if the cluster allows too few connections for any limit that Lambda accepts.
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

/**
 * The shares of a deployment. With CloudFront added later, both make-size and serve-file have addresses of their own.
 */
export const deploymentConcurrency = ({
  accountConcurrency,
  mongoConnections,
  cloudFront,
}: Pick<DeploymentSettings, 'accountConcurrency' | 'mongoConnections' | 'cloudFront'>): Concurrency =>
  concurrencyOf(accountConcurrency, mongoConnections, runsOfQueues, cloudFront === 'added' ? 3 : usualWithUrl);
