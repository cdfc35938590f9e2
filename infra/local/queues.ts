import path from 'node:path';
import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { QueueName } from '../../functions/jobs/jobs.ts';
import { queueLimits } from '../stacks/queue-limits.ts';
import { type LocalServiceOptions, startHelper } from './helper-process.ts';
import { originAt, probePort } from './ports.ts';

interface QueueOptions extends LocalServiceOptions {
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

export interface Queues {
  readonly endpoint: string;
  readonly urls: Readonly<Record<QueueName, string>>;
  stop(): Promise<void>;
}

const host = path.join(import.meta.dirname, 'queue-host.ts');

/** Local functions run for a shorter time, so the messages of a failed run become visible again earlier. */
const localShare = 1 / 6;

const create = async (
  sqs: SQSClient,
  QueueName: string,
  Attributes: Readonly<Record<string, string>> = {},
): Promise<string> => {
  const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes: { ...Attributes } }));
  return QueueUrl;
};

/**
 * Creates a queue and its dead-letter queue `<name>-dead`, with the attempts of a deployment. Returns its URL at
 * `endpoint`, because not every machine can resolve the host name in the queue service's own URL.
 */
export const createQueue = async (
  sqs: SQSClient,
  endpoint: string,
  kind: QueueName,
  name: string = kind,
): Promise<string> => {
  const { tries, visibilitySeconds } = queueLimits[kind];
  const QueueUrl = await create(sqs, `${name}-dead`);
  const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }));
  const redrive = { deadLetterTargetArn: Attributes?.QueueArn, maxReceiveCount: tries };
  const named = await create(sqs, name, {
    VisibilityTimeout: String(Math.ceil(visibilitySeconds * localShare)),
    RedrivePolicy: JSON.stringify(redrive),
  });
  return new URL(new URL(named).pathname, endpoint).href;
};

/** Starts the queue service with its queues. Messages are only kept in memory. */
export const startQueues = async ({ region, credentials, ...options }: QueueOptions): Promise<Queues> => {
  const port = await probePort(0);
  const endpoint = originAt(port);
  const { stop } = await startHelper({ ...options, name: 'The queue service', file: host, args: [`${port}`, region] });
  const sqs = new SQSClient({ endpoint, region, credentials, maxAttempts: 2 });
  try {
    const [mail, work, webhooks] = await Promise.all([
      createQueue(sqs, endpoint, 'mail'),
      createQueue(sqs, endpoint, 'work'),
      createQueue(sqs, endpoint, 'webhooks'),
    ]);
    return { endpoint, urls: { mail, work, webhooks }, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    sqs.destroy();
  }
};
