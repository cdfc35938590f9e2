import { SQSClient } from '@aws-sdk/client-sqs';
import type { SQSBatchResponse } from 'aws-lambda';
import { type Job, jobs, type QueueStart, queueStartOf } from '../../functions/jobs/jobs.ts';
import { requeueMail } from '../../shared/mail/queue.ts';
import { requeueWebhooks } from '../../shared/webhooks/worker.ts';
import { functionName } from '../build/function-files.ts';
import { localAccount } from './aws-account.ts';
import type { Invoke } from './gateway.ts';
import { pollQueue } from './poll-queue.ts';
import type { Queues } from './queues.ts';

interface Consumer extends QueueStart {
  readonly name: string;
}

/** The functions that messages start. */
const consumers: readonly Consumer[] = Object.entries<Job>(jobs).flatMap(([name, job]) => {
  const start = queueStartOf(job);
  return start ? [{ ...start, name: functionName('jobs', name) }] : [];
});

/**
 * Puts every mail that waits to be sent on its queue, which has just begun empty, and webhooks likewise, and hands the
 * messages of every queue to their function, in as many runs at once as deployed; returns how to stop.
 */
export const startQueueFunctions = async (
  { endpoint, urls }: Queues,
  invoke: Invoke,
  onFailure: (name: string, error: unknown) => void,
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
