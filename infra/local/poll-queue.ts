import { setTimeout as pause } from 'node:timers/promises';
import { DeleteMessageBatchCommand, type Message, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';

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
