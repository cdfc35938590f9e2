import { randomBytes } from 'node:crypto';
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { DeleteMessageCommand, type Message, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { inject, vi } from 'vitest';
import { handler as deliverMail } from '../../../../functions/jobs/deliver-mail.ts';
import { handler as deliverWebhooks } from '../../../../functions/jobs/deliver-webhooks.ts';
import { handler as runTask } from '../../../../functions/jobs/run-task.ts';
import { localAccount } from '../../../../infra/local/aws-account.ts';
import { startInvocations } from '../../../../infra/local/invocations.ts';
import { permitAddresses } from '../../../../infra/local/permit-addresses.ts';
import { createQueue } from '../../../../infra/local/queues.ts';
import { removeAbandonedCollections } from '../../../../shared/collections/delete-collection.ts';
import { forgetProjects } from '../../../../shared/collections/find-project-by-key.ts';
import { ensureControlIndexes } from '../../../../shared/control-indexes.ts';
import { clock } from '../../../../shared/core/clock.ts';
import { removeDeletedDevelopers } from '../../../../shared/deletion/developers.ts';
import { removeDeletedProjects } from '../../../../shared/deletion/projects.ts';
import { queuePurges } from '../../../../shared/documents/store/purge.ts';
import { sweepUploads } from '../../../../shared/files/cleanup.ts';
import { requeueMail } from '../../../../shared/mail/queue.ts';
import { closeDynamo } from '../../../../shared/persistence/dynamo.ts';
import { closeLambda } from '../../../../shared/persistence/lambda.ts';
import { closeMongo } from '../../../../shared/persistence/mongo.ts';
import { closeS3 } from '../../../../shared/persistence/s3.ts';
import { closeSqs } from '../../../../shared/persistence/sqs.ts';
import { maintainTransfers } from '../../../../shared/transfers/run-transfer.ts';
import { targetOf } from '../../faults/faulty-service.ts';
import { StepFaults } from '../../faults/step-faults.ts';
import { type Deployment, openDeployment } from '../deployment.ts';
import { startOwnDatabase } from '../own-database.ts';
import { useOwnTable } from '../own-table.ts';

/** Databases, queues and files of a test's own, each behind a way on which it can fail. */
export interface World {
  readonly faults: StepFaults;
  /** The same, past all faults. */
  readonly at: Deployment;
  /** A URI of a customer's database. */
  readonly ownUri: (database: string) => string;
  /** How many mails the provider has taken for an address. */
  readonly mailsTo: (address: string) => Promise<number>;
  /** Has the functions of the queues take every message that can be had now. */
  readonly drain: () => Promise<void>;
  /** Has every job run that is due within the next day; `later` happens two hours from now. */
  readonly sweep: (later?: () => Promise<unknown>) => Promise<void>;
  /** Ends the connections of the service, so that the next operation begins with new ones. */
  readonly disconnect: () => Promise<void>;
  close(): Promise<void>;
}

type Handler = (event: SQSEvent) => Promise<SQSBatchResponse>;

const hourMs = 3600_000;

const toRecord = ({ MessageId = '', ReceiptHandle = '', Body = '', Attributes }: Message): SQSRecord =>
  ({ messageId: MessageId, receiptHandle: ReceiptHandle, body: Body, attributes: Attributes }) as unknown as SQSRecord;

/** Hands every message of a queue to its function, until there are none. */
const drain = async (sqs: SQSClient, QueueUrl: string, handler: Handler): Promise<void> => {
  for (;;) {
    const request = { QueueUrl, MaxNumberOfMessages: 10, MessageSystemAttributeNames: ['All' as const] };
    const { Messages = [] } = await sqs.send(new ReceiveMessageCommand(request));
    if (Messages.length === 0) return;
    for (const message of Messages) {
      const { batchItemFailures } = await handler({ Records: [toRecord(message)] });
      const { ReceiptHandle } = message;
      if (batchItemFailures.length === 0) await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    }
  }
};

const inHours = async (hours: number, act: () => Promise<unknown>): Promise<void> => {
  const now = vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + hours * hourMs);
  forgetProjects();
  try {
    await act();
  } finally {
    now.mockRestore();
    forgetProjects();
  }
};

/** Has the sweep of uploads look at the hours since now again: it was told of a time that has yet to come. */
const rewindSweep = async (table: DynamoDBClient): Promise<void> => {
  const Item = { pk: { S: 'due#uploads#done' }, sk: { S: 'until' }, until: { N: String(Date.now() - hourMs) } };
  await table.send(new PutItemCommand({ TableName: process.env.TABLE_NAME ?? '', Item }));
};

export const openWorld = async (): Promise<World> => {
  await useOwnTable();
  const { env } = inject('stack');
  const own = await startOwnDatabase();
  const verifiers = await startInvocations(async () => ({ verdict: 'connected' }) as never);
  const faults = new StepFaults();
  const addressOf = async (system: Parameters<StepFaults['open']>[0], address: string): Promise<string> =>
    `http://127.0.0.1:${await faults.open(system, targetOf({ address }))}`;

  const control = `control_${randomBytes(6).toString('hex')}`;
  const at = openDeployment({ ...env, TABLE_NAME: process.env.TABLE_NAME, CONTROL_DATABASE: control });

  const queueEndpoint = env.AWS_ENDPOINT_URL ?? '';
  const sqs = new SQSClient({ ...localAccount, endpoint: queueEndpoint });
  const table = new DynamoDBClient({ ...localAccount, endpoint: env.AWS_ENDPOINT_URL_DYNAMODB ?? '' });
  const queues = await addressOf('sqs', queueEndpoint);
  const name = randomBytes(4).toString('hex');
  const mailQueue = await createQueue(sqs, queues, 'mail', `mail-${name}`);
  const workQueue = await createQueue(sqs, queues, 'work', `work-${name}`);
  const webhookQueue = await createQueue(sqs, queues, 'webhooks', `webhooks-${name}`);
  const mongoPort = await faults.open('mongodb', targetOf({ address: env.MONGODB_URI ?? '' }));
  const ownPort = await faults.open('own database', { port: own.port });
  permitAddresses(`${own.address},127.0.0.1:${ownPort}`);
  Object.assign(process.env, verifiers.environment, {
    CONTROL_DATABASE: control,
    // A read that fails ends the operation, as it does when the second try fails too, but at once.
    MONGODB_URI: `mongodb://127.0.0.1:${mongoPort}/?directConnection=true&retryReads=false`,
    AWS_ENDPOINT_URL_DYNAMODB: await addressOf('dynamodb', env.AWS_ENDPOINT_URL_DYNAMODB ?? ''),
    AWS_ENDPOINT_URL_S3: await addressOf('s3', env.AWS_ENDPOINT_URL_S3 ?? ''),
    AWS_ENDPOINT_URL: queues,
    AWS_ENDPOINT_URL_LAMBDA: await addressOf('lambda', verifiers.environment.AWS_ENDPOINT_URL_LAMBDA ?? ''),
    MAIL_PROVIDER_URL: await addressOf('provider', env.MAIL_PROVIDER_URL ?? ''),
    MAIL_QUEUE_URL: mailQueue,
    WORK_QUEUE_URL: workQueue,
    WEBHOOK_QUEUE_URL: webhookQueue,
    MAIL_RETRY_SECONDS: '0',
  });
  await ensureControlIndexes();

  const disconnect = async (): Promise<void> => {
    closeDynamo();
    closeLambda();
    closeS3();
    closeSqs();
    await closeMongo();
  };
  const past = (queue: string): string => new URL(new URL(queue).pathname, queueEndpoint).href;
  const drainAll = async (): Promise<void> => {
    await drain(sqs, past(mailQueue), deliverMail);
    await drain(sqs, past(workQueue), runTask);
    await drain(sqs, past(webhookQueue), deliverWebhooks);
  };
  return {
    faults,
    at,
    ownUri: (database) => `mongodb://127.0.0.1:${ownPort}/${database}?directConnection=true`,
    mailsTo: async (address) => {
      const response = await fetch(`${env.MAIL_PROVIDER_URL}/emails?to=${encodeURIComponent(address)}`);
      return ((await response.json()) as { readonly data: readonly unknown[] }).data.length;
    },
    drain: drainAll,
    sweep: async (later) => {
      await inHours(2, async () => {
        await later?.();
        await requeueMail();
        await maintainTransfers();
        await queuePurges();
        await drainAll();
      });
      await rewindSweep(table);
      // What they owned is left alone for a moment before it is removed.
      await inHours(25, removeDeletedDevelopers);
      await inHours(26, async () => {
        await removeDeletedProjects();
        await removeAbandonedCollections();
        await sweepUploads();
      });
    },
    disconnect,
    close: async () => {
      await disconnect();
      await faults.close();
      sqs.destroy();
      table.destroy();
      await at.close();
      await verifiers.stop();
      await own.stop();
    },
  };
};
