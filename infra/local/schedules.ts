import { type Job, jobs, minutesOf } from '../../functions/jobs/jobs.ts';
import { functionName } from '../build/function-files.ts';
import type { Invoke } from './gateway.ts';

/** Locally nobody wants to wait minutes for a schedule. */
const everyMs = 5000;

type OnFailure = (name: string, error: unknown) => void;

const entries = Object.entries<Job>(jobs);
const nameOf = (job: string): string => functionName('jobs', job);

/** Runs, one after the other, the functions that a deployment runs before anything is served. */
export const runDeploymentJobs = async (invoke: Invoke): Promise<void> => {
  for (const [job, { starts }] of entries) if (starts === 'on deployment') await invoke(nameOf(job), {});
};

/**
 * Runs the scheduled functions every few seconds, none twice at a time; returns how to stop, which waits for running
 * ones.
 */
export const startSchedules = (invoke: Invoke, onFailure: OnFailure): (() => Promise<void>) => {
  const running = new Map<string, Promise<unknown>>();
  const run = (job: string): void => {
    if (running.has(job)) return;
    const done = invoke(nameOf(job), {})
      .catch((error: unknown) => onFailure(nameOf(job), error))
      .finally(() => running.delete(job));
    running.set(job, done);
  };
  const timer = setInterval(() => {
    for (const [name, job] of entries) if (minutesOf(job) !== undefined) run(name);
  }, everyMs);
  return async () => {
    clearInterval(timer);
    await Promise.all(running.values());
  };
};
