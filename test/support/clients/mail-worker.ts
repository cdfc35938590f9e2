import { SQSClient } from '@aws-sdk/client-sqs';
import { handler } from '../../../functions/jobs/deliver-mail.ts';
import { jobs } from '../../../functions/jobs/jobs.ts';
import { localAccount } from '../../../infra/local/keys.ts';
import { pollQueue } from '../../../infra/local/queues.ts';

// Delivers the emails of the queue `MAIL_QUEUE_URL`, in a process that can be killed during a batch. Prints "up". Ends
// with its standard input.
const queueUrl = process.env.MAIL_QUEUE_URL ?? '';
const sqs = new SQSClient({ endpoint: new URL(queueUrl).origin, ...localAccount });

pollQueue({
  sqs,
  queueUrl,
  batchSize: jobs['deliver-mail'].starts.batchSize,
  deliver: handler,
  onFailure: (error) => process.stderr.write(`${String(error)}\n`),
});
process.stdin.on('end', () => process.exit(0)).resume();
process.stdout.write('up\n');
