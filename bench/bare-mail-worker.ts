/**
 * The baseline of email delivery: finds the email, sends it to the provider, stores the result. Same queue service,
 * same batches.
 */
import { SQSClient } from '@aws-sdk/client-sqs';
import { MongoClient, ObjectId } from 'mongodb';
import { jobs } from '../functions/jobs/jobs.ts';
import { pollQueue } from '../infra/local/queues.ts';

const { MONGODB_URI = '', BENCH_DATABASE = '', BENCH_QUEUE = '', MAIL_PROVIDER_URL = '' } = process.env;
const client = new MongoClient(MONGODB_URI, { writeConcern: { w: 'majority', journal: true } });
const mails = client.db(BENCH_DATABASE).collection('bare-mails');

const deliver = async (_id: ObjectId): Promise<void> => {
  const mail = await mails.findOne({ _id });
  const response = await fetch(`${MAIL_PROVIDER_URL}/emails`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': String(_id) },
    body: JSON.stringify({ to: mail?.to, subject: mail?.subject, text: mail?.text }),
  });
  const { id } = (await response.json()) as { readonly id: string };
  await mails.updateOne({ _id }, { $set: { status: 'sent', providerEmailId: id } });
};

pollQueue({
  sqs: new SQSClient({}),
  queueUrl: BENCH_QUEUE,
  batchSize: jobs['deliver-mail'].starts.batchSize,
  deliver: async ({ Records }) => {
    for (const { body } of Records) await deliver(new ObjectId(body));
    return { batchItemFailures: [] };
  },
  onFailure: (error) => console.error(error),
});
process.on('disconnect', () => process.exit(0));
