import { SQSClient } from '@aws-sdk/client-sqs';
import type { SQSBatchResponse } from 'aws-lambda';
import { jobs } from '../../functions/jobs/jobs.ts';
import { requeueMail } from '../../shared/mail/requeue-mail.ts';
import { functionName } from '../function-files.ts';
import { localAccount } from './aws-account.ts';
import type { Invoke } from './gateway.ts';
import { pollQueue } from './poll-queue.ts';
import type { Queues } from './queues.ts';

const deliverMail = functionName('jobs', 'deliver-mail');

/**
 * Puts every mail that waits to be sent on the queue, which has just begun empty, and has the queue's messages delivered;
 * answers how to stop.
 */
export const startMail = async (
  { endpoint, mailQueueUrl }: Queues,
  invoke: Invoke,
  onFailure: (name: string, error: unknown) => void,
): Promise<() => Promise<void>> => {
  await requeueMail({ queueIsEmpty: true });
  const sqs = new SQSClient({ endpoint, ...localAccount, maxAttempts: 2 });
  const stop = pollQueue({
    sqs,
    queueUrl: mailQueueUrl,
    batchSize: jobs['deliver-mail'].starts.batchSize,
    deliver: async (event) => (await invoke(deliverMail, event)) as SQSBatchResponse,
    onFailure: (error) => onFailure(deliverMail, error),
  });
  return async () => {
    await stop();
    sqs.destroy();
  };
};
