import type { Use } from '../../shared/http/route.ts';

/** Messages of a queue start it, up to `batchSize` at once. */
export interface QueueStart {
  readonly queue: 'mail';
  readonly batchSize: number;
}

/** A function that no request starts. */
export interface Job {
  readonly summary: string;
  /** What starts it: a deployment, before anything of it is served, the clock, or messages of a queue. */
  readonly starts: 'on deployment' | { readonly everyMinutes: number } | QueueStart;
  /** What it may do; a job counts no requests. */
  readonly uses: readonly Use[];
}

const defineJobs = <const T extends Readonly<Record<string, Job>>>(jobs: T): T => jobs;

/** Name → job. The name is that of the handler's file in this folder. */
export const jobs = defineJobs({
  'prepare-control': {
    summary: 'Make the indexes of the control database',
    starts: 'on deployment',
    uses: ['mongodb'],
  },
  'remove-projects': {
    summary: 'Remove what deleted projects own, carrying on where a run was cut short',
    starts: { everyMinutes: 5 },
    uses: ['mongodb', 'purge'],
  },
  'deliver-mail': {
    summary: 'Send the mails that wait on the queue',
    starts: { queue: 'mail', batchSize: 5 },
    uses: ['mongodb', 'encryption', 'mail-delivery', 'mail-provider'],
  },
  'requeue-mail': {
    summary: 'Put mails back on the queue that it has lost',
    starts: { everyMinutes: 5 },
    uses: ['mongodb', 'mail-queue'],
  },
});
