import type { SendMessageRequest, SendMessageResult } from '@aws-sdk/client-sqs';
import { JsonClient, serviceClient } from './aws-client.ts';

/** Of the SDK there are only the types: its client would be most of what a function of the data API has to load. */
interface Operations {
  readonly SendMessage: { input: SendMessageRequest; output: SendMessageResult };
}

/** One short try: what sends such a message can do without it. */
const oneTry = { maxTries: 1, connectMs: 500, answerMs: 1000 } as const;

const queues = serviceClient(
  () => new JsonClient<Operations>({ service: 'sqs', version: 'AmazonSQS', json: '1.0', ...oneTry }),
  oneTry.answerMs,
);

/** Puts a message on a queue that is handed out after some seconds. Waits no longer than a second. */
export const sendLater = async (QueueUrl: string, MessageBody: string, DelaySeconds: number): Promise<void> => {
  await queues.on((sqs) => sqs.send('SendMessage', { QueueUrl, MessageBody, DelaySeconds }));
};

export const closeDelayed = queues.close;
