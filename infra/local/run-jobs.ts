import { SQSClient } from '@aws-sdk/client-sqs';
import type { SQSBatchResponse } from 'aws-lambda';
import { type Job, jobs, minutesOf, queueStartOf } from '../../functions/jobs/jobs.ts';
import { requeueMail } from '../../shared/mail/queue.ts';
import { requeueWebhooks } from '../../shared/webhooks/worker.ts';
import { functionName } from '../build/function-files.ts';
import type { Invoke } from './gateway.ts';
import { localAccount } from './keys.ts';
import { pollQueue, type Queues } from './queues.ts';

type OnFailure = (name: string, error: unknown) => void;

const entries = Object.entries<Job>(jobs);
const nameOf = (job: string): string => functionName('jobs', job);

/** Runs the functions that a deployment runs once, one after the other. */
export const runDeploymentJobs = async (invoke: Invoke): Promise<void> => {
  for (const [job, { starts }] of entries) if (starts === 'on deployment') await invoke(nameOf(job), {});
};

/** Much more often than deployed, so that a developer does not wait for minutes. */
const scheduleMs = 5000;

/** Runs each scheduled function every 5 s, unless it is still running. The returned function stops that. */
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
  }, scheduleMs);
  return async () => {
    clearInterval(timer);
    await Promise.all(running.values());
  };
};

const consumers = entries.flatMap(([name, job]) => {
  const start = queueStartOf(job);
  return start ? [{ ...start, name: nameOf(name) }] : [];
});

/**
 * Passes the messages of every queue to its function, with the concurrency of a deployment. Local queues start empty, so
 * pending emails and webhook deliveries are enqueued first. The returned function stops that.
 */
export const startQueueFunctions = async (
  { endpoint, urls }: Queues,
  invoke: Invoke,
  onFailure: OnFailure,
): Promise<() => Promise<void>> => {
  await requeueMail({ queueIsEmpty: true });
  await requeueWebhooks({ queueIsEmpty: true });
  const sqs = new SQSClient({ endpoint, ...localAccount, maxAttempts: 2 });
  const stops = consumers.flatMap(({ name, queue, batchSize, concurrency }) =>
    Array.from({ length: concurrency }, () =>
      pollQueue({
        sqs,
        queueUrl: urls[queue],
        batchSize,
        deliver: async (event) => (await invoke(name, event)) as SQSBatchResponse,
        onFailure: (error) => onFailure(name, error),
      }),
    ),
  );
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
    sqs.destroy();
  };
};
