import {
  ChangeMessageVisibilityCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { publishCommands } from './commands.ts';
import { serviceClient, shortCalls } from './service-client.ts';

export const { on: onQueues, close: closeSqs } = serviceClient(() => publishCommands(new SQSClient(shortCalls), 'sqs'));

/** The most that one `sendMessages` takes. */
export const queueBatch = 10;

/** Puts a message on a queue; 503 `SERVICE_UNAVAILABLE` if the queue did not accept it. */
export const sendMessage = async (QueueUrl: string, MessageBody: string): Promise<void> => {
  await onQueues((sqs) => sqs.send(new SendMessageCommand({ QueueUrl, MessageBody })));
};

/** Puts up to ten messages on a queue in one call; returns how many it took. */
export const sendMessages = async (QueueUrl: string, bodies: readonly string[]): Promise<number> => {
  const Entries = bodies.map((MessageBody, index) => ({ Id: String(index), MessageBody }));
  const { Failed = [] } = await onQueues((sqs) => sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries })));
  return bodies.length - Failed.length;
};

/** Makes a message visible again after this many seconds, instead of when its visibility timeout ends. */
export const delayMessage = async (QueueUrl: string, ReceiptHandle: string, seconds: number): Promise<void> => {
  const change = { QueueUrl, ReceiptHandle, VisibilityTimeout: seconds };
  await onQueues((sqs) => sqs.send(new ChangeMessageVisibilityCommand(change)));
};
