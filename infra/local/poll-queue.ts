import { setTimeout as pause } from 'node:timers/promises';
import { DeleteMessageBatchCommand, type Message, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';

export interface Polling {
  readonly sqs: SQSClient;
  readonly queueUrl: string;
  /** The most messages that one run of the function gets. */
  readonly batchSize: number;
  /** Runs the function. */
  readonly deliver: (event: SQSEvent) => Promise<SQSBatchResponse>;
  /** The function failed as a whole: the queue hands its messages out again later. */
  readonly onFailure: (error: unknown) => void;
}

/** How long one call waits for messages, as long as SQS allows. */
const waitSeconds = 20;

/** Until the next call where the queue service did not answer. */
const pauseMs = 500;

/** What every record has; the queue says all of it. */
const unknown = {
  ApproximateReceiveCount: '',
  SentTimestamp: '',
  SenderId: '',
  ApproximateFirstReceiveTimestamp: '',
};

const toRecord = (message: Message): SQSRecord => ({
  messageId: message.MessageId ?? '',
  receiptHandle: message.ReceiptHandle ?? '',
  body: message.Body ?? '',
  attributes: { ...unknown, ...message.Attributes },
  messageAttributes: {},
  md5OfBody: message.MD5OfBody ?? '',
  eventSource: 'aws:sqs',
  eventSourceARN: 'arn:aws:sqs:local:000000000000:queue',
  awsRegion: 'local',
});

/** Runs the function on a batch and deletes the messages that it does not report as failed. */
const hand = async ({ sqs, queueUrl, deliver }: Polling, messages: readonly Message[]): Promise<void> => {
  const { batchItemFailures } = await deliver({ Records: messages.map(toRecord) });
  const kept = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  const Entries = messages
    .filter(({ MessageId }) => !kept.has(MessageId ?? ''))
    .map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
  if (Entries.length > 0) await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
};

/**
 * Hands the messages of a queue to a function in batches, one batch at a time, as an event source mapping with partial
 * batch failures does. Returns how to stop, which lets a running batch finish.
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
        if (messages.length > 0) await hand(polling, messages);
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
