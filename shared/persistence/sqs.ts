import type * as sdk from '@aws-sdk/client-sqs';
import { JsonClient, serviceClient, shortTries } from './aws-client.ts';

/** What queues are asked; of the SDK there are only the types. */
interface Operations {
  readonly ChangeMessageVisibility: { input: sdk.ChangeMessageVisibilityRequest; output: object };
  readonly GetQueueAttributes: { input: sdk.GetQueueAttributesRequest; output: sdk.GetQueueAttributesResult };
  readonly SendMessage: { input: sdk.SendMessageRequest; output: sdk.SendMessageResult };
  readonly SendMessageBatch: { input: sdk.SendMessageBatchRequest; output: Partial<sdk.SendMessageBatchResult> };
}

const service = { service: 'sqs', version: 'AmazonSQS', json: '1.0' } as const;

/** One short try: what sends such a message can do without it. */
const oneTry = { maxTries: 1, connectMs: 500, answerMs: 1000 } as const;

const queues = serviceClient(() => new JsonClient<Operations>({ ...service, ...shortTries }));
const hurried = serviceClient(() => new JsonClient<Operations>({ ...service, ...oneTry }), oneTry.answerMs);

export const closeSqs = (): void => {
  queues.close();
  hurried.close();
};

/** The most that one `sendMessages` takes. */
export const queueBatch = 10;

/** Puts a message on a queue; 503 `SERVICE_UNAVAILABLE` if the queue did not accept it. */
export const sendMessage = async (QueueUrl: string, MessageBody: string): Promise<void> => {
  await queues.on((sqs) => sqs.send('SendMessage', { QueueUrl, MessageBody }));
};

/** The same for a message that is handed out after some seconds, and that is waited for no longer than a second. */
export const sendLater = async (QueueUrl: string, MessageBody: string, DelaySeconds: number): Promise<void> => {
  await hurried.on((sqs) => sqs.send('SendMessage', { QueueUrl, MessageBody, DelaySeconds }));
};

/** Puts up to ten messages on a queue in one call; returns how many it took. */
export const sendMessages = async (QueueUrl: string, bodies: readonly string[]): Promise<number> => {
  const Entries = bodies.map((MessageBody, index) => ({ Id: String(index), MessageBody }));
  const { Failed = [] } = await queues.on((sqs) => sqs.send('SendMessageBatch', { QueueUrl, Entries }));
  return bodies.length - Failed.length;
};

/** Makes a message visible again after this many seconds, instead of when its visibility timeout ends. */
export const delayMessage = async (QueueUrl: string, ReceiptHandle: string, seconds: number): Promise<void> => {
  const change = { QueueUrl, ReceiptHandle, VisibilityTimeout: seconds };
  await queues.on((sqs) => sqs.send('ChangeMessageVisibility', change));
};

/** Asks a queue the least that shows that it answers. */
export const askQueue = (QueueUrl: string): Promise<unknown> =>
  queues.on((sqs) => sqs.send('GetQueueAttributes', { QueueUrl, AttributeNames: ['QueueArn'] }));
