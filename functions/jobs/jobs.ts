import { mailRuns } from '../../shared/mail/queue.ts';
import { workMinutes } from '../../shared/persistence/work-queue.ts';

/** Each queue has one consumer function. */
export type QueueName = 'mail' | 'work' | 'webhooks';

/** Batches of up to `batchSize` messages in `concurrency` concurrent runs. */
export interface QueueStart {
  readonly queue: QueueName;
  readonly batchSize: number;
  readonly concurrency: number;
  /** Timeout. */
  readonly minutes: number;
}

/** A function that is not a route. */
export interface Job {
  readonly summary: string;
  /** `by browsers`: only in deployments without CloudFront. */
  readonly starts:
    | 'on deployment'
    | 'invoked'
    | 'by the origin of files'
    | 'by browsers'
    | { readonly everyMinutes: number }
    | QueueStart;
}

export const queueStartOf = ({ starts }: Pick<Job, 'starts'>): QueueStart | undefined =>
  typeof starts === 'object' && 'queue' in starts ? starts : undefined;

/** These are deployed with what calls them. */
export const servesRequests = (starts: Job['starts']): starts is 'by the origin of files' | 'by browsers' =>
  starts === 'by the origin of files' || starts === 'by browsers';

export const minutesOf = ({ starts }: Job): number | undefined =>
  typeof starts === 'object' && 'everyMinutes' in starts ? starts.everyMinutes : undefined;

const defineJobs = <const T extends Readonly<Record<string, Job>>>(jobs: T): T => jobs;

/** The name is also the handler's file name. */
export const jobs = defineJobs({
  'prepare-control': {
    summary: 'Create the indexes of the control database',
    starts: 'on deployment',
  },
  'rotate-link-keys': {
    summary: 'Create the key that signs links to files, and rotate it every 30 days',
    starts: { everyMinutes: 5 },
  },
  'remove-projects': {
    summary: 'Remove the data of deleted projects',
    starts: { everyMinutes: 5 },
  },
  'remove-developers': {
    summary: 'Remove the data of deleted developer accounts',
    starts: { everyMinutes: 5 },
  },
  'sweep-uploads': {
    summary: 'Remove unconfirmed uploads and the remains of deleted files',
    starts: { everyMinutes: 5 },
  },
  'deliver-mail': {
    summary: 'Send queued emails',
    starts: { queue: 'mail', batchSize: 5, concurrency: mailRuns, minutes: 1 },
  },
  'purge-trash': {
    summary: 'Queue the trash clean-up of each project once a day',
    starts: { everyMinutes: 60 },
  },
  'run-task': {
    summary: 'Run background tasks from the work queue',
    starts: { queue: 'work', batchSize: 1, concurrency: 5, minutes: workMinutes },
  },
  'verify-database-a': {
    summary: "Verify a customer's database from the first address",
    starts: 'invoked',
  },
  'verify-database-b': {
    summary: "Verify a customer's database from the second address",
    starts: 'invoked',
  },
  'make-size': {
    summary: 'Create a requested image size',
    starts: 'by the origin of files',
  },
  'serve-file': {
    summary: 'Redirect readers of files to the bucket, without CloudFront',
    starts: 'by browsers',
  },
  'serve-page': {
    summary: 'Serve the pages of the console, without CloudFront',
    starts: 'by browsers',
  },
  'authorize-channel': {
    summary: 'Authorize connection tokens of live updates',
    starts: 'invoked',
  },
  'maintain-transfers': {
    summary: 'Requeue lost exports and imports, and remove old ones with their files',
    starts: { everyMinutes: 5 },
  },
  'deliver-webhooks': {
    summary: 'Deliver webhook events',
    starts: { queue: 'webhooks', batchSize: 1, concurrency: 10, minutes: 1 },
  },
  'requeue-webhooks': {
    summary: 'Wake webhooks whose queue messages were lost',
    starts: { everyMinutes: 1 },
  },
  'run-effects': {
    summary: 'Run effects whose time has come, and queue lost emails of effects',
    starts: { everyMinutes: 1 },
  },
  'requeue-mail': {
    summary: 'Requeue lost emails',
    starts: { everyMinutes: 5 },
  },
});

export const deployedJobs = (cloudFront: 'on' | 'off' | 'added'): readonly (readonly [name: string, job: Job])[] =>
  Object.entries<Job>(jobs).filter(
    ([, { starts }]) =>
      !(starts === 'by the origin of files' && cloudFront === 'off') &&
      !(starts === 'by browsers' && cloudFront === 'on'),
  );
