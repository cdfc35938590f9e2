import {
  ChangeMessageVisibilityCommand,
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { awsRegion } from '../core/config.ts';
import { publishCommands } from './mongo-commands.ts';
import { serviceClient, shortTries } from './service-client.ts';

const queues = serviceClient(() =>
  publishCommands(
    new SQSClient({
      region: awsRegion(),
      maxAttempts: shortTries.maxTries,
      requestHandler: {
        connectionTimeout: shortTries.connectMs,
        requestTimeout: shortTries.answerMs,
        throwOnRequestTimeout: true,
      },
      cacheMiddleware: true,
      // TLS protects the messages; the SDK computes their digests in JavaScript.
      md5: false,
      useQueueUrlAsEndpoint: false,
    }),
    'sqs',
  ),
);

export const closeSqs = queues.close;

/** Maximum number of messages in one `sendMessages`. */
export const queueBatch = 10;

/** Puts a message on a queue; 503 `SERVICE_UNAVAILABLE` if the queue did not accept it. */
export const sendMessage = async (QueueUrl: string, MessageBody: string): Promise<void> => {
  await queues.on((sqs) => sqs.send(new SendMessageCommand({ QueueUrl, MessageBody })));
};

/** Puts a message on a queue that becomes visible after a delay. Waits a second at most. */
export const sendDelayed = async (QueueUrl: string, MessageBody: string, DelaySeconds: number): Promise<void> => {
  await queues.on((sqs) => sqs.send(new SendMessageCommand({ QueueUrl, MessageBody, DelaySeconds })), 1000);
};

/** Puts up to ten messages on a queue in one call; returns how many it took. */
export const sendMessages = async (QueueUrl: string, bodies: readonly string[]): Promise<number> => {
  const Entries = bodies.map((MessageBody, index) => ({ Id: String(index), MessageBody }));
  const { Failed = [] } = await queues.on((sqs) => sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries })));
  return bodies.length - Failed.length;
};

/** Makes a message visible again after this many seconds, instead of when its visibility timeout ends. */
export const delayMessage = async (QueueUrl: string, ReceiptHandle: string, seconds: number): Promise<void> => {
  const command = new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: seconds });
  await queues.on((sqs) => sqs.send(command));
};

/** Sends a queue the cheapest request that shows whether it responds. */
export const askQueue = (QueueUrl: string): Promise<unknown> =>
  queues.on((sqs) => sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] })));
