/** The API and the jobs of a noisy project, in a process of its own. */
import { SQSClient } from '@aws-sdk/client-sqs';
import { handler as deliverWebhooks } from '../functions/jobs/deliver-webhooks.ts';
import { jobs, type QueueStart } from '../functions/jobs/jobs.ts';
import { handler as runTask } from '../functions/jobs/run-task.ts';
import { type Polling, pollQueue } from '../infra/local/queues.ts';
import './basalt-server.ts';
import './yielding.ts';

const { WORK_QUEUE_URL = '', WEBHOOK_QUEUE_URL = '' } = process.env;

const take = (queueUrl: string, { concurrency, batchSize }: QueueStart, deliver: Polling['deliver']): void => {
  const sqs = new SQSClient({});
  for (let run = 0; run < concurrency; run++) {
    pollQueue({ sqs, queueUrl, batchSize, deliver, onFailure: (error) => console.error(error) });
  }
};

take(WORK_QUEUE_URL, jobs['run-task'].starts, runTask);
take(WEBHOOK_QUEUE_URL, jobs['deliver-webhooks'].starts, deliverWebhooks);
