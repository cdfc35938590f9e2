/** Delivers the emails of `MAIL_QUEUE_URL` with the deployed function, in a process of its own. */
import { SQSClient } from '@aws-sdk/client-sqs';
import { handler } from '../functions/jobs/deliver-mail.ts';
import { jobs } from '../functions/jobs/jobs.ts';
import { pollQueue } from '../infra/local/queues.ts';

pollQueue({
  sqs: new SQSClient({}),
  queueUrl: process.env.MAIL_QUEUE_URL ?? '',
  batchSize: jobs['deliver-mail'].starts.batchSize,
  deliver: handler,
  onFailure: (error) => console.error(error),
});
process.on('disconnect', () => process.exit(0));
