import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
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

export interface Polling {
  readonly sqs: SQSClient;
  readonly queueUrl: string;
  /** Maximum number of messages for one run of the function. */
  readonly batchSize: number;
  /** Runs the function. */
  readonly deliver: (event: SQSEvent) => Promise<SQSBatchResponse>;
  /** The function or the queue failed. The queue delivers the messages again later. */
  readonly onFailure: (error: unknown) => void;
}

/** The maximum of SQS. */
const waitSeconds = 20;

/** The pause after a failure. */
const pauseMs = 500;

/** Attributes that the type requires; the queue sends all of them. */
const noAttributes = {
  ApproximateReceiveCount: '',
  SentTimestamp: '',
  SenderId: '',
  ApproximateFirstReceiveTimestamp: '',
};

const toRecord = (message: Message): SQSRecord => ({
  messageId: message.MessageId ?? '',
  receiptHandle: message.ReceiptHandle ?? '',
  body: message.Body ?? '',
  attributes: { ...noAttributes, ...message.Attributes },
  messageAttributes: {},
  md5OfBody: message.MD5OfBody ?? '',
  eventSource: 'aws:sqs',
  eventSourceARN: 'arn:aws:sqs:local:000000000000:queue',
  awsRegion: 'local',
});

/** Runs the function on a batch and deletes the messages, except those that it reports as failed. */
const deliverBatch = async ({ sqs, queueUrl, deliver }: Polling, messages: readonly Message[]): Promise<void> => {
  const { batchItemFailures } = await deliver({ Records: messages.map(toRecord) });
  const kept = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  const Entries = messages
    .filter(({ MessageId }) => !kept.has(MessageId ?? ''))
    .map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
  if (Entries.length > 0) await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
};

/**
 * Passes the messages of a queue to a function, one batch at a time, like Lambda's event source mapping with partial
 * batch failures. The returned function stops that after the running batch.
 */
export const pollQueue = (polling: Polling): (() => Promise<void>) => {
  const { sqs, queueUrl, batchSize, onFailure } = polling;
  const stopping = new AbortController();
  const receive = async (): Promise<readonly Message[]> => {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: queueUrl,
        MaxNumberOfMessages: batchSize,
        WaitTimeSeconds: waitSeconds,
        MessageSystemAttributeNames: ['All'],
      }),
      { abortSignal: stopping.signal },
    );
    return Messages;
  };
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        const messages = await receive();
        if (messages.length > 0) await deliverBatch(polling, messages);
      } catch (error) {
        if (stopping.signal.aborted) return;
        onFailure(error);
        await pause(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  };
  const ended = loop();
  return async () => {
    stopping.abort();
    await ended;
  };
};
