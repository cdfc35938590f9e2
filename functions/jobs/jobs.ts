import type { Use } from '../../shared/http/route.ts';

/** A function that no request starts. */
export interface Job {
  readonly summary: string;
  /** What starts it: a deployment, before anything of it is served, or the clock. */
  readonly starts: 'on deployment' | { readonly everyMinutes: number };
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
});
