import { mailRuns } from '../../shared/mail/queue.ts';
import { workMinutes } from '../../shared/persistence/work-queue.ts';

/** The queues between functions: each has one function that takes its messages. */
export type QueueName = 'mail' | 'work' | 'webhooks';

/** Messages of a queue start it, up to `batchSize` at once, in `concurrency` runs at the same time. */
export interface QueueStart {
  readonly queue: QueueName;
  readonly batchSize: number;
  readonly concurrency: number;
  /** The longest that a run may take. */
  readonly minutes: number;
}

/** A function that no request starts. */
export interface Job {
  readonly summary: string;
  /**
   * What starts it: a deployment, before anything of it is served, another function, the origin of files, the clock, or
   * messages of a queue.
   */
  readonly starts:
    | 'on deployment'
    | 'invoked'
    | 'by the origin of files'
    | { readonly everyMinutes: number }
    | QueueStart;
}

/** The messages that start a job, if any do. */
export const queueStartOf = ({ starts }: Pick<Job, 'starts'>): QueueStart | undefined =>
  typeof starts === 'object' && 'queue' in starts ? starts : undefined;

/** After how many minutes the clock starts a job again, if it does. */
export const minutesOf = ({ starts }: Job): number | undefined =>
  typeof starts === 'object' && 'everyMinutes' in starts ? starts.everyMinutes : undefined;

const defineJobs = <const T extends Readonly<Record<string, Job>>>(jobs: T): T => jobs;

/** Name → job. The name is that of the handler's file in this folder. */
export const jobs = defineJobs({
  'prepare-control': {
    summary: 'Make the indexes of the control database',
    starts: 'on deployment',
  },
  'rotate-link-keys': {
    summary: 'Make the key that signs links to files, and another every 30 days',
    starts: { everyMinutes: 5 },
  },
  'remove-projects': {
    summary: 'Remove what deleted projects own, carrying on where a run was cut short',
    starts: { everyMinutes: 5 },
  },
  'remove-developers': {
    summary: 'Remove what deleted developer accounts own, carrying on where that was cut short',
    starts: { everyMinutes: 5 },
  },
  'sweep-uploads': {
    summary: 'End uploads that nobody confirmed, and remove what is left of them and of deleted files',
    starts: { everyMinutes: 60 },
  },
  'deliver-mail': {
    summary: 'Send the mails that wait on the queue',
    starts: { queue: 'mail', batchSize: 5, concurrency: mailRuns, minutes: 1 },
  },
  'purge-trash': {
    summary: 'Queue the projects whose trash is due to be looked through, each once a day',
    starts: { everyMinutes: 60 },
  },
  'run-task': {
    summary: 'Do the tasks of the work queue',
    starts: { queue: 'work', batchSize: 1, concurrency: 5, minutes: workMinutes },
  },
  'verify-database-a': {
    summary: 'Verify a database of a project’s own, from the first address',
    starts: 'invoked',
  },
  'verify-database-b': {
    summary: 'Verify a database of a project’s own, from the second address',
    starts: 'invoked',
  },
  'make-size': {
    summary: 'Make a picture in the size that is asked for',
    starts: 'by the origin of files',
  },
  'authorize-channel': {
    summary: 'Let tickets of live updates hear the channels that they name',
    starts: 'invoked',
  },
  'maintain-transfers': {
    summary: 'Put exports and imports back on the queue that it has lost, and remove old ones with their files',
    starts: { everyMinutes: 5 },
  },
  'deliver-webhooks': {
    summary: 'Deliver what webhooks are to be told of',
    starts: { queue: 'webhooks', batchSize: 1, concurrency: 10, minutes: 1 },
  },
  'requeue-webhooks': {
    summary: 'Have webhooks looked at whose messages the queue has lost, and each every few minutes',
    starts: { everyMinutes: 1 },
  },
  'requeue-mail': {
    summary: 'Put mails back on the queue that it has lost',
    starts: { everyMinutes: 5 },
  },
});
